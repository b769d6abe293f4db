/**
 * Source contracts in process: the check of one payload of 2 KB beside the same strict parser and the same schema compiled by plain
 * Ajv, and the inference of 10,000 records beside `JSON.parse` of them.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { inferContract } from '#contract/infer-contract.ts'
import { compileContract } from '#contract/judge-payload.ts'
import { compileReader, type ReadPayload } from '#contract/read-payload.ts'
import { PayloadSketch } from '#contract/sketch.ts'
import { parseStrictJson } from '#kernel/strict-json.ts'
import { companyContract, companyPayload, companyRecord, countries } from '#test/support/company-registry.ts'
import { createSamplePayloads } from '#test/support/sample-payloads.ts'
import { median } from './median.ts'
import type { Comparison } from './registry-bench.ts'

const ROUNDS = 9
const CHECK_PASSES = 3000
const PAYLOAD_BYTES = 2048
const SAMPLES = { payloads: 100, records: 100 }

export function measureContracts(): Comparison[] {
  return [measureCheck(), measureInference()]
}

/** As many records as fit into 2 KB. */
function createPayload(): Buffer {
  const records: unknown[] = []
  for (let number = 1; JSON.stringify(companyPayload(records)).length < PAYLOAD_BYTES; number++) {
    records.push(companyRecord(number))
  }
  return Buffer.from(JSON.stringify(companyPayload(records)))
}

function timeEach(passes: number, run: () => void): number {
  const started = performance.now()
  for (let pass = 0; pass < passes; pass++) run()
  return ((performance.now() - started) * 1000) / passes
}

interface Sides {
  readonly own: () => number
  readonly other: () => number
}

/** Both sides in the same rounds; the ratio is the median of those of the single rounds. */
function compareSides({ own, other }: Sides) {
  const rounds: { own_us: number; other_us: number }[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const measured = { own_us: own(), other_us: other() }
    // The first round warms.
    if (round > 0) rounds.push(measured)
  }
  return {
    own_us: median(rounds.map(({ own_us }) => own_us)),
    other_us: median(rounds.map(({ other_us }) => other_us)),
    ratio: median(rounds.map(({ own_us, other_us }) => other_us / own_us)),
  }
}

/** Ours: strict scan, parse, schema, undeclared members, statistics, facts, lists, provenance, freshness and checks. */
function measureCheck(): Comparison {
  const contract = companyContract()
  const bytes = createPayload()
  const reader = compileReader(contract)
  const bound = compileContract(contract).bind(countries)
  if (!('judge' in bound)) throw new Error('The contract does not fit its lists')
  const sketch = new PayloadSketch()
  const own = (): void => {
    sketch.startPayload('bench')
    const read = reader.read(bytes, 'application/json', sketch) as ReadPayload
    if (bound.judge(read, '2026-01-20T00:00:00Z').result !== 'admitted') throw new Error('The payload is refused')
  }
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  const validate = ajv.compile({
    type: 'object',
    properties: {
      result: { type: 'object', properties: { items: { type: 'array', items: contract.record } } },
    },
  })
  const other = (): void => {
    if (!validate(parseStrictJson(bytes))) throw new Error('The payload is refused')
  }
  const { own_us, other_us, ratio } = compareSides({
    own: () => timeEach(CHECK_PASSES, own),
    other: () => timeEach(CHECK_PASSES, other),
  })
  return {
    label: `check of a payload of ${bytes.length} bytes, statistics included`,
    entries: 1,
    ours: `${own_us.toFixed(1)} µs`,
    baseline: `the same parser and plain Ajv ${other_us.toFixed(1)} µs`,
    ratio,
    aim: 0.5,
    floor: 0.5,
  }
}

function measureInference(): Comparison {
  const payloads = createSamplePayloads(1, SAMPLES.payloads, SAMPLES.records)
  const texts = payloads.map((payload) => JSON.stringify(payload))
  const { own_us, other_us, ratio } = compareSides({
    own: () => timeEach(1, () => void inferContract(payloads)),
    other: () =>
      timeEach(1, () => {
        for (const text of texts) JSON.parse(text)
      }),
  })
  return {
    label: 'inference of a contract, records parsed before',
    entries: SAMPLES.payloads * SAMPLES.records,
    ours: `${(own_us / 1000).toFixed(1)} ms`,
    baseline: `JSON.parse of them ${(other_us / 1000).toFixed(1)} ms`,
    ratio,
    aim: 0.2,
    floor: 0.2,
  }
}
