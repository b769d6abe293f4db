/** Laying a tenant's changes over a shared list: checked against its policy and type, and rebased when the base moves. */
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { fail, found, type ProblemError } from '../../../kernel/problem.ts'
import { uuidv7 } from '../../../kernel/uuid.ts'
import type { Entry } from '../../../registry/adapter.ts'
import { entryHash } from '../../../registry/content/hashes.ts'
import type { StagedRow } from '../../../registry/import/copy-rows.ts'
import {
  applyOverlay,
  type ConflictKind,
  conflictOf,
  layOver,
  type OverlayEntry,
  policyFault,
} from '../../../registry/overlay.ts'
import { normaliseKey } from '../../../registry/types/text-rules.ts'
import type { TypeCall } from '../../../registry/types/type-runner.ts'
import { type ActivationRow, insertActivation } from '../activations/queries.ts'
import { findDataset, findOverlay, insertDataset } from '../datasets/queries.ts'
import { expectInForce, lookUp, type Pointer, readOverlay } from '../resolve/actions.ts'
import { baseTypeOf, definitionOf, failUnusable, typeRunner } from '../types/actions.ts'
import { contentOf, type Exchange, type Publication, publishStaged } from '../versions/actions.ts'
import { findVersion, type VersionRow } from '../versions/queries.ts'
import {
  type BaseTypeRow,
  exchangeEntries,
  findGround,
  type GroundRow,
  listOpenEntries,
  type OpenEntryRow,
  type SharedList,
} from './queries.ts'

export interface Operation {
  readonly key: string
  readonly op: 'put' | 'merge' | 'remove'
  readonly value?: Entry | undefined
}

/** What an overlay lies on: the shared list, the version in force of it without any overlay, and the type of that. */
export interface Ground {
  readonly shared: SharedList
  readonly base: Pointer
  readonly type: BaseTypeRow
  /** Where this tenant's overlays of it are kept; null where it has had none. */
  readonly overlay: GroundRow['overlay']
  /** The one in force. */
  readonly overlay_version: number | null
}

export async function groundOf(tx: Tx, list_key: string): Promise<Ground> {
  const { pointer, overlay, ...row } = found(await findGround(tx, list_key))
  if (!row.shared && (await findDataset(tx, list_key))) {
    fail('transition_not_allowed', `${list_key} is this tenant's own list: publish a version of it instead.`)
  }
  const shared = found(row.shared ?? undefined)
  const [in_force] = expectInForce([pointer], [list_key]) as [Pointer]
  const base = { ...in_force, overlay_version: null, overlay_hash: null, overlay_dataset_id: null }
  if (base.via === 'tenant-own') fail('transition_not_allowed', `This tenant has its own list ${list_key}.`)
  const { overlay_version } = in_force
  return { shared, base, type: found(row.type ?? undefined), overlay, overlay_version }
}

const hashOf = (entry: Entry | undefined): string | null =>
  entry === undefined ? null : entryHash(canonicalJson(entry))

interface Laid {
  readonly change: OverlayEntry
  readonly base: Entry | undefined
  readonly effective: Entry | undefined
}

export async function layAll(kernel: Kernel, tx: Tx, base: Pointer, operations: readonly Operation[]): Promise<Laid[]> {
  const keys = operations.map(({ key }) => normaliseKey(key))
  const entries = await lookUp(kernel, tx, base, keys)
  return operations.map(({ op, value }, index) => {
    const key = keys[index] as string
    const under = entries.get(key)
    const written = op === 'remove' ? null : (JSON.parse(canonicalJson(value ?? {})) as Entry)
    const change: OverlayEntry = { key, op, base_hash: hashOf(under), value: written }
    return { change, base: under, effective: applyOverlay(under, change) }
  })
}

/** 422 with every operation that is malformed, against the policy, or gives an entry the type refuses. */
export async function expectSound(
  kernel: Kernel,
  laid: readonly Laid[],
  operations: readonly Operation[],
  { shared, type }: Ground,
  call: TypeCall,
): Promise<void> {
  const faults: ProblemError[] = []
  const add = (index: number, pointer: string, detail: string) =>
    faults.push({ in: 'body', pointer: `#/entries/${index}${pointer}`, detail })
  const seen = new Set<string>()
  laid.forEach(({ change, base, effective }, index) => {
    const { op, value } = operations[index] as Operation
    if ((op === 'remove') === (value !== undefined))
      add(index, '/value', op === 'remove' ? 'is not taken by remove' : 'is required')
    if (seen.has(change.key)) add(index, '/key', 'stands more than once')
    seen.add(change.key)
    if (op === 'merge' && base === undefined) {
      add(index, '/key', 'names no entry of the shared list to merge into')
      return
    }
    const fault = policyFault(shared.overlay_policy, type.definition, base, effective)
    if (fault) add(index, '', fault)
  })
  if (faults.length === 0) {
    const effective = laid.flatMap(({ effective: entry }, index) => (entry === undefined ? [] : [{ index, entry }]))
    const checked = await typeRunner(kernel)
      .validate(
        definitionOf(type),
        effective.map(({ entry }) => entry),
        call,
      )
      .catch(failUnusable)
    for (const { index, faults: found_faults } of checked.faults) {
      for (const { pointer, message } of found_faults) add(effective[index]?.index ?? 0, `/value${pointer}`, message)
    }
    checked.keys.forEach((key, index) => {
      const at = effective[index]?.index ?? 0
      if (key !== null && key !== laid[at]?.change.key)
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

/** The base may have moved between the check and the transaction; nothing is published that it would not take. */
export function expectStillSound(laid: readonly Laid[], { shared, type }: Ground): void {
  laid.forEach(({ change, base }, index) => {
    const { refusal } = layOver(base, change, shared.overlay_policy, baseTypeOf(type))
    if (!refusal) return
    fail('type_violation', {
      detail: 'The shared list has moved meanwhile.',
      errors: [{ in: 'body', pointer: `#/entries/${index}`, detail: refusal.detail }],
    })
  })
}

/** Publishes the overlay and puts it in force, in one transaction that holds the lock of the list. */
export async function publishOverlay(
  tx: Tx,
  list_key: string,
  changes: readonly OverlayEntry[],
  { shared, base, type, overlay: known }: Ground,
  how: { mode: 'follow' | 'pinned'; origin: 'overlay' | 'rebase'; reason: string; cr_id?: string | undefined },
): Promise<{ version: VersionRow; activation: ActivationRow }> {
  const overlay = known ?? (await findOverlay(tx, list_key)) ?? (await createOverlay(tx, list_key, shared))
  const rows = changes.map(({ key, op, base_hash, value }, index): StagedRow => {
    const text = value === null ? null : canonicalJson(value)
    return { key, op, base_hash, text, hash: entryHash(text ?? ''), row: index + 1 }
  })
  const publication: Publication = {
    dataset: overlay,
    type: { tenant_id: type.tenant_id, type_key: type.type_key, type_version: type.type_version },
    content: contentOf(rows),
    origin: how.origin,
    provenance: { base_version: base.version, base_hash: base.content_hash, mode: how.mode },
    base_version: how.mode === 'pinned' ? base.version : null,
    note: how.reason,
    guards: null,
  }
  const version = (await publishStaged(tx, publication, inOneStatement(tx, rows))) as VersionRow
  const activation = found(
    await insertActivation(tx, {
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
      reason: how.reason,
      cr_id: how.cr_id ?? null,
    }),
  )
  return { version, activation }
}

const createOverlay = async (tx: Tx, list_key: string, shared: SharedList) =>
  found(
    await insertDataset(tx, {
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

/** An overlay is small: it is compared here, and exchanged without a stage. */
function inOneStatement(tx: Tx, rows: readonly StagedRow[]): Exchange {
  let [ended, began]: [string[], readonly StagedRow[]] = [[], rows]
  return {
    async compare(dataset_id, has_head) {
      const head = new Map((has_head ? await listOpenEntries(tx, dataset_id) : []).map((entry) => [entry.key, entry]))
      const kept = new Set(rows.map(({ key }) => key))
      began = rows.filter((row) => !isSame(row, head.get(row.key)))
      const changed = began.filter(({ key }) => head.has(key)).map(({ key }) => key)
      const removed = [...head.keys()].filter((key) => !kept.has(key))
      ended = [...changed, ...removed]
      return { added: began.length - changed.length, removed: removed.length, changed: changed.length }
    },
    apply: (dataset_id, version) => exchangeEntries(tx, { dataset_id, version }, ended, began),
  }
}

const isSame = (row: StagedRow, open: OpenEntryRow | undefined): boolean =>
  open !== undefined &&
  open.op === row.op &&
  open.hash.toString('hex') === row.hash &&
  (open.base_hash?.toString('hex') ?? null) === row.base_hash

export interface Conflict {
  readonly key: string
  readonly kind: ConflictKind
  readonly detail: string
  readonly base: Entry | null
  readonly ours: Entry | null
  readonly theirs: Entry | null
}

export interface Examined extends Ground {
  /** Null where no overlay is in force. */
  readonly version: VersionRow | null
  readonly laid: readonly Laid[]
  readonly conflicts: Conflict[]
}

/** The overlay in force against the base in force: what it makes of each entry, and where the two disagree by now. */
export async function examine(kernel: Kernel, tx: Tx, list_key: string): Promise<Examined> {
  const ground = await groundOf(tx, list_key)
  const { base, overlay, overlay_version } = ground
  if (overlay_version === null) return { ...ground, version: null, laid: [], conflicts: [] }
  const version = found(await findVersion(tx, found(overlay ?? undefined), overlay_version))
  const changes = await readOverlay(tx, version)
  const keys = changes.map(({ key }) => key)
  const now = await lookUp(kernel, tx, base, keys)
  return compared(ground, version, changes, now, await entriesThen(kernel, tx, base, version, keys))
}

/** The same of one that has just been put in force, as it was laid. */
export function examineNew(ground: Ground, version: VersionRow, laid: readonly Laid[]): Examined {
  const inOrder = [...laid].sort((a, b) => Buffer.compare(Buffer.from(a.change.key), Buffer.from(b.change.key)))
  const entries = new Map(inOrder.flatMap(({ change, base }) => (base ? [[change.key, base] as const] : [])))
  const changes = inOrder.map(({ change }) => change)
  return compared({ ...ground, overlay_version: version.version }, version, changes, entries, entries)
}

function compared(
  ground: Ground,
  version: VersionRow,
  changes: readonly OverlayEntry[],
  now: ReadonlyMap<string, Entry>,
  then: ReadonlyMap<string, Entry>,
): Examined {
  const { shared, type } = ground
  const lies = version.base_version === null || version.base_version === ground.base.version
  const laid = changes.map((change) => {
    const theirs = now.get(change.key)
    const made = layOver(theirs, change, shared.overlay_policy, baseTypeOf(type))
    // As the resolver has it: a change that is not taken leaves the shared entry in force.
    return { change, base: theirs, made, effective: lies && !made.refusal ? made.effective : theirs }
  })
  const conflicts = laid.flatMap(({ change, base: theirs, made }): Conflict[] => {
    const conflict = conflictOf(change, { base: theirs, base_hash: hashOf(theirs) }, made)
    if (!conflict) return []
    return [{ ...conflict, base: then.get(change.key) ?? null, ours: made.effective ?? null, theirs: theirs ?? null }]
  })
  return { ...ground, version, laid, conflicts }
}

/** The shared entries the overlay was written against. */
async function entriesThen(kernel: Kernel, tx: Tx, base: Pointer, version: VersionRow, keys: readonly string[]) {
  const written = (version.provenance as { base_version?: number }).base_version
  if (written === undefined || written === base.version) return lookUp(kernel, tx, base, keys)
  const old = await findVersion(tx, { tenant_id: base.dataset_tenant_id, dataset_id: base.dataset_id }, written)
  if (!old) return new Map<string, Entry>()
  return lookUp(kernel, tx, { ...base, ...old, dataset_tenant_id: base.dataset_tenant_id } as Pointer, keys)
}
