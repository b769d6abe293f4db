/** Which audit events each operation writes: one per change, none for a read that is not recorded, and which hold a free text. */
import { expect } from 'vitest'
import type { Route } from '#kernel/route.ts'
import type { ExampleTenant } from '../support/example-tenant.ts'
import type { Reply } from '../support/test-app.ts'

interface Event {
  readonly operation: string
  readonly request_id: string
  readonly detail: Record<string, unknown>
}

/** In the order they were recorded, without the first `skipped`. */
const listEvents = (t: ExampleTenant, skipped: number): Promise<Event[]> =>
  t.write((tx) =>
    tx.query<Event>(
      `select operation, request_id, detail::json as detail from app.audit_event
        where tenant_id = $1 order by event_id offset $2`,
      [t.tenant_id, skipped],
    ),
  )

const countEvents = async (t: ExampleTenant): Promise<number> => {
  const [row] = await t.write((tx) =>
    tx.query<{ count: number }>('select count(*)::int as count from app.audit_event where tenant_id = $1', [
      t.tenant_id,
    ]),
  )
  return row?.count ?? 0
}

/** Members in which people write what they like. */
const FREE_TEXT =
  /^(reason|note|text|purpose|title|name|description|comment|message|sentence|reference|authority_reference|source_note)$/
const CANARY = 'zzcanary'

/** The body with the canary in every such member, also in reasons and notes that the example leaves out. */
export function addCanary(route: Route, body: unknown): unknown {
  const { properties } = (route.body ?? {}) as { properties?: Readonly<Record<string, { type?: string }>> }
  // What the rules are read from is no prose.
  if (
    route.stores_nothing ||
    route.id === 'importRules' ||
    !properties ||
    typeof body !== 'object' ||
    body === null ||
    Array.isArray(body)
  )
    return body
  const old = body as Readonly<Record<string, unknown>>
  const texts = Object.entries(properties).filter(
    ([member, { type }]) =>
      FREE_TEXT.test(member) && type === 'string' && (member in old || member === 'reason' || member === 'note'),
  )
  return { ...old, ...Object.fromEntries(texts.map(([member]) => [member, `${old[member] ?? 'Because'} ${CANARY}`])) }
}

/** What approving executes is a change of its own, and so is each object of a request about several. */
const executed: Readonly<Record<string, readonly string[]>> = {
  approveChangeRequest: ['updateUserRoles'],
  approveToolCall: ['listDatasets'],
  updateAlerts: ['updateAlert', 'updateAlert'],
  reassignWork: ['reassignWork', 'reassignWork'],
  linkInvestigationAlerts: ['linkInvestigationAlerts', 'linkInvestigationAlerts'],
}

/** Reads of what belongs to a restriction in force are recorded. */
const recordedReads = ['getRestriction', 'listRestrictionAccess', 'listRestrictionAccessLog']

/**
 * Carries out what `send` does, and compares the events that it adds. `mayHoldText`: the fixtures of its module name the operation in
 * `textsInEvents`.
 */
export async function expectRecorded(
  t: ExampleTenant,
  route: Route,
  mayHoldText: boolean,
  send: () => Promise<Reply>,
): Promise<void> {
  const before = await countEvents(t)
  const reply = await send()
  expect(reply.status, `${route.id}: ${reply.text.slice(0, 300)}`).toBeLessThan(300)
  const added = await listEvents(t, before)
  const isChange = route.method !== 'GET' && !route.stores_nothing
  const isRecorded = isChange || route.audited || recordedReads.includes(route.id)
  expect(added.map(({ operation }) => operation)).toEqual([
    ...(executed[route.id] ?? []),
    ...(isRecorded ? [route.id] : []),
  ])
  if (isChange) expect(added[0]?.request_id).toBe(reply.headers['x-request-id'])
  const hasText = added.some(({ detail }) => JSON.stringify(detail).includes(CANARY))
  const hint = hasText
    ? 'an event holds a text of the caller: record hashes (audit.recordHashes) or, for configuration, name the operation in'
    : 'no event holds a text of the caller: take the operation out of'
  expect(hasText, `${route.id}: ${hint} textsInEvents of the module's fixtures.ts`).toBe(mayHoldText)
}
