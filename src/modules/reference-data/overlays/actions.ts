/** Laying a tenant's changes over a shared list: checked against its policy and type, and rebased when the base moves. */
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { fail, found, type ProblemError } from '../../../kernel/problem.ts'
import { uuidv7 } from '../../../kernel/uuid.ts'
import type { Entry } from '../../../registry/adapter.ts'
import { entryHash } from '../../../registry/content/hashes.ts'
import {
  applyOverlay,
  type ConflictKind,
  conflictOf,
  layOver,
  type OverlayEntry,
  policyFault,
} from '../../../registry/overlay.ts'
import { type ActivationRow, insertActivation, lockActivations } from '../activations/queries.ts'
import { type DatasetRow, findOverlay, findSharedDataset, insertDataset } from '../datasets/queries.ts'
import { definitionOf } from '../imports/actions.ts'
import { expectInForce, lookUp, type Pointer, readOverlay } from '../resolve/actions.ts'
import { resolveLists } from '../resolve/queries.ts'
import { baseTypeOf, failUnusable, typeRunner } from '../types/actions.ts'
import { findTypeVersion, type TypeRow } from '../types/queries.ts'
import { publishStaged, stageRows } from '../versions/actions.ts'
import { findVersion, type VersionRow } from '../versions/queries.ts'

export interface Operation {
  readonly key: string
  readonly op: 'put' | 'merge' | 'remove'
  readonly value?: Entry | undefined
}

/** The shared list in force, without any overlay, and its type. */
export async function baseOf(tx: Tx, list_key: string): Promise<{ shared: DatasetRow; base: Pointer; type: TypeRow }> {
  const shared = found(await findSharedDataset(tx, list_key))
  const [pointer] = expectInForce(await resolveLists(tx, [list_key], { valid_at: null, known_at: null }), [list_key])
  const base = { ...(pointer as Pointer), overlay_version: null, overlay_hash: null, overlay_dataset_id: null }
  if (base.via === 'tenant-own') fail('transition_not_allowed', `This tenant has its own list ${list_key}.`)
  const type = found(await findTypeVersion(tx, base.type_tenant_id, base.type_key, base.type_version))
  return { shared, base, type }
}

const hashOf = (entry: Entry | undefined): string | null =>
  entry === undefined ? null : entryHash(canonicalJson(entry))

interface Laid {
  readonly change: OverlayEntry
  readonly base: Entry | undefined
  readonly effective: Entry | undefined
}

export async function layAll(kernel: Kernel, tx: Tx, base: Pointer, operations: readonly Operation[]): Promise<Laid[]> {
  const keys = operations.map(({ key }) => key)
  const entries = await lookUp(kernel, tx, base, keys)
  return operations.map(({ key, op, value }) => {
    const under = entries.get(key)
    const change: OverlayEntry = { key, op, base_hash: hashOf(under), value: op === 'remove' ? null : (value ?? {}) }
    return { change, base: under, effective: applyOverlay(under, change) }
  })
}

/** 422 with every operation that is malformed, against the policy, or gives an entry the type refuses. */
export async function expectSound(
  kernel: Kernel,
  laid: readonly Laid[],
  operations: readonly Operation[],
  { shared, type }: { shared: DatasetRow; type: TypeRow },
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
      detail: `${faults.length} fault${faults.length === 1 ? '' : 's'} in the overlay.`,
      errors: faults.slice(0, 50),
    })
  }
}

/** The base may have moved between the check and the transaction; nothing is published that it would not take. */
export function expectStillSound(laid: readonly Laid[], { shared, type }: { shared: DatasetRow; type: TypeRow }): void {
  laid.forEach(({ change, base }, index) => {
    const { refusal } = layOver(base, change, shared.overlay_policy, baseTypeOf(type))
    if (!refusal) return
    fail('type_violation', {
      detail: 'The shared list has moved meanwhile.',
      errors: [{ in: 'body', pointer: `#/entries/${index}`, detail: refusal.detail }],
    })
  })
}

/** Publishes the overlay and puts it in force, in one transaction. */
export async function publishOverlay(
  tx: Tx,
  list_key: string,
  changes: readonly OverlayEntry[],
  { shared, base, type }: { shared: DatasetRow; base: Pointer; type: TypeRow },
  how: { mode: 'follow' | 'pinned'; origin: 'overlay' | 'rebase'; reason: string; cr_id?: string | undefined },
): Promise<{ version: VersionRow; activation: ActivationRow }> {
  await lockActivations(tx, 'list', list_key)
  const overlay =
    (await findOverlay(tx, list_key)) ??
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
  const content = await stageRows(
    tx,
    changes.map(({ key, op, base_hash, value }, index) => {
      const text = value === null ? null : canonicalJson(value)
      return { key, op, base_hash, text, hash: entryHash(text ?? ''), row: index + 1 }
    }),
  )
  const version = (await publishStaged(tx, {
    dataset: overlay,
    type: { tenant_id: type.tenant_id, type_key: type.type_key, type_version: type.type_version },
    content,
    origin: how.origin,
    provenance: { base_version: base.version, base_hash: base.content_hash, mode: how.mode },
    base_version: how.mode === 'pinned' ? base.version : null,
    note: how.reason,
    guards: null,
  })) as VersionRow
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

export interface Conflict {
  readonly key: string
  readonly kind: ConflictKind
  readonly detail: string
  readonly base: Entry | null
  readonly ours: Entry | null
  readonly theirs: Entry | null
}

/** The overlay in force against the base in force: what it makes of each entry, and where the two disagree by now. */
export async function examine(kernel: Kernel, tx: Tx, list_key: string) {
  const { shared, base, type } = await baseOf(tx, list_key)
  const [pointer] = await resolveLists(tx, [list_key], { valid_at: null, known_at: null })
  if (!pointer || pointer.overlay_version === null)
    return { shared, base, type, version: null, laid: [], conflicts: [] }
  const overlay = found(await findOverlay(tx, list_key))
  const version = found(await findVersion(tx, overlay, pointer.overlay_version))
  const changes = await readOverlay(tx, version)
  const keys = changes.map(({ key }) => key)
  const now = await lookUp(kernel, tx, base, keys)
  const then = await entriesThen(kernel, tx, base, version, keys)
  const laid = changes.map((change) => {
    const theirs = now.get(change.key)
    return { change, base: theirs, ...layOver(theirs, change, shared.overlay_policy, baseTypeOf(type)) }
  })
  const conflicts = laid.flatMap(({ change, base: theirs, ...made }): Conflict[] => {
    const conflict = conflictOf(change, { base: theirs, base_hash: hashOf(theirs) }, made)
    if (!conflict) return []
    return [{ ...conflict, base: then.get(change.key) ?? null, ours: made.effective ?? null, theirs: theirs ?? null }]
  })
  return { shared, base, type, version, laid, conflicts }
}

/** The shared entries the overlay was written against. */
async function entriesThen(kernel: Kernel, tx: Tx, base: Pointer, version: VersionRow, keys: readonly string[]) {
  const written = (version.provenance as { base_version?: number }).base_version
  if (written === undefined || written === base.version) return lookUp(kernel, tx, base, keys)
  const old = await findVersion(tx, { tenant_id: base.dataset_tenant_id, dataset_id: base.dataset_id }, written)
  if (!old) return new Map<string, Entry>()
  return lookUp(kernel, tx, { ...base, ...old, dataset_tenant_id: base.dataset_tenant_id } as Pointer, keys)
}
