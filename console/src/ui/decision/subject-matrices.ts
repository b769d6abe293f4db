/** Which matrices are for a subject of a type. A matrix does not declare it; its key does, by convention. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { definitionsQuery, getDefinitionKey, matrixKind, textQuery } from './definition-kind.ts'
import { type Input, parseDefinition } from './definition-model.ts'

const types = ['person', 'company']

/** Null: no version is in force. */
type InForce = { readonly active: object | null }

const namesType = (matrix: object, type: string): boolean => getDefinitionKey(matrix).split(/[-_]/).includes(type)

/** The matrices in force whose key names no other type. */
export const listFittingMatrices = <M extends InForce>(matrices: readonly M[], type: string): M[] =>
  matrices.filter(
    (matrix) =>
      matrix.active !== null &&
      (namesType(matrix, type) || !types.some((other) => other !== type && namesType(matrix, other))),
  )

/** The matrix that rated the subject last, else the one whose key names its type, else the only one there is. */
export function chooseMatrix(matrices: readonly InForce[], type: string, last_key: string | null): string | null {
  const fitting = listFittingMatrices(matrices, type)
  const keys = [...new Set(fitting.map(getDefinitionKey))]
  if (last_key !== null && matrices.some((one) => one.active !== null && getDefinitionKey(one) === last_key))
    return last_key
  const named = fitting.find((matrix) => namesType(matrix, type))
  if (named) return getDefinitionKey(named)
  return keys.length === 1 ? (keys[0] ?? null) : null
}

/** The inputs that the matrices for this type declare, each once; null until all of them are loaded. */
export function useDeclaredInputs(type: string): readonly Input[] | null {
  const { data: matrices = [], isPending } = useQuery({ ...definitionsQuery(matrixKind), throwOnError: false })
  const texts = useQueries({
    queries: listFittingMatrices(matrices, type).map((one) => ({
      ...textQuery(matrixKind, getDefinitionKey(one), one.active?.version ?? 1, one.origin),
      throwOnError: false,
    })),
  })
  if (isPending || texts.some((text) => text.isPending)) return null
  const inputs = texts.flatMap(({ data }) => (data ? (parseDefinition(data.definition).inputs ?? []) : []))
  return [...new Map(inputs.map((input) => [input.name, input])).values()]
}
