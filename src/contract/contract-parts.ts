/**
 * Converts a contract to entries of a registry version, one for each part, and back, so that differences are shown fact by fact.
 * Payloads of examples are stored as ASCII text: the registry would normalise their values.
 */
import type { Contract, ContractCheck, ContractExample, CounterExample, Fact } from './model.ts'

type ContractPart = 'settings' | 'record' | 'fact' | 'check' | 'example' | 'counter_example'

interface PartEntry extends Readonly<Record<string, unknown>> {
  readonly part: ContractPart
  readonly name: string
  readonly position: number
}

const NON_ASCII = /[\u007f-\uffff]/g

const toAsciiJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(NON_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

export function toContractEntries(contract: Contract): PartEntry[] {
  const { record, facts, checks = [], examples, counter_examples = [], ...settings } = contract
  return [
    { part: 'settings', name: 'contract', position: 0, ...settings },
    { part: 'record', name: 'record', position: 0, schema: record },
    ...facts.map(({ name, ...fact }, position): PartEntry => ({ part: 'fact', name, position, ...fact })),
    ...checks.map(({ key, ...check }, position): PartEntry => ({ part: 'check', name: key, position, ...check })),
    ...examples.map((example, position) => toExampleEntry('example', example, position)),
    ...counter_examples.map((example, position) => toExampleEntry('counter_example', example, position)),
  ]
}

const toExampleEntry = (part: ContractPart, { payload, ...rest }: ContractExample, position: number): PartEntry => ({
  part,
  name: `example-${position + 1}`,
  position,
  ...rest,
  payload: toAsciiJson(payload),
})

/** Rebuilds the contract; throws when the entries are not its parts. */
export function fromContractEntries(entries: readonly Readonly<Record<string, unknown>>[]): Contract {
  const all = entries as readonly PartEntry[]
  const [settings] = filterParts(all, 'settings')
  const [record] = filterParts(all, 'record')
  if (!settings || !record) throw new TypeError('A contract has settings and the schema of its records')
  const checks = filterParts(all, 'check').map(({ name: key, ...rest }) => ({ key, ...omitPart(rest) }))
  const counters = filterParts(all, 'counter_example').map(toExample)
  const { name: _, ...members } = settings
  return {
    ...(omitPart(members) as unknown as Pick<Contract, 'records_at'>),
    record: record['schema'] as Contract['record'],
    facts: filterParts(all, 'fact').map((fact) => omitPart(fact) as unknown as Fact),
    ...(checks.length > 0 && { checks: checks as unknown as ContractCheck[] }),
    examples: filterParts(all, 'example').map(toExample),
    ...(counters.length > 0 && { counter_examples: counters as CounterExample[] }),
  }
}

const filterParts = (entries: readonly PartEntry[], part: ContractPart): PartEntry[] =>
  entries.filter((entry) => entry.part === part).toSorted((a, b) => a.position - b.position)

function omitPart(entry: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { part: _part, position: _position, ...rest } = entry
  return rest
}

function toExample(entry: PartEntry): ContractExample {
  const { name: _, payload, ...rest } = omitPart(entry)
  return { ...rest, payload: JSON.parse(payload as string) as unknown }
}
