/** The admission of a payload in one call, and what the examples of a contract must give. */
import type { BoundLists, Finding } from '#decision/model.ts'
import { describeViolation } from './describe-violation.ts'
import { type BoundContract, compileContract } from './judge-payload.ts'
import type { Admission, Contract } from './model.ts'
import { generalisePointer } from './places.ts'
import { compileReader, type ReadPayload } from './read-payload.ts'

export interface AdmitOptions {
  readonly media_type: string
  /** Null: freshness is not checked. */
  readonly received_at: string | null
  readonly lists: BoundLists
}

/** For one payload; a caller that checks many compiles once. Throws when a list is missing or does not fit the contract. */
export async function admit(contract: Contract, bytes: Buffer, options: AdmitOptions): Promise<Admission> {
  const bound = compileContract(contract).bind(options.lists)
  if (!('judge' in bound)) throw new Error(bound[0]?.message ?? 'The lists do not fit the contract')
  return bound.judge(await compileReader(contract).read(bytes, options.media_type), options.received_at)
}

/** Examples as read, in the order of the contract. */
export interface ReadExamples {
  readonly examples: readonly ReadPayload[]
  readonly counter_examples: readonly ReadPayload[]
}

/** Every example must be admitted, and every counter-example refused at each stated pointer. */
export function findExampleFindings(contract: Contract, bound: BoundContract, read: ReadExamples): Finding[] {
  const findings: Finding[] = []
  contract.examples.forEach(({ received_at }, index) => {
    const { result, violations } = bound.judge(read.examples[index] as ReadPayload, received_at ?? null)
    const [first] = violations
    if (result !== 'quarantined' || !first) return
    const message = `This example is refused at "${first.pointer}" (${first.keyword}). ${describeViolation(first)}`
    findings.push({ code: 'example_refused', pointer: `/examples/${index}/payload`, message, severity: 'error' })
  })
  contract.counter_examples?.forEach(({ violates, received_at }, index) => {
    const { violations } = bound.judge(read.counter_examples[index] as ReadPayload, received_at ?? null)
    const places = new Set(violations.flatMap(({ pointer }) => [pointer, generalisePointer(pointer)]))
    violates.forEach((pointer, at) => {
      if (places.has(pointer)) return
      const found = violations.length === 0 ? 'it is admitted' : `it is refused at "${violations[0]?.pointer}"`
      const message = `This counter-example must be refused at "${pointer}", but ${found}.`
      const place = `/counter_examples/${index}/violates/${at}`
      findings.push({ code: 'counter_example_admitted', pointer: place, message, severity: 'error' })
    })
  })
  return findings
}
