/** Public interface of the events router: the outbox as other systems read it. Modules write to it with `emit` of the kernel. */
import { insertEvent, numberEvents } from '#kernel/events/queries.ts'
import type { Module } from '#kernel/module.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { eventRoutes } from './routes.ts'

export const events: Module = {
  name: 'events',
  segments: ['events'],
  tier: 'foundation',
  summary: 'What happened, for other systems: ids in the order of the audit chain.',
  routes: eventRoutes,
  jobs: [],
  canary_table: 'event',
  canary: async (tx) => {
    const canary = { type: 'canary.inserted', object_kind: 'canary', object_id: 'canary', restriction_id: null }
    await insertEvent(tx, { event_id: uuidv7(), ...canary, data: { note: 'canary' } })
    // The chain writer never comes to the canary tenant.
    await numberEvents(tx, Number.MAX_SAFE_INTEGER)
  },
}
