/** Selects a matrix or rule, as `matrix KEY` or `rule KEY`. */
import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import {
  type DefinitionItem,
  definitionsQuery,
  getDefinitionKey,
  matrixKind,
  ruleKind,
} from '#console/ui/decision/definition-kind.ts'

interface DefinitionSelectProps {
  readonly chosen: string | null
  /** Offers only definitions with a version in force. */
  readonly isInForceOnly?: boolean
  readonly onChange: (chosen: string | null) => void
}

export function DefinitionSelect({ chosen, isInForceOnly = false, onChange }: DefinitionSelectProps) {
  const { data: matrices = [] } = useQuery(definitionsQuery(matrixKind))
  const { data: rules = [] } = useQuery(definitionsQuery(ruleKind))
  const choices = (all: readonly DefinitionItem[], family: string) => {
    const offered = all.filter(({ active }) => !isInForceOnly || active !== null)
    const titles = new Map(offered.map((one) => [getDefinitionKey(one), one.title]))
    return [...titles].map(([key, label]) => ({ value: `${family} ${key}`, label }))
  }
  return (
    <Select
      label="Matrix or rule"
      placeholder="Choose a matrix or a rule"
      required
      searchable
      value={chosen}
      data={[
        { group: 'Matrices', items: choices(matrices, 'matrix') },
        { group: 'Rules', items: choices(rules, 'rule') },
      ]}
      onChange={onChange}
    />
  )
}
