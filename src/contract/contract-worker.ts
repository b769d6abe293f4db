/**
 * Entry point of the bounded worker: checks contracts that tenants wrote, and reads payloads by them. It holds only compiled
 * contracts, so it can be terminated at any moment.
 */
import { parentPort } from 'node:worker_threads'
import type { Finding } from '#decision/model.ts'
import { parsePointer } from '#registry/content/json-pointer.ts'
import { findMetaSchemaErrors } from '#registry/types/schema-validator.ts'
import type { ReadExamples } from './admit.ts'
import { checkContractText, hasErrors } from './check-contract.ts'
import { type InferenceOptions, type InferredContract, inferContract } from './infer-contract.ts'
import type { Contract, Violation } from './model.ts'
import { compileReader, locateRecords, type PayloadReader, parsePayload, type ReadPayload } from './read-payload.ts'
import { redactPayload } from './redact-payload.ts'
import { PayloadSketch, type SketchSummary } from './sketch.ts'
import { widenSchema } from './widen-contract.ts'

export interface TaskPayload {
  readonly payload_id: string
  readonly bytes: Uint8Array
  readonly media_type: string
}

/** Payloads, or one file with a payload, or with a payload on each line. */
export type InferenceSamples =
  | { readonly payloads: readonly TaskPayload[] }
  | { readonly file: Uint8Array; readonly media_type: string }

/** A sample that the proposed contract refuses, counted from one, with its first violation. */
export interface RefusedSample {
  readonly sample: number
  readonly violation: Violation
}
export type CheckedInference = InferredContract & { readonly refused_samples: readonly RefusedSample[] }

export type ContractWorkerTask =
  | { readonly op: 'check'; readonly contract: unknown }
  | {
      readonly op: 'read'
      /** Cache key of the contract. */
      readonly contract_hash: string
      readonly contract: Contract
      readonly payloads: readonly TaskPayload[]
    }
  | {
      readonly op: 'sketch'
      readonly contract_hash: string
      readonly contract: Contract
      readonly payloads: readonly TaskPayload[]
      readonly earlier: SketchSummary | null
    }
  | { readonly op: 'infer'; readonly samples: InferenceSamples; readonly options: InferenceOptions }
  | { readonly op: 'redact'; readonly contract: Contract; readonly payload: TaskPayload }
  | { readonly op: 'widen'; readonly contract: Contract; readonly payload: TaskPayload }
  | { readonly op: 'convert'; readonly contract: Contract; readonly payload: TaskPayload }

export type ContractWorkerReply =
  | { readonly op: 'ready' }
  | { readonly op: 'checked'; readonly findings: readonly Finding[]; readonly examples: ReadExamples | null }
  | { readonly op: 'read'; readonly payloads: readonly ReadPayload[] }
  | { readonly op: 'sketched'; readonly sketch: SketchSummary }
  /** Null: the payload cannot be parsed. */
  | { readonly op: 'redacted'; readonly payload: unknown }
  | { readonly op: 'widened'; readonly contract: Contract }
  /** Null: the payload cannot be parsed. */
  | { readonly op: 'converted'; readonly payload: unknown }
  | { readonly op: 'inferred'; readonly inferred: CheckedInference }
  /** The samples cannot be parsed. */
  | { readonly op: 'refused'; readonly message: string }
  | { readonly op: 'failed'; readonly message: string }

const MAX_COMPILED = 50
const JSON_TYPE = 'application/json'

/** Insertion order is the order of last use. */
const compiled = new Map<string, PayloadReader>()

function getReader(hash: string, contract: Contract): PayloadReader {
  const reader = compiled.get(hash) ?? compileReader(contract)
  compiled.delete(hash)
  compiled.set(hash, reader)
  const [oldest] = compiled.keys()
  if (compiled.size > MAX_COMPILED && oldest !== undefined) compiled.delete(oldest)
  return reader
}

const toBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)

/** Without a contract nothing says which elements of XML are lists: only repeated ones are, and the records where their place is given. */
const NO_CONTRACT = { record: {}, facts: [], examples: [] }

async function infer(samples: InferenceSamples, options: InferenceOptions): Promise<ContractWorkerReply> {
  const parts = 'payloads' in samples ? samples.payloads : splitFile(toBuffer(samples.file), samples.media_type)
  const form = { ...NO_CONTRACT, records_at: options.records_at ?? '' }
  const payloads: unknown[] = []
  for (const [index, { bytes, media_type }] of parts.entries()) {
    const parsed = await parsePayload(form, toBuffer(bytes), media_type)
    if (parsed === undefined) return { op: 'refused', message: `Sample ${index + 1} cannot be parsed.` }
    payloads.push(parsed)
  }
  const inferred = inferContract(payloads, options)
  return { op: 'inferred', inferred: { ...inferred, refused_samples: await findRefusedSamples(inferred, parts) } }
}

/** Lists need no second look: they are proposed only where they have every value of the samples. */
async function findRefusedSamples(
  { contract }: InferredContract,
  parts: readonly TaskPayload[],
): Promise<RefusedSample[]> {
  if (hasErrors(checkContractText(contract))) return []
  const reader = compileReader(contract)
  const refused: RefusedSample[] = []
  for (const [index, { bytes, media_type }] of parts.entries()) {
    const { violations } = await reader.read(toBuffer(bytes), media_type)
    if (violations[0]) refused.push({ sample: index + 1, violation: violations[0] })
  }
  return refused
}

const LINE_FEED = 0x0a

/** A file is one payload, unless each of its lines is one. */
function splitFile(file: Buffer, media_type: string): TaskPayload[] {
  const lines: Buffer[] = []
  for (let start = 0; start < file.length; ) {
    const end = file.indexOf(LINE_FEED, start)
    const line = file.subarray(start, end < 0 ? file.length : end)
    if (line.toString('latin1').trim() !== '') lines.push(line)
    start = end < 0 ? file.length : end + 1
  }
  const isWhole = (line: Buffer): boolean => {
    try {
      JSON.parse(line.toString('utf8'))
      return true
    } catch {
      return false
    }
  }
  const areLines = media_type === JSON_TYPE && lines.length > 1 && lines.slice(0, 3).every(isWhole)
  return (areLines ? lines : [file]).map((bytes) => ({ payload_id: '', bytes, media_type }))
}

async function check(text: unknown): Promise<ContractWorkerReply> {
  const findings = checkContractText(text)
  if (hasErrors(findings)) return { op: 'checked', findings, examples: null }
  const contract = text as Contract
  const reader = compileReader(contract)
  const readAll = async (examples: readonly { readonly payload: unknown }[]): Promise<ReadPayload[]> => {
    const read: ReadPayload[] = []
    for (const { payload } of examples) read.push(await reader.read(Buffer.from(JSON.stringify(payload)), JSON_TYPE))
    return read
  }
  const examples = await readAll(contract.examples)
  return {
    op: 'checked',
    findings,
    examples: { examples, counter_examples: await readAll(contract.counter_examples ?? []) },
  }
}

async function runTask(task: ContractWorkerTask): Promise<ContractWorkerReply> {
  if (task.op === 'check') return check(task.contract)
  if (task.op === 'infer') return infer(task.samples, task.options)
  if (task.op === 'redact' || task.op === 'widen' || task.op === 'convert') {
    const { contract, payload } = task
    const parsed = await parsePayload(contract, toBuffer(payload.bytes), payload.media_type)
    if (task.op === 'convert') return { op: 'converted', payload: parsed ?? null }
    if (task.op === 'redact') {
      return { op: 'redacted', payload: parsed === undefined ? null : redactPayload(contract, parsed) }
    }
    return {
      op: 'widened',
      contract:
        parsed === undefined
          ? contract
          : widenSchema(contract, locateRecords(contract, parsePointer(contract.records_at), parsed) ?? []),
    }
  }
  const reader = getReader(task.contract_hash, task.contract)
  if (task.op === 'read') {
    const payloads: ReadPayload[] = []
    for (const { bytes, media_type } of task.payloads) payloads.push(await reader.read(toBuffer(bytes), media_type))
    return { op: 'read', payloads }
  }
  const sketch = new PayloadSketch(task.earlier ?? undefined)
  for (const { payload_id, bytes, media_type } of task.payloads) {
    sketch.startPayload(payload_id)
    await reader.read(toBuffer(bytes), media_type, sketch)
  }
  return { op: 'sketched', sketch: sketch.toSummary() }
}

parentPort?.on('message', (task: ContractWorkerTask) => {
  runTask(task)
    .catch(
      (error: unknown): ContractWorkerReply => ({
        op: 'failed',
        message: error instanceof Error ? error.message : String(error),
      }),
    )
    .then((reply) => parentPort?.postMessage(reply))
})
// Compiles the validator of schemas now, so that it does not count against the time limit of the first contract.
findMetaSchemaErrors({})
parentPort?.postMessage({ op: 'ready' } satisfies ContractWorkerReply)
