/**
 * Records one event for one change, in the transaction of that change. States before and after are stored as hashes, or for
 * configuration in clear text.
 */
import { canonicalJson } from '../canonical-json.ts'
import type { Tx } from '../database/tx.ts'
import type { Route } from '../route.ts'
import { isUuid, uuidv7At } from '../uuid.ts'
import type { AuditEvent, AuditKeys } from './chain.ts'
import type { MemberChange } from './member-change.ts'
import { deferEvent } from './queries.ts'

/** What a handler can add to its event. */
export interface AuditNotes {
  /** Configuration: the members that differ are stored in clear text. */
  recordDiff(before: object | null, after: object): void
  /** Records that may contain personal data: only keyed hashes of before and after are stored. */
  recordHashes(before: object | null, after: object): void
  /** A text that may name a person: a keyed hash of it is stored. The text itself belongs in a row that an erasure can overwrite. */
  recordText(member: string, text: string): void
  /** What approvers are shown where the change is only proposed, if it differs from the recorded one. Not part of the event. */
  recordPreview(before: object | null, after: object): void
  /**
   * The object has a restriction, or two. The event, the stored response and what the caller keeps of the request carry them; a read is
   * recorded while one of them is in force.
   */
  belongsTo(restriction: ObjectRestriction): void
  /**
   * What the request or its answer names besides its object. The stored response is hidden with each of them; events are the
   * handler's to record, one for each object.
   */
  names(objects: readonly { readonly restriction_id: string | null }[]): void
  /** Of the object, as noted by the handler. */
  readonly restriction: ObjectRestriction
  /** Restrictions of what is named besides. */
  readonly named_restriction_ids: readonly string[]
  /** The members that differ, for approvers; null where the handler named none. */
  readonly changes: readonly MemberChange[] | null
}

export interface ObjectRestriction {
  /** Null: the object has none. */
  readonly restriction_id: string | null
  /** Of what the object names, where that is another one. */
  readonly also_restriction_id?: string | null
  /** One of them is. */
  readonly is_in_force: boolean
}

/** For change requests and tool calls, which carry one: no operation that makes them notes an object with two. */
export function getOnlyRestriction({ restriction_id, also_restriction_id = null }: ObjectRestriction): string | null {
  if (also_restriction_id !== null)
    throw new Error('The object belongs to two restrictions, and one cannot be carried.')
  return restriction_id
}

export class AuditNotesCollector implements AuditNotes {
  #detail: Record<string, unknown> = {}
  #preview: MemberChange[] | null = null
  #restriction: ObjectRestriction = { restriction_id: null, is_in_force: false }
  #named: readonly string[] = []
  readonly #keys: AuditKeys

  constructor(keys: AuditKeys) {
    this.#keys = keys
  }

  recordDiff(before: object | null, after: object): void {
    this.recordHashes(before, after)
    this.#detail['diff'] = diffMembers(before ?? {}, after)
  }

  recordHashes(before: object | null, after: object): void {
    const hash = (value: object) => this.#keys.fingerprint(canonicalJson(toJsonValue(value)))
    this.#detail['before_hash'] = before === null ? null : hash(before)
    this.#detail['after_hash'] = hash(after)
  }

  recordText(member: string, text: string): void {
    this.#detail[`${member}_hash`] = this.#keys.fingerprint(canonicalJson(text))
  }

  recordPreview(before: object | null, after: object): void {
    this.#preview = diffMembers(before ?? {}, after)
  }

  belongsTo(restriction: ObjectRestriction): void {
    this.#restriction = restriction
  }

  names(objects: readonly { readonly restriction_id: string | null }[]): void {
    const found = objects.flatMap(({ restriction_id }) => restriction_id ?? [])
    this.#named = [...new Set([...this.#named, ...found])]
  }

  get restriction(): ObjectRestriction {
    return this.#restriction
  }

  get named_restriction_ids(): readonly string[] {
    return this.#named
  }

  get changes(): readonly MemberChange[] | null {
    return this.#preview ?? (this.#detail['diff'] as MemberChange[] | undefined) ?? null
  }

  get detail(): Record<string, unknown> {
    return this.#detail
  }
}

/** As in JSON: no dates, no undefined. */
const toJsonValue = (value: object): unknown => JSON.parse(JSON.stringify(value))

const IGNORED_MEMBERS = new Set(['revision', 'updated_at', 'updated_by'])

function diffMembers(before: object, after: object): MemberChange[] {
  const old = toJsonValue(before) as Record<string, unknown>
  const now = toJsonValue(after) as Record<string, unknown>
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter(
      (member) =>
        !IGNORED_MEMBERS.has(member) && canonicalJson(old[member] ?? null) !== canonicalJson(now[member] ?? null),
    )
    .sort()
    .map((member) => ({ member, before: old[member] ?? null, after: now[member] ?? null }))
}

export interface AuditEventInput {
  readonly operation: string
  readonly object_type: string
  readonly object_id: string
  readonly request_id: string | null
  readonly detail: Record<string, unknown>
  /** Of the object, or null where it has none. */
  readonly restriction_id: string | null
  readonly also_restriction_id?: string | null | undefined
}

/** Returns the id of the event. */
export function recordEvent(tx: Tx, keys: AuditKeys, facts: AuditEventInput): string {
  const now = new Date()
  const event: AuditEvent = {
    tenant_id: tx.tenant_id,
    // One time for both, even if the clock is set back: searches by time use the id.
    event_id: uuidv7At(now.getTime()),
    // Microseconds like every other timestamp, so that the text that is read back is the text that was hashed.
    recorded_at: `${now.toISOString().slice(0, -1)}000Z`,
    actor: tx.actor,
    operation: facts.operation,
    object_type: facts.object_type,
    object_id: facts.object_id,
    request_id: facts.request_id,
    detail: canonicalJson(facts.detail),
  }
  const { restriction_id, also_restriction_id = null } = facts
  deferEvent(tx, event, { mac: keys.computeEventMac(event), restriction_id, also_restriction_id })
  return event.event_id
}

/** The object of a request: the resource its path names, the one it created or that its job makes, or the tenant. */
export function getAuditedObject(
  route: Route,
  params: unknown,
  reply: unknown,
  tenant_id: string,
): { object_type: string; object_id: string } {
  const object_type = route.path.split('/')[1] as string
  // The order of the path, not of `params`: a change request returns those in the order of the database.
  const [, first] = /:([a-z_]+)/.exec(route.path) ?? []
  const named = first === undefined ? undefined : ((params ?? {}) as Record<string, string>)[first]
  if (named !== undefined) return { object_type, object_id: named }
  return { object_type, object_id: findResourceId(route, reply) ?? findId(reply) ?? tenant_id }
}

/** What the job works on: the job itself is found through it. */
function findResourceId({ starts }: Route, reply: unknown): string | undefined {
  const { resource } = (starts === undefined ? {} : (reply ?? {})) as { readonly resource?: string | null }
  const last = resource?.split('/').at(-1)
  return last !== undefined && isUuid(last) ? last : undefined
}

function findId(reply: unknown, depth = 0): string | undefined {
  if (typeof reply !== 'object' || reply === null || depth > 1) return undefined
  for (const [name, value] of Object.entries(reply)) {
    if (name.endsWith('_id') && name !== 'tenant_id' && typeof value === 'string') return value
  }
  for (const value of Object.values(reply)) {
    const found = findId(value, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}
