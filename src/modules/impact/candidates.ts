/**
 * The candidate of a run: a version of a list, matrix, rule or plugin, a draft, or what a change request would activate. It is stored by
 * content, so that it stays the same while the run goes on. Nothing here changes what is in force.
 */
import { createHash } from 'node:crypto'
import type { DefinitionFamily } from '#decision/model.ts'
import { AuditNotesCollector } from '#kernel/audit/record.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { type ChangeRequestRow, dryRunInSavepoint } from '#kernel/request/queries.ts'
import type { Actor, RequestMetadata } from '#kernel/route.ts'
import { type datasetStore, documentStore, resolver, type versionStore } from '#modules/definitions/index.ts'
import { readDefinition } from '#modules/risk-matrices/index.ts'
import type { OverlayEntry } from '#registry/overlay.ts'

export interface Target {
  readonly family: datasetStore.DatasetFamily
  readonly key: string
}

export interface Candidate extends Target {
  /** The version as a receipt would pin it; null for a draft. */
  readonly pin: resolver.PinnedVersion | null
  /** The draft when the run started. */
  readonly definition: Readonly<Record<string, unknown>> | null
  /** The overlay that would apply to a shared list; null where the pin names it. */
  readonly overlay: CandidateOverlay | null
  readonly content_hash: string
}
export interface CandidateOverlay {
  readonly entries: readonly OverlayEntry[]
  /** The base version that the overlay requires; null for any. */
  readonly base_version: number | null
  readonly hash: string
}

const toPin = (pointer: resolver.ContentPointer): resolver.PinnedVersion =>
  resolver.toPins([pointer])[0] as resolver.PinnedVersion

const toStoredCandidate = (target: Target, pointer: resolver.ContentPointer): Candidate => ({
  ...target,
  pin: toPin(pointer),
  definition: null,
  overlay: null,
  content_hash: pointer.content_hash,
})

/** The version as the tenant would see it: with the overlay in force, for a shared list. */
export async function createListCandidate(
  tx: Tx,
  dataset: datasetStore.DatasetRow,
  version: versionStore.VersionRow,
): Promise<Candidate> {
  const target = { family: 'list' as const, key: dataset.list_key }
  const own = documentStore.toContentPointer(dataset, version)
  if (dataset.tenant_id === tx.tenant_id) return toStoredCandidate(target, own)
  const now = (await resolver.findPointersInForce(tx, [dataset.list_key], {})).get(dataset.list_key)
  if (!now) return toStoredCandidate(target, { ...own, via: 'tenant-pin' })
  const { overlay_dataset_id, overlay_version, overlay_hash, overlay_count, overlay_base_version } = now
  const over = { overlay_dataset_id, overlay_version, overlay_hash, overlay_count, overlay_base_version }
  return toStoredCandidate(target, { ...own, via: 'tenant-pin', ...over })
}

/** A draft must compile; completeness is checked when it is published. */
export async function createDefinitionCandidate(
  tx: Tx,
  { dataset, text, version }: documentStore.VersionOrDraft,
): Promise<Candidate> {
  const target = { family: dataset.family, key: dataset.list_key }
  if (version) return toStoredCandidate(target, documentStore.toContentPointer(dataset, version))
  const { compiled, findings } = await readDefinition(tx, { family: dataset.family as DefinitionFamily, text })
  if (!compiled) documentStore.assertNoErrors(findings)
  return { ...target, pin: null, definition: text, overlay: null, content_hash: hashText(text) }
}

export const hashText = (text: Readonly<Record<string, unknown>>): string =>
  createHash('sha256').update(canonicalJson(text)).digest('hex')

/** Actions that activate another version; a policy may require a run before they are approved. */
const ACTIVATING_ACTIONS: readonly string[] = ['activation', 'overlay', 'rollback']
/** Rollbacks can be measured, but must never wait for a run. */
export const MEASURED_ACTIONS: readonly string[] = ACTIVATING_ACTIONS.filter((action) => action !== 'rollback')

const PARAMS: readonly [name: string, family: datasetStore.DatasetFamily][] = [
  ['list_key', 'list'],
  ['matrix_key', 'matrix'],
  ['rule_key', 'rule'],
  ['plugin_key', 'plugin'],
]

/** Executes the stored request as a dry run in a savepoint and reads what would be in force. */
export async function createRequestCandidate(
  kernel: Capabilities<'auditKeys' | 'routes' | 'runHandler'>,
  tx: Tx,
  request: ChangeRequestRow,
  by: { readonly actor: Actor; readonly request: RequestMetadata },
): Promise<Candidate> {
  const governed = kernel.routes.find(({ id }) => id === request.operation)?.governed
  const target = findTarget(request)
  if (!governed || !target || !ACTIVATING_ACTIONS.includes(request.action)) {
    return fail('transition_not_allowed', 'It puts no other version in force, so there is no impact to measure.')
  }
  if ((await governed.head(tx, { ...request.params })) !== request.head) fail('approval_void')
  const [before] = await findPointers(tx, target, undefined)
  let made: Candidate | undefined
  await dryRunInSavepoint(tx, async () => {
    await kernel.runHandler(request.operation, {
      tx,
      actor: by.actor,
      audit: new AuditNotesCollector(kernel.auditKeys),
      params: request.params,
      query: request.query,
      body: request.body ?? undefined,
      request: { ...by.request, if_match: undefined, change_request_id: request.cr_id },
    })
    const [after] = await findPointers(tx, target, getScheduledInstant(request.body))
    made = after && (await toCandidate(tx, target, before, after))
  })
  return made ?? fail('nothing_in_force')
}

export function findTarget({ params }: Pick<ChangeRequestRow, 'params'>): Target | undefined {
  const found = PARAMS.find(([name]) => params[name] !== undefined)
  return found && { family: found[1], key: params[found[0]] as string }
}

const findPointers = async (
  tx: Tx,
  { family, key }: Target,
  valid_at: string | undefined,
): Promise<resolver.VersionPointer[]> => [
  ...(await resolver.findPointersInForce(tx, [key], { valid_at }, family)).values(),
]

/** A scheduled activation is read as of its effective time. */
function getScheduledInstant(body: unknown): string | undefined {
  const { effective_from } = (body ?? {}) as { effective_from?: string }
  return effective_from !== undefined && Date.parse(effective_from) > Date.now() ? effective_from : undefined
}

/** An overlay that exists only in the dry run is stored by its entries, because its version number may be used again. */
async function toCandidate(
  tx: Tx,
  target: Target,
  before: resolver.VersionPointer | undefined,
  after: resolver.VersionPointer,
): Promise<Candidate> {
  const { overlay_version: version, overlay_dataset_id: dataset_id, overlay_hash: hash } = after
  const isKnown = before?.overlay_dataset_id === dataset_id && before?.overlay_version === version
  if (version === null || dataset_id === null || hash === null || isKnown) return toStoredCandidate(target, after)
  const entries = await resolver.readOverlay(tx, { dataset_id, version, content_hash: hash })
  return {
    ...toStoredCandidate(target, withoutOverlay(after)),
    overlay: { entries, base_version: after.overlay_base_version, hash },
    content_hash: hash,
  }
}

const withoutOverlay = <P extends resolver.ContentPointer>(pointer: P): P => ({
  ...pointer,
  overlay_dataset_id: null,
  overlay_version: null,
  overlay_hash: null,
  overlay_count: null,
  overlay_base_version: null,
})
