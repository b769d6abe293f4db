/** Events: what happened, in an order in which no event is ever missed. */
import { everyone } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { type EventRow, findLastNumber, listEvents } from '#kernel/events/queries.ts'
import { fail } from '#kernel/problem.ts'
import { EventList, EventQuery, EventTypeList } from './schema.ts'

const toEnvelope = (tenant_id: string, event: EventRow) => ({
  specversion: '1.0' as const,
  id: event.event_id,
  source: `/api/tenants/${tenant_id}`,
  type: event.event_type,
  subject: `${event.object_kind}/${event.object_id}`,
  time: event.occurred_at,
  datacontenttype: 'application/json' as const,
  sequence: String(event.seq),
  data: { object_id: event.object_id, ...event.data },
})

/** So coarse that what is refused says nothing about single events: the last of them may be hidden. */
const END_STEP = 1_000_000

export const eventRoutes = [
  tenantRoute('GET /events', {
    id: 'listEvents',
    summary: 'Events after a position, oldest first',
    description:
      'Send `last` of an answer as `after` of the next request: no event is skipped, also when changes commit at the same time. Events hold ' +
      'ids only and say nothing of restricted objects. They are kept as long as the retention policy says. At the end an answer is empty and ' +
      '`last` is what was sent. A position far beyond the end is refused; after an older backup was restored, begin with 0 again.',
    roles: ['service', 'tenant_admin', 'auditor'],
    tx: 'read',
    uses: ['modules'],
    query: EventQuery,
    reply: [200, EventList],
    problems: ['conflict'],
  }).handle(async ({ tx, query, kernel }) => {
    const { after = 0, limit = 50 } = query
    const isKnown = kernel.modules.some(({ events = [] }) => events.some(({ type }) => type === query.type))
    if (query.type !== undefined && !isKnown)
      fail('conflict', '`type` is not a type of events; GET /api/events/types lists them.')
    const rows = await listEvents(tx, {
      after,
      types: query.type === undefined ? null : [query.type],
      count: limit + 1,
    })
    if (rows.length === 0 && after > 0 && after > Math.ceil(((await findLastNumber(tx)) + 1) / END_STEP) * END_STEP)
      fail('conflict', '`after` is far beyond the last event; send `last` of an answer, or 0 to begin again.')
    const shown = rows.slice(0, limit)
    return {
      items: shown.map((row) => toEnvelope(tx.tenant_id, row)),
      last: shown.at(-1)?.seq ?? after,
      has_more: rows.length > limit,
    }
  }),

  tenantRoute('GET /events/types', {
    id: 'listEventTypes',
    summary: 'Types of events and their members',
    roles: everyone,
    tx: 'self',
    uses: ['modules'],
    reply: [200, EventTypeList],
  }).handle(async ({ kernel }) => {
    const items = kernel.modules
      .flatMap(({ events = [] }) => events)
      .map(({ type, summary, object_kind, data }) => ({
        type,
        summary,
        object_kind,
        data: Object.entries(data).map(([member, description]) => ({ member, description })),
      }))
      .sort((a, b) => (a.type < b.type ? -1 : 1))
    return { items, count: items.length }
  }),
]
