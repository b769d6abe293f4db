/**
 * Activations: put a version in force, roll back, pin and unpin. Each takes the lock of the list and passes the gates first.
 */
import type { Static } from 'typebox'
import type { Tx } from '#kernel/database/tx.ts'
import { emit } from '#kernel/events/emit.ts'
import { declareEvent } from '#kernel/events/event-type.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { type ApprovalRule, findInheritedRule } from '#kernel/request/queries.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
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
import { findFrozenGates } from './frozen.ts'
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

export const inForceChanged = declareEvent({
  type: 'definition.in_force_changed',
  summary:
    'A version of a list, matrix, rule or other definition was put in force, scheduled, pinned, rolled back or cancelled.',
  object_kind: 'definition',
  data: { family: 'list, matrix, rule …', effective_from: 'From when; null: at once.' },
})

/** Name of the review that other modules register to check a change of what is in force. */
export const IN_FORCE_REVIEW = 'in-force'
export interface InForceChange {
  readonly family: DatasetFamily
  readonly list_key: string
  /** NULL: at once. */
  readonly effective_from: string | null
}

/**
 * Applies a change between the two phases of every registered review: the state before it, and the gates it closes. Returns
 * all closed gates in one problem, which rolls the transaction back.
 */
export async function applyWithReview<T>(
  tx: Tx,
  kernel: Capabilities<'reviews'> | null,
  change: InForceChange,
  { apply, gates = [] }: { readonly apply: () => Promise<T>; readonly gates?: readonly Gate[] },
): Promise<T> {
  // The list is locked before anything that reviewers lock, so that concurrent changes take locks in one order and
  // cannot deadlock.
  await lockActivations(tx, change.family, change.list_key)
  const reviews = kernel ? await kernel.reviews.begin(IN_FORCE_REVIEW, tx, change) : []
  const result = await apply()
  const closed = [...gates]
  for (const finish of reviews) closed.push(...((await finish()) as readonly Gate[]))
  if (closed.length > 0) failGatesClosed(closed)
  const { family, list_key, effective_from } = change
  // What the operator changes for all tenants is not an event of one of them.
  if (tx.tenant_id !== SYSTEM_TENANT)
    await emit(tx, inForceChanged, { object_id: list_key, restriction_id: null, data: { family, effective_from } })
  return result
}

/** The definition that an operation changes. */
interface DefinitionInput {
  /** A list by default. */
  readonly family?: DatasetFamily
  readonly list_key: string
  readonly reason: string
  readonly cr_id?: string | undefined
}

export interface ActivateInput extends DefinitionInput {
  readonly kind?: 'activate' | 'rollback' | 'seed'
  readonly version: number
  readonly effective_from?: string | undefined
  readonly expected_active?: number | null | undefined
}

/**
 * Without a kernel no review runs: shared definitions are maintained by the operator and each tenant gets findings instead.
 */
export async function activateVersion(
  tx: Tx,
  request: ActivateInput,
  kernel: Capabilities<'reviews'> | null = null,
): Promise<ActivationRow> {
  const { family = 'list', kind = 'activate' } = request
  await lockActivations(tx, family, request.list_key)
  const dataset = assertFound(await findDatasetForWrite(tx, request.list_key, family))
  assertOwnedByTenant(tx, dataset)
  await assertNotWithdrawn(tx, dataset, request.version)
  const effective_from = request.effective_from ?? null
  const change = { family, list_key: request.list_key, effective_from }
  const activation = await applyWithReview(tx, kernel, change, {
    gates: await findClosedGates(tx, dataset, request),
    apply: () =>
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
  })
  return assertNotOverdue(tx, assertFound(activation))
}

/**
 * Refuses an approval that arrives after its start instant, since decisions in between used another version. Checks the
 * stored row, so that the time of the check does not matter.
 */
async function assertNotOverdue(tx: Tx, activation: ActivationRow): Promise<ActivationRow> {
  if (await isOverdue(tx, activation)) {
    fail('approval_void', `The instant has passed (${activation.effective_from}): propose it again.`)
  }
  return activation
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

/** All closed gates, so that the caller can solve them together. */
async function findClosedGates(tx: Tx, dataset: DatasetRow, request: ActivateInput): Promise<Gate[]> {
  const gates: Gate[] = findFrozenGates(dataset)
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

export interface RollbackInput extends DefinitionInput {
  readonly to_version?: number | undefined
  readonly keep_scheduled?: boolean | undefined
  readonly expected_active?: number | null | undefined
}

/** Activates the version that was in force before, and revokes scheduled activations unless `keep_scheduled` is set. */
export async function rollBack(
  tx: Tx,
  request: RollbackInput,
  kernel: Capabilities<'reviews'> | null = null,
): Promise<{ activation: ActivationRow; revoked: ActivationRow[] }> {
  const { family = 'list' } = request
  await lockActivations(tx, family, request.list_key)
  const current = await findActivationInForce(tx, family, request.list_key, 'base')
  if (!current?.version) {
    assertOwnedByTenant(tx, assertFound(await findDatasetForWrite(tx, request.list_key, family)))
    return fail('nothing_in_force', `No version of ${request.list_key} is in force to roll back from.`)
  }
  if (request.to_version === undefined && current.kind === 'rollback') {
    // The previous version is the one that was rolled back from, so repeating the request would restore it.
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
      const row = await updateActivationRevoked(tx, activation_id, `Rolled back: ${request.reason}`)
      if (row) revoked.push(row)
    }
  }
  const activation = await activateVersion(tx, { ...request, kind: 'rollback', version: to }, kernel)
  return { activation, revoked }
}

/** The reason of an emergency rollback; undefined for an ordinary one. */
export const findBreakGlassReason = (body: unknown): string | undefined =>
  (body as Pick<RollbackBody, 'break_glass'> | undefined)?.break_glass?.reason

/**
 * The default when the policy has no rule for rollbacks: cancelling scheduled activations needs the same approval as
 * scheduling them. Otherwise one person could undo what others approved.
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

/** A rollback needs fewer approvals than an activation, so its target must have passed an activation before. */
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

/** Withdrawing does not end an activation, so another version must replace this one first. */
export async function assertNotInForce(tx: Tx, dataset: DatasetRow, version: number): Promise<void> {
  await lockActivations(tx, dataset.family, dataset.list_key)
  const activation = await findInForceOrScheduled(tx, dataset, version)
  if (!activation) return
  fail(
    'version_in_force',
    activation.is_scheduled
      ? `Version ${version} of ${dataset.list_key} is scheduled from ${activation.effective_from}: cancel that first.`
      : `Version ${version} of ${dataset.list_key} is in force: put another version in force first.`,
  )
}

/** Revokes a scheduled activation. The version that stays in force passes the same gates as a new activation. */
export async function cancelActivation(
  tx: Tx,
  request: Omit<DefinitionInput, 'reason'> & { readonly activation_id: string; readonly reason?: string | undefined },
  kernel: Capabilities<'reviews'> | null = null,
): Promise<{ activation: ActivationRow; revoked: ActivationRow }> {
  const { family = 'list', list_key, activation_id, reason } = request
  await lockActivations(tx, family, list_key)
  const activation = assertFound(await findActivation(tx, family, list_key, activation_id))
  if (activation.revoked_at !== null) fail('transition_not_allowed', 'It was cancelled already.')
  const { effective_from } = activation
  if (Date.parse(effective_from) <= Date.now()) {
    fail('transition_not_allowed', 'It is in force already; roll back instead.')
  }
  const revoked = await applyWithReview(
    tx,
    kernel,
    { family, list_key, effective_from },
    {
      apply: () => updateActivationRevoked(tx, activation_id, reason ?? 'Cancelled.'),
    },
  )
  return { activation, revoked: assertFound(revoked) }
}

const MAX_PIN_DAYS = 90

export interface PinInput extends DefinitionInput {
  readonly version: number
  readonly effective_from?: string | undefined
  readonly expires_at?: string | null | undefined
}

export async function pinVersion(
  tx: Tx,
  request: PinInput,
  kernel: Capabilities<'reviews'> | null = null,
): Promise<ActivationRow> {
  const { family = 'list' } = request
  await lockActivations(tx, family, request.list_key)
  const shared = await findSharedDataset(tx, request.list_key, family)
  if (!shared) {
    assertFound(await findDataset(tx, request.list_key, family))
    return fail('transition_not_allowed', `${request.list_key} is this tenant's own: put the version in force instead.`)
  }
  await assertNotWithdrawn(tx, shared, request.version)
  const from_ms = request.effective_from === undefined ? Date.now() : Date.parse(request.effective_from)
  const until_ms = request.expires_at ? Date.parse(request.expires_at) : Number.POSITIVE_INFINITY
  const needs_end = shared.overlay_policy === 'none' || shared.overlay_policy === 'tighten_only'
  if ((needs_end && until_ms > from_ms + MAX_PIN_DAYS * 86_400_000) || until_ms <= from_ms) {
    return fail(
      'conflict',
      until_ms <= from_ms
        ? 'The pin would end before it begins.'
        : `A pin of this list needs an end (expires_at) at most ${MAX_PIN_DAYS} days after it begins.`,
    )
  }
  const effective_from = request.effective_from ?? null
  const activation = await applyWithReview(
    tx,
    kernel,
    { family, list_key: request.list_key, effective_from },
    {
      apply: () =>
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
    },
  )
  return assertNotOverdue(tx, assertFound(activation))
}

export async function unpinVersion(
  tx: Tx,
  request: DefinitionInput,
  kernel: Capabilities<'reviews'> | null = null,
): Promise<ActivationRow> {
  const { family = 'list', list_key, reason, cr_id } = request
  await lockActivations(tx, family, list_key)
  const current = await findActivationInForce(tx, family, list_key, 'base')
  if (current?.kind !== 'pin') {
    assertFound(await findDataset(tx, list_key, family))
    return fail('transition_not_allowed', `${list_key} is not pinned.`)
  }
  const activation = await applyWithReview(
    tx,
    kernel,
    { family, list_key, effective_from: null },
    {
      apply: () =>
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
    },
  )
  return assertFound(activation)
}
