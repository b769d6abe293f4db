/** Routes of overlays: a tenant's changes of a shared list, and their rebase when the shared list changes. */
import { everyone } from '#kernel/auth/roles.ts'
import { requestScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { activationStore, datasetStore, registrySchemas, resolver } from '#modules/definitions/index.ts'
import type { OverlayEntry } from '#registry/overlay.ts'

import {
  applyChanges,
  assertStillValid,
  assertValidChanges,
  compareNewOverlay,
  compareOverlay,
  getOverlayBase,
  type OverlayComparison,
  type OverlayConflict,
  type OverlayOperation,
  publishOverlay,
} from './overlay.ts'
import { OverlayRequest, OverlayView, RebaseReply, RebaseRequest } from './schema.ts'

/** A proposal depends on the base it was checked against, so it is void when the base changes. */
const getOverlayHead = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
  const clocks = { valid_at: null, known_at: null }
  const [now] = await resolver.listPointers(tx, [params['list_key'] as string], clocks)
  return `${now?.activation_id ?? 'none'} ${now?.overlay_activation_id ?? 'none'}`
}

/** A tenant's own list has no overlay; the reply says so instead of 404. */
async function toOwnListView(tx: Tx, list_key: string) {
  const own = (await datasetStore.findSharedDataset(tx, list_key))
    ? undefined
    : await datasetStore.findDataset(tx, list_key)
  return own && { list_key, overlay_policy: own.overlay_policy, base: null, overlay: null, conflicts: [] }
}

function toOverlayView(list_key: string, { shared, base, version, applied, conflicts }: OverlayComparison) {
  return {
    list_key,
    overlay_policy: shared.overlay_policy,
    base: resolver.toResolvedListView(base),
    overlay: version && {
      version: version.version,
      content_hash: version.content_hash,
      base_version: version.base_version,
      created_at: version.created_at,
      created_by: version.created_by,
      entries: applied.map(({ change: { key, op, value }, effective }) => ({
        key,
        op,
        value,
        effective: effective ?? null,
      })),
    },
    conflicts,
  }
}

/** An overlay takes effect immediately, without a schedule. */
const toImmediateChange = (list_key: string) => ({ family: 'list' as const, list_key, effective_from: null })

/** How many entries of an overlay an approver is shown before and after; the request holds all of them. */
const MAX_PREVIEWED_ENTRIES = 100

/** The entries that an overlay changes, as the shared list has them or as they would become. */
const toEntryPreview = (applied: Awaited<ReturnType<typeof applyChanges>>, side: 'base' | 'effective') =>
  Object.fromEntries(
    applied.slice(0, MAX_PREVIEWED_ENTRIES).map((entry) => [`entry ${entry.change.key}`, entry[side] ?? null]),
  )

export const overlayRoutes = [
  tenantRoute('GET /reference-data/datasets/:list_key/overlay', {
    id: 'getOverlay',
    summary: 'This tenant’s overlay of a shared list, with the resulting entries and conflicts',
    roles: everyone,
    tx: 'read',
    uses: ['caches'],
    params: registrySchemas.ListKeyParams,
    reply: [200, OverlayView],
    problems: ['not_found', 'nothing_in_force', 'transition_not_allowed', 'content_corrupt'],
  }).handle(async ({ tx, params: { list_key }, kernel }) => {
    return (await toOwnListView(tx, list_key)) ?? toOverlayView(list_key, await compareOverlay(kernel, tx, list_key))
  }),

  tenantRoute('PUT /reference-data/datasets/:list_key/overlay', {
    id: 'updateOverlay',
    summary: 'Replace the overlay: put, merge or remove entries of a shared list, as its policy allows',
    roles: ['policy_editor', 'compliance_officer'],
    tx: 'write',
    uses: ['transactions', 'caches', 'threads', 'reviews'],
    params: registrySchemas.ListKeyParams,
    body: OverlayRequest,
    reply: [200, OverlayView],
    governed: { action: 'overlay', head: getOverlayHead },
    problems: [
      'not_found',
      'nothing_in_force',
      'transition_not_allowed',
      'type_violation',
      'gates_closed',
      'content_corrupt',
    ],
    beforeTransaction: async ({ params, body, kernel, actor, request }) => {
      const operations = body.entries as OverlayOperation[]
      const { applied, overlay_base } = await kernel.transactions.read(requestScope(actor), async (tx) => {
        const found = await getOverlayBase(kernel, tx, params.list_key)
        return { overlay_base: found, applied: await applyChanges(kernel, tx, found.base, operations) }
      })
      await assertValidChanges(
        kernel,
        overlay_base,
        { operations, applied },
        { caller: actor.tenant_id, signal: request.signal },
      )
    },
  }).handle(async ({ tx, params, body, kernel, audit, request }) => {
    const overlay_base = await getOverlayBase(kernel, tx, params.list_key)
    const applied = await applyChanges(kernel, tx, overlay_base.base, body.entries as OverlayOperation[])
    assertStillValid(applied, overlay_base)
    const changes = applied.map(({ change }) => change)
    const publication = {
      list_key: params.list_key,
      changes,
      mode: body.mode ?? 'follow',
      origin: 'overlay' as const,
      reason: body.reason,
      cr_id: request.change_request_id,
    }
    const { version } = await activationStore.applyWithReview(tx, kernel, toImmediateChange(params.list_key), {
      apply: () => publishOverlay(tx, overlay_base, publication),
    })
    audit.recordDiff(null, { overlay: version.version, content_hash: version.content_hash, reason: body.reason })
    audit.recordPreview(toEntryPreview(applied, 'base'), {
      ...toEntryPreview(applied, 'effective'),
      reason: body.reason,
    })
    return toOverlayView(params.list_key, compareNewOverlay(overlay_base, version, applied))
  }),

  tenantRoute('DELETE /reference-data/datasets/:list_key/overlay', {
    id: 'deleteOverlay',
    summary: 'Return to the shared list; the overlay’s versions stay readable in the timeline',
    roles: ['policy_editor', 'compliance_officer'],
    tx: 'write',
    uses: ['reviews'],
    params: registrySchemas.ListKeyParams,
    query: registrySchemas.RevokeQuery,
    reply: [204, null],
    governed: { action: 'overlay', head: getOverlayHead },
    problems: ['not_found', 'transition_not_allowed', 'gates_closed'],
  }).handle(async ({ tx, params, query, request, kernel, audit }) => {
    await activationStore.lockActivations(tx, 'list', params.list_key)
    const current = await activationStore.findActivationInForce(tx, 'list', params.list_key, 'overlay')
    if (!current) return fail('not_found')
    if (current.version === null) return fail('transition_not_allowed', 'There is no overlay in force.')
    await activationStore.applyWithReview(tx, kernel, toImmediateChange(params.list_key), {
      apply: () =>
        activationStore.insertActivation(tx, {
          activation_id: uuidv7(),
          family: 'list',
          list_key: params.list_key,
          layer: 'overlay',
          kind: 'overlay-removed',
          dataset_tenant_id: null,
          dataset_id: null,
          version: null,
          effective_from: null,
          expires_at: null,
          reason: query.reason ?? 'Returned to the shared list.',
          cr_id: request.change_request_id ?? null,
        }),
    })
    audit.recordDiff({ overlay: current.version }, { overlay: null, reason: query.reason ?? null })
    return undefined
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/overlay/rebase', {
    id: 'rebaseOverlay',
    summary: 'Rebase the overlay on the shared version in force; conflicts are listed with base, ours and theirs',
    roles: ['policy_editor', 'compliance_officer'],
    tx: 'write',
    uses: ['caches', 'reviews'],
    params: registrySchemas.ListKeyParams,
    body: RebaseRequest,
    reply: [200, RebaseReply],
    governed: {
      action: 'overlay',
      head: getOverlayHead,
      skipApprovalIf: (body) => (body as { apply?: boolean } | undefined)?.apply !== true,
    },
    problems: ['not_found', 'nothing_in_force', 'transition_not_allowed', 'gates_closed', 'content_corrupt'],
  }).handle(async ({ tx, params, body, kernel, audit, request }) => {
    const { version, applied, conflicts, ...overlay_base } = await compareOverlay(kernel, tx, params.list_key)
    if (!version) return fail('not_found', 'There is no overlay in force.')
    const resolutions = body.resolutions ?? {}
    const byKey = new Map(conflicts.map((conflict) => [conflict.key, conflict]))
    const dropped = conflicts.filter(({ kind }) => kind === 'redundant').map(({ key }) => key)
    const merges = new Set(applied.filter(({ change }) => change.op === 'merge').map(({ change }) => change.key))
    // "ours" cannot be kept where policy or type forbid it, or where the entry to merge into is gone.
    const isOursImpossible = ({ key, kind }: OverlayConflict) =>
      kind === 'policy-violating' || kind === 'invalid' || (kind === 'removed' && merges.has(key))
    const open = conflicts.filter(
      (conflict) =>
        conflict.kind !== 'redundant' &&
        (isOursImpossible(conflict) ? resolutions[conflict.key] !== 'theirs' : !resolutions[conflict.key]),
    )
    const report = { list_key: params.list_key, clean: applied.length - conflicts.length, dropped, conflicts }
    if (!body.apply) return { ...report, applied: false, version: null }
    if (open.length > 0) {
      return fail('gates_closed', {
        detail: `${open.length === 1 ? '1 entry is' : `${open.length} entries are`} in conflict; say ours or theirs for each, theirs where ours cannot be kept.`,
        members: {
          gates: open.map(({ key, kind, detail }) => ({
            gate: 'overlay-conflict',
            detail,
            overridable: false,
            facts: { key, kind },
          })),
        },
      })
    }
    const kept = applied
      .filter(({ change }) => byKey.get(change.key)?.kind !== 'redundant' && resolutions[change.key] !== 'theirs')
      .map(
        ({ change }): OverlayOperation => ({
          key: change.key,
          op: change.op,
          ...(change.value && { value: change.value }),
        }),
      )
    if (kept.length === 0) {
      return fail('transition_not_allowed', 'Nothing of the overlay would be left; delete it instead.')
    }
    const changes: OverlayEntry[] = (await applyChanges(kernel, tx, overlay_base.base, kept)).map(
      ({ change }) => change,
    )
    const rebased = await activationStore.applyWithReview(tx, kernel, toImmediateChange(params.list_key), {
      apply: () =>
        publishOverlay(tx, overlay_base, {
          list_key: params.list_key,
          changes,
          mode: version.base_version === null ? 'follow' : 'pinned',
          origin: 'rebase',
          reason: body.reason ?? 'Rebased.',
          cr_id: request.change_request_id,
        }),
    })
    audit.recordDiff(
      { overlay: version.version },
      { overlay: rebased.version.version, base_version: overlay_base.base.version },
    )
    return { ...report, applied: true, version: rebased.version.version }
  }),
]
