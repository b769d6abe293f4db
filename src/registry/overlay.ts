/**
 * A tenant's overlay of a shared list: put, merge or remove by business key, within the policy of the list. When a change is not
 * allowed, or its result is not valid for the type of the base, the base entry applies: an older overlay never weakens the base.
 */
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Entry } from './adapter.ts'
import { entryHash } from './content/hashes.ts'
import { isObject, parsePointer, setMember, valueAt } from './content/json-pointer.ts'
import { createMerkleBuilder, type MerkleTree } from './content/merkle.ts'
import type { CompiledType } from './types/compile-type.ts'
import type { FieldDefinition, TypeDefinition } from './types/type-definition.ts'

export type OverlayPolicy = 'none' | 'add_only' | 'tighten_only' | 'free'

export interface OverlayEntry {
  readonly key: string
  readonly op: 'put' | 'merge' | 'remove'
  /** Hash of the base entry it was written against; null when there was none. */
  readonly base_hash: string | null
  /** The entry, or what is merged into it; null for a removal. */
  readonly value: Entry | null
}

/** The hash of an overlay entry in the tree: it includes the operation and the hash of the base entry. */
export function computeContentHash({
  op = 'put',
  hash,
  base_hash = null,
}: {
  readonly op?: OverlayEntry['op']
  readonly hash: string
  readonly base_hash?: string | null
}): string {
  if (op === 'put' && base_hash === null) return hash
  const builder = createMerkleBuilder()
  builder.add('operation', canonicalJson({ op, hash, base_hash }))
  return builder.finish().root
}

/** The same for a change with its entry. */
export const hashOverlayEntry = ({ op, base_hash, value }: Omit<OverlayEntry, 'key'>): string =>
  computeContentHash({ op, base_hash, hash: entryHash(value === null ? '' : canonicalJson(value)) })

export function buildOverlayTree(changes: readonly OverlayEntry[]): MerkleTree {
  const builder = createMerkleBuilder()
  for (const change of changes) builder.addHash(change.key, hashOverlayEntry(change))
  return builder.finish()
}

/** RFC 7396: null removes a member, an object is merged, anything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged: Record<string, unknown> = {}
  if (isObject(target)) for (const [name, value] of Object.entries(target)) setMember(merged, name, value)
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else setMember(merged, name, mergePatch(Object.hasOwn(merged, name) ? merged[name] : undefined, value))
  }
  return merged
}

/** Applies the change to the base entry without checking the policy. A merge into a missing entry gives none. */
export function applyOverlayEntry(base: Entry | undefined, change: OverlayEntry): Entry | undefined {
  if (change.op === 'remove') return undefined
  if (change.op === 'put') return change.value as Entry
  return base === undefined ? undefined : (mergePatch(base, change.value) as Entry)
}

/** Why the policy forbids this change, as a sentence, or null. */
export function findPolicyFault(
  policy: OverlayPolicy,
  type: Pick<TypeDefinition, 'fields' | 'schema'>,
  base: Entry | undefined,
  effective: Entry | undefined,
): string | null {
  if (policy === 'free') return null
  if (policy === 'none') return 'This list takes no overlay.'
  if (base === undefined) return effective === undefined ? 'There is nothing to remove.' : null
  if (policy === 'add_only') return 'This list may only be added to; it has an entry with this key.'
  if (effective === undefined) return 'Entries of this list may be tightened, not removed.'
  return findLoosening(type, base, effective)
}

function findLoosening({ fields }: Pick<TypeDefinition, 'fields'>, base: Entry, effective: Entry): string | null {
  const ordered = new Map(Object.entries(fields).filter(([, field]) => field.order !== undefined))
  for (const [pointer, field] of ordered) {
    const steps = parsePointer(pointer)
    const fault = findLooserValue(field, valueAt(base, steps), valueAt(effective, steps))
    if (fault) return fault
  }
  const names = new Set([...Object.keys(base), ...Object.keys(effective)])
  for (const name of names) {
    if (ordered.has(`/${name}`)) continue
    if (JSON.stringify(base[name]) !== JSON.stringify(effective[name])) {
      return `Only members with a declared order of severity may be changed here; "${name}" has none.`
    }
  }
  return null
}

function findLooserValue(field: FieldDefinition, before: unknown, after: unknown): string | null {
  if (before === after || before === undefined) return null
  const refuse = `${field.title} may be made stricter than ${JSON.stringify(before)}, not ${JSON.stringify(after) ?? 'removed'}.`
  if (Array.isArray(field.order)) {
    const [from, to] = [field.order.indexOf(String(before)), field.order.indexOf(String(after))]
    return to < 0 || to < from ? refuse : null
  }
  if (typeof before !== 'number' || typeof after !== 'number') return refuse
  return field.order === 'higher_is_stricter' ? (after < before ? refuse : null) : after > before ? refuse : null
}

/** The compiled type of the base version. */
export interface BaseType {
  readonly definition: TypeDefinition
  readonly compiled: Pick<CompiledType, 'normalise' | 'validate'>
}

export interface OverlayResult {
  readonly effective: Entry | undefined
  /** Why the base entry applies instead. */
  readonly refusal: { readonly kind: 'policy-violating' | 'invalid'; readonly detail: string } | null
}

/** The entry a tenant sees under a key: the changed entry, when it is valid and the policy allows it. */
export function evaluateOverlay(
  base: Entry | undefined,
  change: OverlayEntry,
  policy: OverlayPolicy,
  { definition, compiled }: BaseType,
): OverlayResult {
  const changed = applyOverlayEntry(base, change)
  const effective = changed && compiled.normalise(changed)
  const [fault] = (effective && compiled.validate(effective)) ?? []
  if (fault) return { effective, refusal: { kind: 'invalid', detail: fault.message } }
  const detail = findPolicyFault(policy, definition, base, effective)
  return { effective, refusal: detail === null ? null : { kind: 'policy-violating', detail } }
}

export type ConflictKind = 'changed-under-patch' | 'removed' | 'redundant' | 'policy-violating' | 'invalid'
export interface OverlayConflict {
  readonly key: string
  readonly kind: ConflictKind
  readonly detail: string
}

/** The conflict of a change with the current base, or null. */
export function findConflict(
  change: OverlayEntry,
  now: { readonly base: Entry | undefined; readonly base_hash: string | null },
  { effective, refusal }: OverlayResult,
): OverlayConflict | null {
  const conflict = (kind: ConflictKind, detail: string): OverlayConflict => ({ key: change.key, kind, detail })
  if (refusal?.kind === 'invalid') return conflict('invalid', refusal.detail)
  if (change.base_hash !== null && now.base === undefined) {
    return conflict('removed', 'The shared list no longer has this entry.')
  }
  if (JSON.stringify(effective) === JSON.stringify(now.base)) {
    return conflict('redundant', 'The shared list says the same by now.')
  }
  if (refusal) return conflict(refusal.kind, refusal.detail)
  if (change.base_hash !== now.base_hash) {
    return conflict('changed-under-patch', 'The shared entry has changed since the overlay was written.')
  }
  return null
}
