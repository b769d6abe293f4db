/** Mutants of sample payloads: a flipped type, a missing required member, a value outside the enumeration. */
import { inferContract } from '#contract/infer-contract.ts'
import { compileContract } from '#contract/judge-payload.ts'
import { generalisePointer } from '#contract/places.ts'
import { compileReader, type ReadPayload } from '#contract/read-payload.ts'
import { createBoundList } from './company-registry.ts'
import { createSamplePayloads, createShares, type SampleRecord } from './sample-payloads.ts'

const codes = ['GB', 'FR', 'DE', 'NL', 'ES', 'IT']
export const sampleLists = [{ list_key: 'countries', keys: new Set(codes) }]

/** A contract inferred from samples, and how it judges a payload. */
export function createInferred(seed: number) {
  const samples = createSamplePayloads(seed, 30, 10)
  const { contract, records } = inferContract(samples, { lists: sampleLists })
  const bound = compileContract(contract).bind(new Map([['countries', createBoundList('countries', codes)]]))
  if (!('judge' in bound)) throw new Error('The inferred contract does not fit its lists')
  const reader = compileReader(contract)
  const judge = (payload: unknown) => {
    const read = reader.read(Buffer.from(JSON.stringify(payload)), 'application/json') as ReadPayload
    return bound.judge(read, null)
  }
  return { samples, contract, records, judge }
}

const flips: Readonly<Record<string, unknown>> = {
  id: 12,
  employees: 'many',
  listed: 'yes',
  turnover: 'x',
  founded: 'soon',
}

/** How many of the mutants are quarantined with a violation at the changed member. */
export function countCaughtMutants(
  { samples, contract, judge }: ReturnType<typeof createInferred>,
  mutants: number,
): number {
  const random = createShares(42)
  const { required = [] } = contract.record as { required?: string[] }
  let caught = 0
  for (let mutant = 0; mutant < mutants; mutant++) {
    const companies = samples[mutant % samples.length]?.data.companies ?? []
    const record = structuredClone(companies[mutant % 10]) as SampleRecord
    const pick = (names: readonly string[]): string => names[Math.floor(random() * names.length)] as string
    const name = mutant % 3 === 0 ? pick(Object.keys(flips)) : mutant % 3 === 1 ? pick(required) : 'status'
    if (mutant % 3 === 0) record[name] = flips[name]
    else if (mutant % 3 === 1) delete record[name]
    else record.status = 'liquidated'
    const { result, violations } = judge({ data: { companies: [record] } })
    if (result === 'quarantined' && violations.some(({ pointer }) => generalisePointer(pointer) === `/${name}`))
      caught++
  }
  return caught
}
