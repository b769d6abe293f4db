/** Marks clocks whose time is over, within seconds. */
import { recordEvent } from '#kernel/audit/record.ts'
import { emit } from '#kernel/events/emit.ts'
import { declareEvent } from '#kernel/events/event-type.ts'
import { declareMetric } from '#kernel/module-metrics.ts'
import type { TenantScan } from '#kernel/tenant-scan.ts'
import { listTenantsWithOverdueClocks, updateMissed } from './queries.ts'

const BATCH = 200

export const clockMissed = declareEvent({
  type: 'work.clock_missed',
  summary: 'A service or statutory clock ran out before the work was done.',
  object_kind: 'work',
  data: { object_kind: 'Kind of the object.', clock_key: 'Which clock of the object.', kind: 'service or statutory.' },
})

export const clocksMissed = declareMetric({
  name: 'probity_work_clocks_missed_total',
  help: 'Clocks that ran out before the work was done, by kind.',
  labels: { kind: ['service', 'statutory'] },
})

export const missedClockScan: TenantScan = {
  name: 'work-clocks',
  every_ms: 5000,
  listTenants: listTenantsWithOverdueClocks,
  run: async ({ auditKeys, metrics }, tx) => {
    const missed = await updateMissed(tx, BATCH)
    for (const { object_kind, object_id, clock_key, kind, due_at, restriction_id } of missed) {
      await emit(tx, clockMissed, { object_id, restriction_id, data: { object_kind, clock_key, kind } })
      // One event each: those of restricted objects are hidden with them.
      recordEvent(tx, auditKeys, {
        operation: 'missWorkClock',
        object_type: 'work',
        object_id,
        request_id: null,
        detail: { object_kind, clock_key, kind, due_at },
        restriction_id,
      })
    }
    const committed = () => {
      for (const { kind } of missed) metrics.increment(clocksMissed, { kind })
    }
    return { more: missed.length === BATCH, committed }
  },
}
