/** Overlays: a tenant's changes of a shared list, checked against its policy and type, and rebased when the base changes. */
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail, type ProblemError } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  activationStore,
  datasetStore,
  resolver,
  staging,
  typeStore,
  versionStore,
} from '#modules/definitions/index.ts'
import type { Entry } from '#registry/adapter.ts'
import { entryHash } from '#registry/content/hashes.ts'
import type { StagedRow } from '#registry/import/copy-rows.ts'
import {
  applyOverlayEntry,
  type BaseType,
  type ConflictKind,
  evaluateOverlay,
  findConflict,
  findPolicyFault,
  type OverlayEntry,
} from '#registry/overlay.ts'
import { normaliseKey } from '#registry/types/text-rules.ts'
import type { TypeCall } from '#registry/types/type-runner.ts'

import {
  type BaseTypeRow,
  findOverlayBase,
  listOpenEntries,
  type OpenEntryRow,
  type OverlayBaseRow,
  replaceEntries,
  type SharedList,
} from './queries.ts'

export interface OverlayOperation {
  readonly key: string
  readonly op: 'put' | 'merge' | 'remove'
  readonly value?: Entry | undefined
}

/** What an overlay applies to: the shared list, its version in force without any overlay, and the type of that version. */
export interface OverlayBase {
  readonly shared: SharedList
  readonly base: resolver.VersionPointer
  readonly type: BaseTypeRow
  readonly compiled_type: BaseType
  /** The dataset of this tenant's overlays of the list; null where it never had one. */
  readonly overlay: OverlayBaseRow['overlay']
  /** The overlay version in force. */
  readonly overlay_version: number | null
}

export async function getOverlayBase(kernel: Capabilities<'caches'>, tx: Tx, list_key: string): Promise<OverlayBase> {
  const { pointer, overlay, ...row } = assertFound(await findOverlayBase(tx, list_key))
  if (!row.shared && (await datasetStore.findDataset(tx, list_key))) {
    fail('transition_not_allowed', `${list_key} is this tenant's own list: publish a version of it instead.`)
  }
  const shared = assertFound(row.shared ?? undefined)
  const [in_force] = resolver.assertInForce([pointer], [list_key]) as [resolver.VersionPointer]
  const base = { ...in_force, overlay_version: null, overlay_hash: null, overlay_dataset_id: null }
  if (base.via === 'tenant-own') fail('transition_not_allowed', `This tenant has its own list ${list_key}.`)
  const { overlay_version } = in_force
  const type = assertFound(row.type ?? undefined)
  return { shared, base, type, compiled_type: typeStore.getBaseType(kernel, type), overlay, overlay_version }
}

const computeEntryHash = (entry: Entry | undefined): string | null =>
  entry === undefined ? null : entryHash(canonicalJson(entry))

interface AppliedChange {
  readonly change: OverlayEntry
  readonly base: Entry | undefined
  readonly effective: Entry | undefined
}

export async function applyChanges(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  base: resolver.VersionPointer,
  operations: readonly OverlayOperation[],
): Promise<AppliedChange[]> {
  const keys = operations.map(({ key }) => normaliseKey(key))
  const entries = await resolver.lookUpEntries(kernel, tx, base, keys)
  return operations.map(({ op, value }, index) => {
    const key = keys[index] as string
    const base_entry = entries.get(key)
    const written = op === 'remove' ? null : (JSON.parse(canonicalJson(value ?? {})) as Entry)
    const change: OverlayEntry = { key, op, base_hash: computeEntryHash(base_entry), value: written }
    return { change, base: base_entry, effective: applyOverlayEntry(base_entry, change) }
  })
}

/** Fails with 422 and every operation that is malformed, against the policy, or results in an invalid entry. */
export async function assertValidChanges(
  kernel: Capabilities<'threads'>,
  { shared, type }: OverlayBase,
  { operations, applied }: { operations: readonly OverlayOperation[]; applied: readonly AppliedChange[] },
  call: TypeCall,
): Promise<void> {
  const faults: ProblemError[] = []
  const add = (index: number, pointer: string, detail: string) =>
    faults.push({ in: 'body', pointer: `#/entries/${index}${pointer}`, detail })
  const seen = new Set<string>()
  applied.forEach(({ change, base, effective }, index) => {
    const { op, value } = operations[index] as OverlayOperation
    if ((op === 'remove') === (value !== undefined))
      add(index, '/value', op === 'remove' ? 'is not taken by remove' : 'is required')
    if (seen.has(change.key)) add(index, '/key', 'is used more than once')
    seen.add(change.key)
    if (op === 'merge' && base === undefined) {
      add(index, '/key', 'names no entry of the shared list to merge into')
      return
    }
    const fault = findPolicyFault(shared.overlay_policy, type.definition, base, effective)
    if (fault) add(index, '', fault)
  })
  if (faults.length === 0) {
    const effective = applied.flatMap(({ effective: entry }, index) => (entry === undefined ? [] : [{ index, entry }]))
    const checked = await kernel.threads
      .get(typeStore.typeThread)
      .validate(
        typeStore.toTypeDefinition(type),
        effective.map(({ entry }) => entry),
        call,
      )
      .catch(typeStore.failUnusable)
    for (const { index, faults: entry_faults } of checked.faults) {
      for (const { pointer, message } of entry_faults) add(effective[index]?.index ?? 0, `/value${pointer}`, message)
    }
    checked.keys.forEach((key, index) => {
      const at = effective[index]?.index ?? 0
      if (key !== null && key !== applied[at]?.change.key)
        add(at, '/key', `does not agree with the entry, whose key is ${JSON.stringify(key)}`)
    })
  }
  if (faults.length > 0) {
    fail('type_violation', {
      detail:
        faults.length === 1
          ? `The overlay has a fault: ${faults[0]?.detail}`
          : `${faults.length} faults in the overlay.`,
      errors: faults.slice(0, 50),
    })
  }
}

/** The base may have changed between the check and the transaction, so the changes are checked again. */
export function assertStillValid(applied: readonly AppliedChange[], { shared, compiled_type }: OverlayBase): void {
  applied.forEach(({ change, base }, index) => {
    const { refusal } = evaluateOverlay(base, change, shared.overlay_policy, compiled_type)
    if (!refusal) return
    fail('type_violation', {
      detail: 'The shared list has moved meanwhile.',
      errors: [{ in: 'body', pointer: `#/entries/${index}`, detail: refusal.detail }],
    })
  })
}

interface OverlayPublication {
  readonly list_key: string
  readonly changes: readonly OverlayEntry[]
  readonly mode: 'follow' | 'pinned'
  readonly origin: 'overlay' | 'rebase'
  readonly reason: string
  readonly cr_id?: string | undefined
}

/** Publishes and activates the overlay in one transaction under the lock of the list. */
export async function publishOverlay(
  tx: Tx,
  { shared, base, type, overlay: known }: OverlayBase,
  request: OverlayPublication,
): Promise<{ version: versionStore.VersionRow; activation: activationStore.ActivationRow }> {
  const { list_key, changes, mode, origin, reason } = request
  const overlay = known ?? (await datasetStore.findOverlay(tx, list_key)) ?? (await createOverlay(tx, list_key, shared))
  const rows = changes.map(({ key, op, base_hash, value }, index): StagedRow => {
    const text = value === null ? null : canonicalJson(value)
    return { key, op, base_hash, text, hash: entryHash(text ?? ''), row: index + 1 }
  })
  const publication: versionStore.Publication = {
    dataset: overlay,
    type: { tenant_id: type.tenant_id, type_key: type.type_key, type_version: type.type_version },
    content: staging.summarizeRows(rows),
    origin,
    provenance: { base_version: base.version, base_hash: base.content_hash, mode },
    base_version: mode === 'pinned' ? base.version : null,
    note: reason,
    guards: null,
  }
  const version = (await versionStore.publishStaged(
    tx,
    publication,
    createDirectWriter(tx, rows),
  )) as versionStore.VersionRow
  const activation = assertFound(
    await activationStore.insertActivation(tx, {
      activation_id: uuidv7(),
      family: 'list',
      list_key,
      layer: 'overlay',
      kind: 'overlay',
      dataset_tenant_id: tx.tenant_id,
      dataset_id: overlay.dataset_id,
      version: version.version,
      effective_from: null,
      expires_at: null,
      reason,
      cr_id: request.cr_id ?? null,
    }),
  )
  return { version, activation }
}

const createOverlay = async (tx: Tx, list_key: string, shared: SharedList) =>
  assertFound(
    await datasetStore.insertDataset(tx, {
      dataset_id: uuidv7(),
      family: 'list',
      list_key,
      role: 'overlay',
      base_tenant_id: shared.tenant_id,
      base_dataset_id: shared.dataset_id,
      type_tenant_id: shared.type_tenant_id,
      type_key: shared.type_key,
      title: `Overlay on ${shared.title}`.slice(0, 200),
    }),
  )

/** An overlay is small, so it is compared in memory and written without a stage. */
function createDirectWriter(tx: Tx, rows: readonly StagedRow[]): versionStore.ContentWriter {
  let [closed_keys, new_rows]: [string[], readonly StagedRow[]] = [[], rows]
  return {
    async compare(dataset_id, has_head) {
      const head = new Map((has_head ? await listOpenEntries(tx, dataset_id) : []).map((entry) => [entry.key, entry]))
      const kept = new Set(rows.map(({ key }) => key))
      new_rows = rows.filter((row) => !isSame(row, head.get(row.key)))
      const changed = new_rows.filter(({ key }) => head.has(key)).map(({ key }) => key)
      const removed = [...head.keys()].filter((key) => !kept.has(key))
      closed_keys = [...changed, ...removed]
      return { added: new_rows.length - changed.length, removed: removed.length, changed: changed.length }
    },
    apply: (dataset_id, version) => replaceEntries(tx, { dataset_id, version }, closed_keys, new_rows),
  }
}

const isSame = (row: StagedRow, open: OpenEntryRow | undefined): boolean =>
  open !== undefined &&
  open.op === row.op &&
  open.hash.toString('hex') === row.hash &&
  (open.base_hash?.toString('hex') ?? null) === row.base_hash

export interface OverlayConflict {
  readonly key: string
  readonly kind: ConflictKind
  readonly detail: string
  readonly base: Entry | null
  readonly ours: Entry | null
  readonly theirs: Entry | null
}

export interface OverlayComparison extends OverlayBase {
  /** Null where no overlay is in force. */
  readonly version: versionStore.VersionRow | null
  readonly applied: readonly AppliedChange[]
  readonly conflicts: OverlayConflict[]
}

/** Compares the overlay in force with the base in force: the resulting entries and the conflicts. */
export async function compareOverlay(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  list_key: string,
): Promise<OverlayComparison> {
  const overlay_base = await getOverlayBase(kernel, tx, list_key)
  const { base, overlay, overlay_version } = overlay_base
  if (overlay_version === null) return { ...overlay_base, version: null, applied: [], conflicts: [] }
  const version = assertFound(await versionStore.findVersion(tx, assertFound(overlay ?? undefined), overlay_version))
  const changes = await resolver.readOverlay(tx, version)
  const keys = changes.map(({ key }) => key)
  const current = await resolver.lookUpEntries(kernel, tx, base, keys)
  const original = await loadOriginalEntries(kernel, tx, { base, version }, keys)
  return compareWithBase(overlay_base, version, changes, { current, original })
}

/** The same for an overlay that was just activated, from the changes in memory. */
export function compareNewOverlay(
  overlay_base: OverlayBase,
  version: versionStore.VersionRow,
  applied: readonly AppliedChange[],
): OverlayComparison {
  const sorted = [...applied].sort((a, b) => Buffer.compare(Buffer.from(a.change.key), Buffer.from(b.change.key)))
  const entries = new Map(sorted.flatMap(({ change, base }) => (base ? [[change.key, base] as const] : [])))
  const changes = sorted.map(({ change }) => change)
  return compareWithBase({ ...overlay_base, overlay_version: version.version }, version, changes, {
    current: entries,
    original: entries,
  })
}

function compareWithBase(
  overlay_base: OverlayBase,
  version: versionStore.VersionRow,
  changes: readonly OverlayEntry[],
  { current, original }: Record<'current' | 'original', ReadonlyMap<string, Entry>>,
): OverlayComparison {
  const { shared, compiled_type } = overlay_base
  const is_applied = version.base_version === null || version.base_version === overlay_base.base.version
  const applied = changes.map((change) => {
    const theirs = current.get(change.key)
    const result = evaluateOverlay(theirs, change, shared.overlay_policy, compiled_type)
    // Like the resolver: a refused change leaves the shared entry in force.
    return { change, base: theirs, result, effective: is_applied && !result.refusal ? result.effective : theirs }
  })
  const conflicts = applied.flatMap(({ change, base: theirs, result }): OverlayConflict[] => {
    const conflict = findConflict(change, { base: theirs, base_hash: computeEntryHash(theirs) }, result)
    if (!conflict) return []
    return [
      { ...conflict, base: original.get(change.key) ?? null, ours: result.effective ?? null, theirs: theirs ?? null },
    ]
  })
  return { ...overlay_base, version, applied, conflicts }
}

/** The shared entries that the overlay was written against. */
async function loadOriginalEntries(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { base, version }: { base: resolver.VersionPointer; version: versionStore.VersionRow },
  keys: readonly string[],
) {
  const written = (version.provenance as { base_version?: number }).base_version
  if (written === undefined || written === base.version) return resolver.lookUpEntries(kernel, tx, base, keys)
  const old = await versionStore.findVersion(
    tx,
    { tenant_id: base.dataset_tenant_id, dataset_id: base.dataset_id },
    written,
  )
  if (!old) return new Map<string, Entry>()
  return resolver.lookUpEntries(
    kernel,
    tx,
    { ...base, ...old, dataset_tenant_id: base.dataset_tenant_id } as resolver.VersionPointer,
    keys,
  )
}
