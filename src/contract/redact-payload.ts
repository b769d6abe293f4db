/**
 * A payload as people may see it: values of personal members, and of members that the contract does not declare, are left out. So are
 * undeclared names that may be data.
 */
import { escapeStep, parsePointer, setMember } from '#registry/content/json-pointer.ts'
import { getNamePolicy, type MemberNode, MemberTree } from './member-tree.ts'
import type { Contract } from './model.ts'
import { type NamePolicy, nameMembers } from './places.ts'
import { EACH_PAGE } from './read-payload.ts'

export const PERSONAL = '[personal]'
export const UNDECLARED = '[undeclared]'

export function redactPayload(contract: Contract, payload: unknown): unknown {
  const tree = new MemberTree(contract)
  const shown = new Set(
    [contract.provenance?.source, contract.provenance?.as_of].filter((pointer) => pointer !== undefined),
  )
  const names = getNamePolicy(contract)
  return redactOutside(payload, parsePointer(contract.records_at), '', { tree, shown, names })
}

interface Redaction {
  readonly tree: MemberTree
  /** Pointers outside the records that the contract declares. */
  readonly shown: ReadonlySet<string>
  readonly names: NamePolicy
}

/** Each member under the name that may be shown. */
function redactMembers(
  value: object,
  names: NamePolicy,
  redactMember: (name: string, member: unknown) => unknown,
): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  const members = Object.entries(value)
  const shown = nameMembers(
    members.map(([name]) => name),
    names,
  )
  for (const [index, [name, member]] of members.entries()) {
    setMember(result, shown[index] as string, redactMember(name, member))
  }
  return result
}

/** Outside the records only what the contract names is shown. */
function redactOutside(value: unknown, steps: readonly string[], pointer: string, redaction: Redaction): unknown {
  const { tree, names } = redaction
  if (steps.length === 0) {
    const inside = (record: unknown): unknown => redactRecord(record, tree.root, redaction)
    if (Array.isArray(value)) return value.map(inside)
    return pointer === '' ? inside(value) : hideValue(value)
  }
  const [step, ...rest] = steps
  if (pointer === '' && step === EACH_PAGE && Array.isArray(value)) {
    return value.map((page, index) => redactOutside(page, rest, `/${index}`, redaction))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return hideValue(value)
  return redactMembers(value, names, (name, member) => {
    const at = `${pointer}/${escapeStep(name)}`
    return name === step ? redactOutside(member, rest, at, redaction) : showNamed(member, at, redaction)
  })
}

function showNamed(value: unknown, pointer: string, redaction: Redaction): unknown {
  const { shown, names } = redaction
  if (shown.has(pointer)) return typeof value === 'object' ? hideValue(value) : value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return hideValue(value)
  return redactMembers(value, names, (name, member) => showNamed(member, `${pointer}/${escapeStep(name)}`, redaction))
}

/** Null says that there is no value, which is not a value. */
const hideValue = (value: unknown): unknown => (value === null ? null : UNDECLARED)

function redactRecord(value: unknown, node: MemberNode, redaction: Redaction): unknown {
  const { tree, names } = redaction
  if (value === null) return null
  if (node.personal) return PERSONAL
  if (!node.declared) return UNDECLARED
  if (Array.isArray(value)) {
    const items = tree.getItems(node)
    return value.map((item) => (items ? redactRecord(item, items, redaction) : hideValue(item)))
  }
  if (typeof value !== 'object') return value
  return redactMembers(value, names, (name, member) => {
    const child = tree.getMember(node, name)
    return child ? redactRecord(member, child, redaction) : hideValue(member)
  })
}
