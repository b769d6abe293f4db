/** Test fixtures of the work router: one valid call per operation. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { type Fixtures, noInput } from '#test/support/operation-fixture.ts'
import { startClock } from './clocks/clocks.ts'
import { openWork } from './items/work-items.ts'

/** An open item with the clock of its queue and one by law; nothing of work needs its object. */
export const newWorkItem = async (t: ExampleTenant): Promise<{ object_kind: string; object_id: string }> => {
  const object = { object_kind: 'investigation', object_id: uuidv7(), restriction_id: null }
  const started_at = '2026-01-05T09:00:00Z'
  await t.write(async (tx) => {
    await openWork(t.w.kernel, tx, { ...object, priority: 'high', source: null })
    const law = { clock_key: 'filing', kind: 'statutory', duration: { days: 30, day_kind: 'calendar' } } as const
    await startClock(t.w.kernel, tx, { ...object, ...law, started_at })
  })
  return { object_kind: object.object_kind, object_id: object.object_id }
}

/** Of an object with a restriction of its own. */
const newAlertItem = async (t: ExampleTenant): Promise<{ object_kind: string; object_id: string }> => {
  const report = { source: 'payment-monitor', dedup_key: `payment ${uuidv7()}`, title: 'A payment', priority: 'medium' }
  return { object_kind: 'alert', object_id: (await t.make('POST /alerts', { body: report })).alert_id }
}

export const fixtures: Fixtures = {
  listWorkQueues: async (t) => {
    await newWorkItem(t)
    return {}
  },
  listOwnWork: async (t) => {
    const { object_id } = await newWorkItem(t)
    await t.write((tx) =>
      tx.run(
        `update app.work_item set assignee = $3, assigned_at = now(), assigned_by = $3 where tenant_id = $1 and object_id = $2`,
        [tx.tenant_id, object_id, t.caller],
      ),
    )
    return {}
  },
  listWorkClocks: async (t) => {
    await newWorkItem(t)
    return {}
  },
  reassignWork: async (t) => ({
    body: { items: [await newAlertItem(t), await newAlertItem(t)], user_id: null, reason: 'The analyst left the team' },
  }),
  listWorkers: async (t) => {
    await t.newUser()
    return {}
  },
  getWorkSettings: noInput,
  updateWorkSettings: () => ({ body: { calendar: 'eu-target' } }),
}
