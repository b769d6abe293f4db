/** Putting a version in force, taking it back, pinning: each is one statement under the list's lock, after the gates. */
import type { Static } from 'typebox'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { type ApprovalRule, findInheritedRule } from '#kernel/request/queries.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  type DatasetFamily,
  type DatasetRow,
  findDataset,
  findDatasetForWrite,
  findSharedDataset,
} from '../datasets/queries.ts'
import type { Gate } from '../versions/guards.ts'
import { failGatesClosed } from '../versions/publish.ts'
import { findVersion } from '../versions/queries.ts'
import {
  type ActivationRow,
  findActivation,
  findActivationInForce,
  findInForceOrScheduled,
  findPreviousActivation,
  insertActivation,
  isOverdue,
  listScheduledActivations,
  lockActivations,
  updateActivationRevoked,
  wasInForce,
} from './queries.ts'
import type { RollbackRequest as RollbackSchema } from './schema.ts'

type RollbackBody = Static<typeof RollbackSchema>

/** What is about to change, as the modules that stand on the registry are asked about it; the name of their review. */
export const IN_FORCE_REVIEW = 'in-force'
export interface InForceChange {
  readonly family: DatasetFamily
  readonly list_key: string
  /** NULL: at once. */
  readonly effective_from: string | null
}

/**
 * Makes the change between two questions to every module that reviews such changes: what stands before, and what is in the
 * way afterwards. All gates are answered together, and any of them undoes the transaction.
 */
export async function applyWithReview<T>(
  tx: Tx,
  kernel: Capabilities<'reviews'> | null,
  change: InForceChange,
  gates: readonly Gate[],
  make: () => Promise<T>,
): Promise<T> {
  // Always the list before what reviewers lock: whoever comes from elsewhere must not meet us in the other order.
  await lockActivations(tx, change.family, change.list_key)
  const reviews = kernel ? await kernel.reviews.begin(IN_FORCE_REVIEW, tx, change) : []
  const made = await make()
  const closed = [...gates]
  for (const finish of reviews) closed.push(...((await finish()) as readonly Gate[]))
  if (closed.length > 0) failGatesClosed(closed)
  return made
}

export interface ActivateInput {
  readonly list_key: string
  readonly version: number
  readonly reason: string
  readonly effective_from?: string | undefined
  readonly expected_active?: number | null | undefined
  readonly cr_id?: string | undefined
}

/** Without a kernel nobody else is asked: what all tenants share is seeded and kept by the operator. */
export async function activateVersion(
  tx: Tx,
  request: ActivateInput,
  kind: 'activate' | 'rollback' | 'seed' = 'activate',
  family: DatasetFamily = 'list',
  kernel: Capabilities<'reviews'> | null = null,
): Promise<ActivationRow> {
  await lockActivations(tx, family, request.list_key)
  const dataset = assertFound(await findDatasetForWrite(tx, request.list_key, family))
  assertOwnedByTenant(tx, dataset)
  await assertNotWithdrawn(tx, dataset, request.version)
  const effective_from = request.effective_from ?? null
  const change = { family, list_key: request.list_key, effective_from }
  const made = await applyWithReview(tx, kernel, change, await findClosedGates(tx, dataset, request), () =>
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
  return assertNotOverdue(tx, assertFound(made))
}

/**
 * What was to begin later and is approved too late would govern a time that others have decided in already. Asked of the
 * recorded row: by then the instant either has passed or is safely ahead.
 */
async function assertNotOverdue(tx: Tx, made: ActivationRow): Promise<ActivationRow> {
  if (await isOverdue(tx, made)) {
    fail('approval_void', `The instant has passed (${made.effective_from}): propose it again.`)
  }
  return made
}

function assertOwnedByTenant(tx: Tx, { tenant_id, family, list_key }: DatasetRow): void {
  if (tenant_id === tx.tenant_id) return
  fail(
    'transition_not_allowed',
    family === 'list'
      ? `${list_key} is a shared list: pin a version of it, or make an overlay.`
      : `${list_key} is shared by all tenants: pin a version of it, or create one of your own with this key.`,
  )
}

async function assertNotWithdrawn(tx: Tx, dataset: DatasetRow, number: number): Promise<void> {
  const version = assertReferenced(await findVersion(tx, dataset, number), `version ${number} of ${dataset.list_key}`)
  if (version.state === 'withdrawn') fail('transition_not_allowed', `Version ${number} is withdrawn.`)
}

/** Everything in the way, named together. */
async function findClosedGates(tx: Tx, dataset: DatasetRow, request: ActivateInput): Promise<Gate[]> {
  const gates: Gate[] = []
  if (dataset.state === 'archived') {
    gates.push({ gate: 'frozen', detail: `${dataset.list_key} is archived.`, overridable: false, facts: {} })
  }
  if (request.expected_active !== undefined) {
    const active = (await findActivationInForce(tx, dataset.family, dataset.list_key, 'base'))?.version ?? null
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

export interface RollbackInput {
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
  request: RollbackInput,
  family: DatasetFamily = 'list',
  kernel: Capabilities<'reviews'> | null = null,
): Promise<{ activation: ActivationRow; revoked: ActivationRow[] }> {
  await lockActivations(tx, family, request.list_key)
  const current = await findActivationInForce(tx, family, request.list_key, 'base')
  if (!current?.version) {
    assertOwnedByTenant(tx, assertFound(await findDatasetForWrite(tx, request.list_key, family)))
    return fail('nothing_in_force', `No version of ${request.list_key} is in force to roll back from.`)
  }
  if (request.to_version === undefined && current.kind === 'rollback') {
    // What was in force before is the very version that was taken back: a request sent twice must not put it there again.
    return fail(
      'transition_not_allowed',
      `Version ${current.version} was put in force by a rollback; name the version to go to.`,
    )
  }
  const to = request.to_version ?? (await findPreviousActivation(tx, family, request.list_key, current))?.version
  if (to === undefined || to === null) {
    return fail('transition_not_allowed', 'Only one version was ever in force; there is nothing to go back to.')
  }
  await assertRollbackTarget(tx, assertFound(await findDatasetForWrite(tx, request.list_key, family)), to, current)
  const revoked: ActivationRow[] = []
  if (!request.keep_scheduled) {
    for (const { activation_id } of await listScheduledActivations(tx, family, request.list_key)) {
      const gone = await updateActivationRevoked(tx, activation_id, `Rolled back: ${request.reason}`)
      if (gone) revoked.push(gone)
    }
  }
  const activation = await activateVersion(tx, { ...request, version: to }, 'rollback', family, kernel)
  return { activation, revoked }
}

/** Why a rollback is an emergency, or undefined where it is not. */
export const findBreakGlassReason = (body: unknown): string | undefined =>
  (body as Pick<RollbackBody, 'break_glass'> | undefined)?.break_glass?.reason

/**
 * Where the policy has no rule for rollbacks: one that cancels scheduled activations needs the approval they had, or whoever
 * may roll back could undo alone what others have approved.
 */
export async function findRollbackApprovalRule(
  tx: Tx,
  family: DatasetFamily,
  list_key: string,
  body: unknown,
): Promise<ApprovalRule | undefined> {
  if ((body as Pick<RollbackBody, 'keep_scheduled'>).keep_scheduled) return undefined
  return (await listScheduledActivations(tx, family, list_key)).length > 0
    ? findInheritedRule(tx, 'activation')
    : undefined
}

/** A rollback asks for less than an activation, so it only returns to what was in force with all that an activation asks for. */
async function assertRollbackTarget(tx: Tx, dataset: DatasetRow, to: number, current: ActivationRow): Promise<void> {
  assertOwnedByTenant(tx, dataset)
  await assertNotWithdrawn(tx, dataset, to)
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
export async function assertNotInForce(tx: Tx, dataset: DatasetRow, version: number): Promise<void> {
  await lockActivations(tx, dataset.family, dataset.list_key)
  const governing = await findInForceOrScheduled(tx, dataset, version)
  if (!governing) return
  fail(
    'version_in_force',
    governing.is_scheduled
      ? `Version ${version} of ${dataset.list_key} is scheduled from ${governing.effective_from}: cancel that first.`
      : `Version ${version} of ${dataset.list_key} is in force: put another version in force first.`,
  )
}

/** Takes back what is scheduled. What stays in force instead passes the same gates as if it were put there. */
export async function cancelActivation(
  tx: Tx,
  { list_key, activation_id, reason }: { list_key: string; activation_id: string; reason?: string | undefined },
  family: DatasetFamily = 'list',
  kernel: Capabilities<'reviews'> | null = null,
): Promise<{ activation: ActivationRow; revoked: ActivationRow }> {
  await lockActivations(tx, family, list_key)
  const activation = assertFound(await findActivation(tx, family, list_key, activation_id))
  if (activation.revoked_at !== null) fail('transition_not_allowed', 'It was cancelled already.')
  const { effective_from } = activation
  if (Date.parse(effective_from) <= Date.now()) {
    fail('transition_not_allowed', 'It is in force already; roll back instead.')
  }
  const revoked = await applyWithReview(tx, kernel, { family, list_key, effective_from }, [], () =>
    updateActivationRevoked(tx, activation_id, reason ?? 'Cancelled.'),
  )
  return { activation, revoked: assertFound(revoked) }
}

const MAX_PIN_DAYS = 90

export async function pinVersion(
  tx: Tx,
  request: {
    list_key: string
    version: number
    reason: string
    effective_from?: string | undefined
    expires_at?: string | null | undefined
    cr_id?: string | undefined
  },
  kernel: Capabilities<'reviews'> | null = null,
  family: DatasetFamily = 'list',
): Promise<ActivationRow> {
  await lockActivations(tx, family, request.list_key)
  const shared = await findSharedDataset(tx, request.list_key, family)
  if (!shared) {
    assertFound(await findDataset(tx, request.list_key, family))
    return fail('transition_not_allowed', `${request.list_key} is this tenant's own: put the version in force instead.`)
  }
  await assertNotWithdrawn(tx, shared, request.version)
  const from_ms = request.effective_from === undefined ? Date.now() : Date.parse(request.effective_from)
  const until_ms = request.expires_at ? Date.parse(request.expires_at) : Number.POSITIVE_INFINITY
  const ends = shared.overlay_policy === 'none' || shared.overlay_policy === 'tighten_only'
  if ((ends && until_ms > from_ms + MAX_PIN_DAYS * 86_400_000) || until_ms <= from_ms) {
    return fail(
      'conflict',
      until_ms <= from_ms
        ? 'The pin would end before it begins.'
        : `A pin of this list needs an end (expires_at) at most ${MAX_PIN_DAYS} days after it begins.`,
    )
  }
  const effective_from = request.effective_from ?? null
  const made = await applyWithReview(tx, kernel, { family, list_key: request.list_key, effective_from }, [], () =>
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
  return assertNotOverdue(tx, assertFound(made))
}

export async function unpinVersion(
  tx: Tx,
  list_key: string,
  reason: string,
  cr_id?: string,
  kernel: Capabilities<'reviews'> | null = null,
  family: DatasetFamily = 'list',
): Promise<ActivationRow> {
  await lockActivations(tx, family, list_key)
  const current = await findActivationInForce(tx, family, list_key, 'base')
  if (current?.kind !== 'pin') {
    assertFound(await findDataset(tx, list_key, family))
    return fail('transition_not_allowed', `${list_key} is not pinned.`)
  }
  const made = await applyWithReview(tx, kernel, { family, list_key, effective_from: null }, [], () =>
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
  return assertFound(made)
}
