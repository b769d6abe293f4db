/** Putting a version in force, taking it back, pinning: each is one statement under the list's lock, after the gates. */
import type { Static } from 'typebox'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { fail, found, named } from '../../../kernel/problem.ts'
import { type ApprovalRule, findRuleOf } from '../../../kernel/request/queries.ts'
import { uuidv7 } from '../../../kernel/uuid.ts'
import {
  type DatasetRow,
  type Family,
  findDataset,
  findDatasetToChange,
  findSharedDataset,
} from '../datasets/queries.ts'
import { closeGates } from '../versions/actions.ts'
import { findVersion } from '../versions/queries.ts'
import type { Gate } from '../versions/rules.ts'
import {
  type ActivationRow,
  findActivation,
  findGoverning,
  findInForce,
  findPrevious,
  insertActivation,
  isOverdue,
  listPending,
  lockActivations,
  updateRevoked,
  wasInForce,
} from './queries.ts'
import type { RollbackOrder as RollbackSchema } from './schema.ts'

type RollbackOrder = Static<typeof RollbackSchema>

/** What is about to change, as the modules that stand on the registry are asked about it; the name of their review. */
export const IN_FORCE = 'in-force'
export interface InForceChange {
  readonly family: Family
  readonly list_key: string
  /** NULL: at once. */
  readonly effective_from: string | null
}

/**
 * Makes the change between two questions to every module that reviews such changes: what stands before, and what is in the
 * way afterwards. All gates are answered together, and any of them undoes the transaction.
 */
export async function reviewed<T>(
  tx: Tx,
  kernel: Kernel | null,
  change: InForceChange,
  gates: readonly Gate[],
  make: () => Promise<T>,
): Promise<T> {
  // Always the list before what reviewers lock: whoever comes from elsewhere must not meet us in the other order.
  await lockActivations(tx, change.family, change.list_key)
  const reviews = kernel?.modules.flatMap(({ reviews: offered }) => offered?.[IN_FORCE] ?? []) ?? []
  const answers: (() => Promise<readonly unknown[]>)[] = []
  for (const review of reviews) answers.push(await review(kernel as Kernel, tx, change))
  const made = await make()
  const closed = [...gates]
  for (const answer of answers) closed.push(...((await answer()) as readonly Gate[]))
  if (closed.length > 0) closeGates(closed)
  return made
}

export interface ActivationRequest {
  readonly list_key: string
  readonly version: number
  readonly reason: string
  readonly effective_from?: string | undefined
  readonly expected_active?: number | null | undefined
  readonly cr_id?: string | undefined
}

/** Without a kernel nobody else is asked: what all tenants share is seeded and kept by the operator. */
export async function activate(
  tx: Tx,
  request: ActivationRequest,
  kind: 'activate' | 'rollback' | 'seed' = 'activate',
  family: Family = 'list',
  kernel: Kernel | null = null,
): Promise<ActivationRow> {
  await lockActivations(tx, family, request.list_key)
  const dataset = found(await findDatasetToChange(tx, request.list_key, family))
  expectOwnOf(tx, dataset)
  await expectVersionFree(tx, dataset, request.version)
  const effective_from = request.effective_from ?? null
  const change = { family, list_key: request.list_key, effective_from }
  const made = await reviewed(tx, kernel, change, await gatesOf(tx, dataset, request), () =>
    insertActivation(tx, {
      activation_id: uuidv7(),
      family,
      list_key: request.list_key,
      layer: 'base',
      kind,
      dataset_tenant_id: dataset.tenant_id,
      dataset_id: dataset.dataset_id,
      version: request.version,
      effective_from,
      expires_at: null,
      reason: request.reason,
      cr_id: request.cr_id ?? null,
    }),
  )
  return expectInTime(tx, found(made))
}

/**
 * What was to begin later and is approved too late would govern a time that others have decided in already. Asked of the
 * recorded row: by then the instant either has passed or is safely ahead.
 */
async function expectInTime(tx: Tx, made: ActivationRow): Promise<ActivationRow> {
  if (await isOverdue(tx, made)) {
    fail('approval_void', `The instant has passed (${made.effective_from}): propose it again.`)
  }
  return made
}

function expectOwnOf(tx: Tx, { tenant_id, family, list_key }: DatasetRow): void {
  if (tenant_id === tx.tenant_id) return
  fail(
    'transition_not_allowed',
    family === 'list'
      ? `${list_key} is a shared list: pin a version of it, or make an overlay.`
      : `${list_key} is shared by all tenants: pin a version of it, or create one of your own with this key.`,
  )
}

async function expectVersionFree(tx: Tx, dataset: DatasetRow, number: number): Promise<void> {
  const version = named(await findVersion(tx, dataset, number), `version ${number} of ${dataset.list_key}`)
  if (version.state === 'withdrawn') fail('transition_not_allowed', `Version ${number} is withdrawn.`)
}

/** Everything in the way, named together. */
async function gatesOf(tx: Tx, dataset: DatasetRow, request: ActivationRequest): Promise<Gate[]> {
  const gates: Gate[] = []
  if (dataset.state === 'archived') {
    gates.push({ gate: 'frozen', detail: `${dataset.list_key} is archived.`, overridable: false, facts: {} })
  }
  if (request.expected_active !== undefined) {
    const active = (await findInForce(tx, dataset.family, dataset.list_key, 'base'))?.version ?? null
    if (active !== request.expected_active) {
      gates.push({
        gate: 'stale-base',
        detail: `Version ${active ?? 'none'} is in force, not ${request.expected_active ?? 'none'}.`,
        overridable: false,
        facts: { active, expected_active: request.expected_active },
      })
    }
  }
  return gates
}

export interface RollbackRequest {
  readonly list_key: string
  readonly to_version?: number | undefined
  readonly reason: string
  readonly keep_scheduled?: boolean | undefined
  readonly expected_active?: number | null | undefined
  readonly cr_id?: string | undefined
}

/** One activation of what was in force before, and, unless told otherwise, nothing scheduled survives it. */
export async function rollBack(
  tx: Tx,
  request: RollbackRequest,
  family: Family = 'list',
  kernel: Kernel | null = null,
): Promise<{ activation: ActivationRow; revoked: ActivationRow[] }> {
  await lockActivations(tx, family, request.list_key)
  const current = await findInForce(tx, family, request.list_key, 'base')
  if (!current?.version) {
    expectOwnOf(tx, found(await findDatasetToChange(tx, request.list_key, family)))
    return fail('nothing_in_force', `No version of ${request.list_key} is in force to roll back from.`)
  }
  if (request.to_version === undefined && current.kind === 'rollback') {
    // What was in force before is the very version that was taken back: a request sent twice must not put it there again.
    return fail(
      'transition_not_allowed',
      `Version ${current.version} was put in force by a rollback; name the version to go to.`,
    )
  }
  const to = request.to_version ?? (await findPrevious(tx, family, request.list_key, current))?.version
  if (to === undefined || to === null) {
    return fail('transition_not_allowed', 'Only one version was ever in force; name the version to go to.')
  }
  await expectEarlierVersion(tx, found(await findDatasetToChange(tx, request.list_key, family)), to, current)
  const revoked: ActivationRow[] = []
  if (!request.keep_scheduled) {
    for (const { activation_id } of await listPending(tx, family, request.list_key)) {
      const gone = await updateRevoked(tx, activation_id, `Rolled back: ${request.reason}`)
      if (gone) revoked.push(gone)
    }
  }
  const activation = await activate(tx, { ...request, version: to }, 'rollback', family, kernel)
  return { activation, revoked }
}

/** Why a rollback is an emergency, or undefined where it is not. */
export const findBreakGlassReason = (body: unknown): string | undefined =>
  (body as Pick<RollbackOrder, 'break_glass'> | undefined)?.break_glass?.reason

/**
 * Where the policy has no rule for rollbacks: one that cancels scheduled activations needs the approval they had, or whoever
 * may roll back could undo alone what others have approved.
 */
export async function findScheduledRule(
  tx: Tx,
  family: Family,
  list_key: string,
  body: unknown,
): Promise<ApprovalRule | undefined> {
  if ((body as Pick<RollbackOrder, 'keep_scheduled'>).keep_scheduled) return undefined
  return (await listPending(tx, family, list_key)).length > 0 ? findRuleOf(tx, 'activation') : undefined
}

/** A rollback asks for less than an activation, so it only returns to what was in force with all that an activation asks for. */
async function expectEarlierVersion(tx: Tx, dataset: DatasetRow, to: number, current: ActivationRow): Promise<void> {
  expectOwnOf(tx, dataset)
  await expectVersionFree(tx, dataset, to)
  if (current.dataset_id === dataset.dataset_id && current.version === to) {
    fail('transition_not_allowed', `Version ${to} of ${dataset.list_key} is in force already.`)
  }
  if (!(await wasInForce(tx, dataset, to))) {
    fail(
      'version_never_in_force',
      `Version ${to} of ${dataset.list_key} was never in force: put it in force by an activation.`,
    )
  }
}

/** A version in force stays in force when it is withdrawn, so another one must replace it first. */
export async function expectNotGoverning(tx: Tx, dataset: DatasetRow, version: number): Promise<void> {
  await lockActivations(tx, dataset.family, dataset.list_key)
  const governing = await findGoverning(tx, dataset, version)
  if (!governing) return
  fail(
    'version_in_force',
    governing.is_scheduled
      ? `Version ${version} of ${dataset.list_key} is scheduled from ${governing.effective_from}: cancel that first.`
      : `Version ${version} of ${dataset.list_key} is in force: put another version in force first.`,
  )
}

/** Takes back what is scheduled. What stays in force instead passes the same gates as if it were put there. */
export async function cancel(
  tx: Tx,
  { list_key, activation_id, reason }: { list_key: string; activation_id: string; reason?: string | undefined },
  family: Family = 'list',
  kernel: Kernel | null = null,
): Promise<{ activation: ActivationRow; revoked: ActivationRow }> {
  await lockActivations(tx, family, list_key)
  const activation = found(await findActivation(tx, family, list_key, activation_id))
  if (activation.revoked_at !== null) fail('transition_not_allowed', 'It was cancelled already.')
  const { effective_from } = activation
  if (Date.parse(effective_from) <= Date.now()) {
    fail('transition_not_allowed', 'It is in force already; roll back instead.')
  }
  const revoked = await reviewed(tx, kernel, { family, list_key, effective_from }, [], () =>
    updateRevoked(tx, activation_id, reason ?? 'Cancelled.'),
  )
  return { activation, revoked: found(revoked) }
}

const PIN_DAYS = 90

export async function pin(
  tx: Tx,
  request: {
    list_key: string
    version: number
    reason: string
    effective_from?: string | undefined
    expires_at?: string | null | undefined
    cr_id?: string | undefined
  },
  kernel: Kernel | null = null,
  family: Family = 'list',
): Promise<ActivationRow> {
  await lockActivations(tx, family, request.list_key)
  const shared = await findSharedDataset(tx, request.list_key, family)
  if (!shared) {
    found(await findDataset(tx, request.list_key, family))
    return fail('transition_not_allowed', `${request.list_key} is this tenant's own: put the version in force instead.`)
  }
  await expectVersionFree(tx, shared, request.version)
  const from_ms = request.effective_from === undefined ? Date.now() : Date.parse(request.effective_from)
  const until_ms = request.expires_at ? Date.parse(request.expires_at) : Number.POSITIVE_INFINITY
  const ends = shared.overlay_policy === 'none' || shared.overlay_policy === 'tighten_only'
  if ((ends && until_ms > from_ms + PIN_DAYS * 86_400_000) || until_ms <= from_ms) {
    return fail(
      'conflict',
      until_ms <= from_ms
        ? 'The pin would end before it begins.'
        : `A pin of this list needs an end (expires_at) at most ${PIN_DAYS} days after it begins.`,
    )
  }
  const effective_from = request.effective_from ?? null
  const made = await reviewed(tx, kernel, { family, list_key: request.list_key, effective_from }, [], () =>
    insertActivation(tx, {
      activation_id: uuidv7(),
      family,
      list_key: request.list_key,
      layer: 'base',
      kind: 'pin',
      dataset_tenant_id: shared.tenant_id,
      dataset_id: shared.dataset_id,
      version: request.version,
      effective_from,
      expires_at: request.expires_at ?? null,
      reason: request.reason,
      cr_id: request.cr_id ?? null,
    }),
  )
  return expectInTime(tx, found(made))
}

export async function unpin(
  tx: Tx,
  list_key: string,
  reason: string,
  cr_id?: string,
  kernel: Kernel | null = null,
  family: Family = 'list',
): Promise<ActivationRow> {
  await lockActivations(tx, family, list_key)
  const current = await findInForce(tx, family, list_key, 'base')
  if (current?.kind !== 'pin') {
    found(await findDataset(tx, list_key, family))
    return fail('transition_not_allowed', `${list_key} is not pinned.`)
  }
  const made = await reviewed(tx, kernel, { family, list_key, effective_from: null }, [], () =>
    insertActivation(tx, {
      activation_id: uuidv7(),
      family,
      list_key,
      layer: 'base',
      kind: 'unpin',
      dataset_tenant_id: null,
      dataset_id: null,
      version: null,
      effective_from: null,
      expires_at: null,
      reason,
      cr_id: cr_id ?? null,
    }),
  )
  return found(made)
}
