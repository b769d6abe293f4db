/** Answers that need no network: built-in look-ups, fixtures of the manifest, and recorded answers of the provider. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { resolver } from '#modules/definitions/index.ts'
import { classifyResponse } from '#provider/classify-response.ts'
import { joinPages } from '#provider/pages.ts'
import { findFixture } from '#provider/recorded-answers.ts'
import type { ReceivedAnswer } from './answers.ts'
import type { BuiltinLookup, CalledOperation } from './capability.ts'
import { type CallRow, findRecordedAnswer } from './queries.ts'

type Input = Readonly<Record<string, unknown>>

const toJsonAnswer = (
  source: ReceivedAnswer['source'],
  result: ReceivedAnswer['result'],
  body: unknown,
  http_status: number | null = null,
): ReceivedAnswer => ({
  source,
  result,
  http_status,
  headers: {},
  media_type: 'application/json',
  bytes: Buffer.from(JSON.stringify(body)),
  duration_ms: 0,
})

/** `registry.lookup`: the entry with exactly this key, in the version of the list that is in force for the tenant. */
export async function lookUpInList(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { declared: { list_key } }: BuiltinLookup,
  input: Input,
): Promise<ReceivedAnswer> {
  const key = String(input['key'])
  const [pointer] = await resolver.resolveVersions(tx, [list_key], {})
  if (!pointer) return fail('nothing_in_force', { members: { list_key } })
  const entry = (await resolver.lookUpEntries(kernel, tx, pointer, [key])).get(key)
  const { version, content_hash } = pointer
  const body = { list_key, version, content_hash, key, found: entry !== undefined, entry: entry ?? null }
  return toJsonAnswer('builtin', entry ? 'found' : 'not_found', body)
}

export interface FixtureFailure {
  readonly fault: string
  /** The provider might have received the request and given no complete response. */
  readonly sent: boolean
}

/** What the first fixture of the manifest that fits the input answers; undefined where there is none. */
export function findFixtureAnswer(
  { manifest, declared, name }: CalledOperation,
  input: Input,
): ReceivedAnswer | FixtureFailure | undefined {
  const found = findFixture(manifest, name, input)
  if (!found) return undefined
  if (found.kind === 'fault') return { fault: found.fault, sent: found.sent }
  const { response } = found
  const judged = classifyResponse('response' in declared ? declared : {}, response, Date.now())
  if (judged.kind === 'refused' || judged.kind === 'failed') return { fault: judged.fault, sent: false }
  const { media_type, status: http_status } = judged
  const result = judged.kind === 'ok' ? 'found' : 'not_found'
  // A fixture is the only page of its answer.
  const bytes = 'pages' in declared && declared.pages && result === 'found' ? joinPages([response.body]) : response.body
  return { source: 'fixture', result, http_status, headers: {}, media_type, bytes, duration_ms: 0 }
}

/** The newest live answer to the same input, about the same subject or none; its payload is used as it is. */
export async function findRecorded(
  tx: Tx,
  call: CallRow,
  max_age_s: number | null,
): Promise<ReceivedAnswer | undefined> {
  const answer = await findRecordedAnswer(tx, { ...call, max_age_s })
  if (!answer) return undefined
  const { result, http_status, payload_id } = answer
  const nothing = Buffer.alloc(0)
  return {
    source: 'recorded',
    result,
    http_status,
    headers: {},
    media_type: 'application/json',
    bytes: nothing,
    duration_ms: 0,
    payload_id,
  }
}
