/** The weights of factors as numbers, with those that come from lists as they are in force. */
import { useQueries } from '@tanstack/react-query'
import type { Factor, ListValue } from '../decision/definition-model.ts'
import { type ListContent, listContentQuery } from '../decision/list-entries.ts'

export interface Weights {
  /** By the key of the factor; a weight that cannot be read is missing. */
  readonly byFactor: ReadonlyMap<string, number>
  readonly total: number
}

export function useWeights(factors: readonly Factor[]): Weights {
  const lists = [...new Set(factors.flatMap(({ weight_bps }) => (isFromList(weight_bps) ? [weight_bps.list_key] : [])))]
  const contents = useQueries({ queries: lists.map((list_key) => listContentQuery(list_key)) })
  return toWeights(factors, new Map(lists.map((list_key, place) => [list_key, contents[place]?.data])))
}

const isFromList = (weight: Factor['weight_bps']): weight is ListValue => typeof weight === 'object' && weight !== null

export function toWeights(
  factors: readonly Factor[],
  contents: ReadonlyMap<string, Pick<ListContent, 'entries'> | undefined>,
): Weights {
  const find = ({ list_key, key, field }: ListValue) =>
    contents.get(list_key)?.entries.find((one) => one.key === key)?.entry[field]
  const byFactor = new Map(
    factors.flatMap(({ key, weight_bps }) => {
      const value = isFromList(weight_bps) ? find(weight_bps) : weight_bps
      return typeof value === 'number' ? [[key, value] as const] : []
    }),
  )
  return { byFactor, total: [...byFactor.values()].reduce((sum, value) => sum + value, 0) }
}
