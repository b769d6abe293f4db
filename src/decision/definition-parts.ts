/**
 * Converts a checked definition to entries of a registry version, one for each part, and back, so that differences are shown factor by
 * factor.
 */
import type {
  DecisionTable,
  Definition,
  DefinitionFamily,
  Factor,
  Input,
  MatrixDefinition,
  RuleDefinition,
  Trigger,
} from './model.ts'

export type Part = 'settings' | 'input' | 'factor' | 'trigger' | 'table'

/** `part` and `name` are its key; `position` keeps the order among parts of the same kind. */
export interface PartEntry extends Readonly<Record<string, unknown>> {
  readonly part: Part
  readonly name: string
  readonly position: number
}

export function toPartEntries(definition: Definition): PartEntry[] {
  if (definition.family === 'matrix') {
    const { family: name, inputs, factors, triggers, ...settings } = definition
    return [
      { part: 'settings', name, position: 0, ...settings },
      ...inputs.map((input, position): PartEntry => ({ part: 'input', position, ...input })),
      ...factors.map(({ key, ...factor }, position): PartEntry => ({ part: 'factor', name: key, position, ...factor })),
      ...triggers.map(({ key, ...rest }, position): PartEntry => ({ part: 'trigger', name: key, position, ...rest })),
    ]
  }
  const { family: name, inputs, table, ...settings } = definition
  return [
    { part: 'settings', name, position: 0, ...settings },
    ...inputs.map((input, position): PartEntry => ({ part: 'input', position, ...input })),
    { part: 'table', name: 'table', position: 0, ...table },
  ]
}

/** Rebuilds the definition; throws when the entries are not its parts. */
export function fromPartEntries(
  family: DefinitionFamily,
  entries: readonly Readonly<Record<string, unknown>>[],
): Definition {
  const all = entries as readonly PartEntry[]
  const inputs = filterParts(all, 'input').map(
    ({ part: _part, position: _position, ...input }) => input as unknown as Input,
  )
  const settings = getSinglePart(all, 'settings', family)
  if (family === 'rule') {
    const table = getSinglePart(all, 'table', 'table') as unknown as DecisionTable
    return { family, ...(settings as unknown as Omit<RuleDefinition, 'inputs' | 'table'>), inputs, table }
  }
  return {
    family,
    ...(settings as unknown as Pick<MatrixDefinition, 'aggregation' | 'bands'>),
    inputs,
    factors: filterParts(all, 'factor').map((entry) => withKey(entry) as unknown as Factor),
    triggers: filterParts(all, 'trigger').map((entry) => withKey(entry) as unknown as Trigger),
  }
}

const filterParts = (entries: readonly PartEntry[], part: Part): PartEntry[] =>
  entries.filter((entry) => entry.part === part).sort((a, b) => a.position - b.position)

const withKey = ({ part: _part, position: _position, name: key, ...rest }: PartEntry) => ({ key, ...rest })

function getSinglePart(entries: readonly PartEntry[], part: Part, name: string): Record<string, unknown> {
  const [found, second] = filterParts(entries, part)
  if (found?.name !== name || second) throw new TypeError(`A ${name} has exactly one part "${part}" of its name`)
  const { part: _part, name: _name, position: _position, ...rest } = found
  return rest
}
