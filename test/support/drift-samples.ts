/** Windows of sample payloads with and without seeded drift, for the quick test and the acceptance run. */
import type { DriftKind } from '#contract/drift-findings.ts'
import { inferContract } from '#contract/infer-contract.ts'
import { compileReader } from '#contract/read-payload.ts'
import { PayloadSketch, type SketchSummary } from '#contract/sketch.ts'
import { createSampleRecord, createShares, type SampleRecord } from './sample-payloads.ts'

export type ChangeRecord = (record: SampleRecord, index: number) => void

/** Sets a member of every payload for which `applies`. */
export const setMember =
  (name: string, value: unknown, applies: (index: number) => boolean = () => true): ChangeRecord =>
  (record, index) => {
    if (applies(index)) record[name] = value
  }
export const every = (step: number) => (index: number) => index % step === 0
const once = (index: number) => index === 200

/** What is changed, and the finding that it must give. The ninth kind, a falling share of nulls, is a rising one reversed. */
export const seededDrifts: readonly [kind: DriftKind, pointer: string, item: string, change: ChangeRecord][] = [
  ['new_member', '/vat_number', '', setMember('vat_number', 'x')],
  ['vanished_member', '/founded', '', setMember('founded', undefined)],
  ['kind_changed', '/employees', 'string', setMember('employees', '12', every(10))],
  ['null_share_up', '/parent', '', setMember('parent', null, every(2))],
  ['new_value', '/status', 'liquidated', setMember('status', 'liquidated', every(20))],
  ['number_above', '/turnover', '', setMember('turnover', 1e9, once)],
  ['number_below', '/turnover', '', setMember('turnover', -1e9, once)],
  ['text_longer', '/company_name', '', setMember('company_name', 'x'.repeat(900), once)],
]

/** Collects windows of one contract, inferred from 200 records of the same source. */
export function createWindows(seed: number) {
  const random = createShares(seed)
  const sample = Array.from({ length: 200 }, () => createSampleRecord(random))
  const { contract } = inferContract([{ records: sample }])
  const reader = compileReader({ ...contract, records_at: '' })
  const add = (sketch: PayloadSketch, record: SampleRecord, payload_id: string): void => {
    sketch.startPayload(payload_id)
    reader.read(Buffer.from(JSON.stringify(record)), 'application/json', sketch)
  }
  const collect = (payloads: number, change: ChangeRecord = () => {}): SketchSummary => {
    const sketch = new PayloadSketch()
    for (let index = 0; index < payloads; index++) {
      const record = createSampleRecord(random)
      change(record, index)
      add(sketch, record, `payload-${String(index).padStart(4, '0')}`)
    }
    return sketch.toSummary()
  }
  return { random, add, collect }
}
