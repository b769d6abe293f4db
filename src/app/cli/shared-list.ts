/**
 * Shared parts of the commands on shared lists: operator, list, time of effect, and the operator's audit event in the
 * transaction of the change. Shared lists belong to the system tenant and are written as the steward.
 */
import os from 'node:os'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Database, Scope, Tx } from '#kernel/database/tx.ts'
import { Problem, problems } from '#kernel/problem.ts'
import { hasVisibleText } from '#kernel/schema.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { activationStore, datasetStore, differenceStore, seeding, versionStore } from '#modules/definitions/index.ts'
import { referenceData } from '#modules/reference-data/index.ts'
import { type Invocation, type Option, UsageError } from './command.ts'
import { findNearest } from './help.ts'
import { withOperator } from './operator.ts'

export const SHARED_OPTION: Readonly<Record<string, Option>> = {
  shared: { type: 'boolean', about: 'required: these are the lists that all tenants share' },
}
export const ACTOR_OPTIONS: Readonly<Record<string, Option>> = {
  ...SHARED_OPTION,
  actor: { type: 'string', value: 'NAME', about: 'who does it, for the record (default: your user name here)' },
}

/** Tenants see a change at least this long before it takes effect, unless it is made immediately with a reason. */
const NOTICE_PERIOD_MS = 24 * 3600 * 1000
const MAX_REASON = 2000
const ACTOR = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$/
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})$/

/** The database for this operator: only the system tenant. */
export interface SharedLists {
  readonly scope: Scope
  read<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  write<T>(body: (tx: Tx) => Promise<T>): Promise<T>
}

/** Called first, so that a wrong argument is reported without a database. */
export function readScope({ args }: Invocation): Scope {
  if (!args.flag('shared')) {
    throw new UsageError('Say --shared: lists of a single tenant are changed by that tenant, through the API.')
  }
  const name = args.text('actor') ?? userName()
  if (!ACTOR.test(name)) throw new UsageError('--actor must be 1 to 100 letters, digits or . _ @ -')
  return fullScope(SYSTEM_TENANT, `operator:${name}`)
}

function userName(): string {
  try {
    const { username } = os.userInfo()
    return ACTOR.test(username) ? username : 'cli'
  } catch {
    // A container may run as a user without a name.
    return 'cli'
  }
}

export const withSharedLists = <T>(
  invocation: Invocation,
  scope: Scope,
  body: (lists: SharedLists) => Promise<T>,
): Promise<T> =>
  withOperator(invocation, { name: 'reference-data' }, async ({ guarded }) => {
    const { steward }: { steward: Database } = guarded
    try {
      return await body({
        scope,
        read: (work) => steward.read(scope, work),
        write: (work) => steward.write(scope, work),
      })
    } catch (error) {
      throw toTerminalError(error)
    }
  })

/** The problem of the API, as a sentence for the person at the terminal. */
function toTerminalError(error: unknown): unknown {
  const { constraint = '' } = error as { constraint?: string }
  const [, sentence] = referenceData.constraints?.[constraint] ?? []
  if (sentence) return new Error(sentence, { cause: error })
  // With a cause the database failed, and the log entry says so.
  if (!(error instanceof Problem) || error.cause) return error
  return new Error(error.extra.detail ?? problems[error.code].advice, { cause: error })
}

export const recordSharedListEvent = (tx: Tx, operation: string, list_key: string, detail: Record<string, unknown>) =>
  seeding.insertOperatorEvent(tx, { operation, subject: `list:${list_key}`, detail: canonicalJson(detail) })

const MAX_LISTED = 1000
export const listSharedLists = (tx: Tx) =>
  datasetStore.listDatasets(tx, { origin: 'own', state: null, type_key: null, key_prefix: null }, null, MAX_LISTED)

export async function requireList(tx: Tx, list_key: string, otherwise = ''): Promise<datasetStore.DatasetRow> {
  const found = await datasetStore.findSharedDataset(tx, list_key)
  if (found) return found
  const keys = (await listSharedLists(tx)).map((list) => list.list_key)
  const near = findNearest(list_key, keys)
  const hint = near ? `; did you mean "${near}"?` : '; "reference-data list --shared" shows them.'
  throw new Error(`There is no shared list "${list_key.slice(0, 100)}"${hint}${otherwise && ` ${otherwise}`}`)
}

/** By number or label. */
export async function requireVersion(
  tx: Tx,
  list: datasetStore.DatasetRow,
  version: string,
): Promise<versionStore.VersionRow> {
  const found = await versionStore.findVersion(tx, list, version)
  if (found) return found
  const there = list.head_version === 0 ? 'it has none yet' : `it has 1 to ${list.head_version}`
  throw new Error(`${list.list_key} has no version "${version.slice(0, 100)}"; ${there}.`)
}

/** Time and reason of effect from the command line. */
export interface ActivationTime {
  /** Null: now. */
  readonly effective_from: string | null
  readonly reason: string
}

export function readActivationTime({ args }: Pick<Invocation, 'args'>, fallback_reason?: string): ActivationTime {
  const now = args.text('now')
  const at = args.text('at')
  if (now !== undefined) {
    if (at !== undefined) throw new UsageError('--now and --at exclude each other.')
    return { effective_from: null, reason: readReason('now', now) }
  }
  const reason = readReason('reason', args.text('reason') ?? fallback_reason ?? args.required('reason'))
  const earliest_ms = Date.now() + NOTICE_PERIOD_MS
  if (at === undefined) return { effective_from: new Date(earliest_ms).toISOString(), reason }
  const at_ms = INSTANT.test(at) ? Date.parse(at) : Number.NaN
  if (Number.isNaN(at_ms)) throw new UsageError('--at must be an instant such as 2027-01-31T06:00:00Z.')
  if (at_ms < earliest_ms) {
    const earliest = new Date(earliest_ms).toISOString()
    throw new UsageError(
      `--at must be at least 24 hours ahead (${earliest}), so that tenants see it coming; what cannot wait is done with --now REASON.`,
    )
  }
  return { effective_from: new Date(at_ms).toISOString(), reason }
}

export function readReason(name: string, text: string): string {
  const reason = text.trim()
  if (!hasVisibleText(reason) || reason.length > MAX_REASON) {
    throw new UsageError(`--${name} must say why, in 1 to ${MAX_REASON} characters.`)
  }
  return reason
}

export interface ActivationResult {
  readonly version: number
  readonly effective_from: string
}

/** The activation of the API, recorded as an action of the operator in the same transaction. */
export async function activateSharedVersion(
  tx: Tx,
  list_key: string,
  version: number,
  moment: ActivationTime,
): Promise<ActivationResult> {
  const before = await activationStore.findActivationInForce(tx, 'list', list_key, 'base')
  const { effective_from } = await activationStore.activateVersion(tx, {
    list_key,
    version,
    reason: moment.reason,
    effective_from: moment.effective_from ?? undefined,
  })
  const isNow = moment.effective_from === null
  await recordSharedListEvent(tx, isNow ? 'activateSharedVersion' : 'scheduleSharedVersion', list_key, {
    version,
    effective_from,
    reason: moment.reason,
    in_force: before?.version ?? null,
  })
  return { version, effective_from }
}

/** One line: newest version, version in force, and scheduled versions. */
export async function describeListStatus(tx: Tx, { list_key, head_version }: datasetStore.DatasetRow): Promise<string> {
  const in_force = (await activationStore.findActivationInForce(tx, 'list', list_key, 'base'))?.version ?? 'none'
  const pending = await activationStore.listScheduledActivations(tx, 'list', list_key)
  const coming = pending.map(({ version, effective_from }) => `version ${version} from ${effective_from}`)
  return `${list_key}: newest version ${head_version || 'none'}, in force ${in_force}, pending ${coming.join(', ') || 'none'}.`
}

/** What putting `to` in force would change. */
export async function describeActivationChange(tx: Tx, list: datasetStore.DatasetRow, to: number): Promise<string> {
  const from = (await activationStore.findActivationInForce(tx, 'list', list.list_key, 'base'))?.version
  if (!from) return `Nothing is in force yet; version ${to} would be the first.`
  if (from === to) return `Version ${to} is in force already.`
  return `From version ${from} to ${to}: ${formatSummary(await differenceStore.countDifferences((body) => body(tx), { ...list, version: from }, { ...list, version: to }))}`
}

const MAX_LISTED_FIELDS = 8

type Summary = Awaited<ReturnType<typeof differenceStore.countDifferences>>

export function formatSummary({ added, removed, changed, fields }: Summary): string {
  const shown = fields.slice(0, MAX_LISTED_FIELDS).map(({ pointer, changed: times }) => `${pointer} ${times}`)
  const where = shown.length > 0 ? ` (${shown.join(', ')}${fields.length > MAX_LISTED_FIELDS ? ', …' : ''})` : ''
  return `${added} added, ${removed} removed, ${changed} changed${where}.`
}
