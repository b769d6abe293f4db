/** What precedes an attempt, in one transaction: that it is intended, the input of the call, and the credential that it needs. */
import { randomUUID } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { expectReady, type ReadyProvider } from '#modules/provider-credentials/index.ts'
import { openInput } from './create-call.ts'
import type { CallKernel, CallRun, LoadedCall } from './load-call.ts'
import { isPaged } from './pages/page-chain.ts'
import { type AttemptRow, type CallRow, insertAttempt, updateAttemptEnded } from './queries.ts'

export interface PreparedAttempt {
  readonly attempt: AttemptRow
  readonly input: Readonly<Record<string, unknown>>
  /** Null where none is needed; a problem where there is none. */
  readonly credential: ReadyProvider['credential'] | 'superseded' | Problem
}

/** Whether nothing has to be ended, awaited or read before the next attempt. */
export function isReadyForAttempt({ result, attempts, capability }: LoadedCall): boolean {
  const last = attempts.at(-1)
  const isInFlight = last !== undefined && last.sent_at !== null && last.outcome === null
  return !result && !last?.is_final && !isInFlight && !isPaged(capability)
}

/** Undefined when another worker has created this attempt. */
export async function prepareAttempt(
  run: CallRun,
  tx: Tx,
  loaded: LoadedCall,
  page_no: number,
): Promise<PreparedAttempt | undefined> {
  const { kernel } = run
  const { call, capability } = loaded
  const attempt = await ensureAttempt(tx, loaded, page_no)
  if (!attempt) return undefined
  const input = await openInput(kernel, tx, call)
  if (call.mode !== 'live' || capability.kind === 'builtin') return { attempt, input, credential: null }
  // A version that is being verified need not be the one that calls would use.
  return { attempt, input, credential: run.credential ?? (await findCredentialNow(kernel, tx, loaded)) }
}

/** An attempt that was intended and provably never sent is used again. */
async function ensureAttempt(tx: Tx, { call, attempts }: LoadedCall, page_no: number): Promise<AttemptRow | undefined> {
  const last = attempts.at(-1)
  const isUnsent = last !== undefined && last.sent_at === null && last.outcome === null
  if (isUnsent && last.page_no === page_no) return last
  // Its page arrived late, from an attempt that was given up.
  if (isUnsent) await updateAttemptEnded(tx, { ...last, ...SUPERSEDED })
  return insertAttempt(tx, { ...call, attempt_no: attempts.length + 1, page_no, token: randomUUID() })
}

const SUPERSEDED = {
  outcome: 'not_sent',
  fault: 'superseded',
  http_status: null,
  duration_ms: null,
  is_final: false,
} as const

/** The present credential belongs to the version in force: an earlier one gets it only for the same hosts, in the same way. */
async function findCredentialNow(
  kernel: CallKernel,
  tx: Tx,
  { call, manifest }: LoadedCall,
): Promise<PreparedAttempt['credential']> {
  try {
    const ready = await expectProvider(kernel, tx, call)
    return isSentAlike(manifest, ready.manifest) ? ready.credential : 'superseded'
  } catch (error) {
    // The attempt stays intended: it is used when the credential is there.
    if (error instanceof Problem) return error
    throw error
  }
}

function isSentAlike(earlier: LoadedCall['manifest'], current: LoadedCall['manifest']): boolean {
  // Address and authentication are those of the server, and the same for all versions.
  if (earlier['kind'] === 'mcp' || current['kind'] === 'mcp') return earlier['server_key'] === current['server_key']
  const toHosts = (manifest: LoadedCall['manifest']) => (manifest['hosts'] ?? []) as readonly string[]
  const hosts = toHosts(current)
  return (
    toHosts(earlier).every((host) => hosts.includes(host)) &&
    canonicalJson(earlier['auth'] ?? null) === canonicalJson(current['auth'] ?? null)
  )
}

/** 424 where the credential went away since the call was made: no attempt is used up. */
async function expectProvider(kernel: CallKernel, tx: Tx, call: CallRow): Promise<ReadyProvider> {
  const { provider_key, environment } = call
  const ready =
    (await expectReady(kernel, tx, [provider_key])).get(provider_key) ??
    fail('nothing_in_force', { members: { provider_key } })
  if (ready.mode !== 'live' || ready.environment !== environment) {
    fail(
      'conflict',
      `The provider ${provider_key} is in mode ${ready.mode} (${ready.environment}) since this call was made.`,
    )
  }
  return ready
}
