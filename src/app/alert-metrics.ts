/** Open alerts of all tenants, read as the worker role; no label names a tenant. */
import { fullScope } from '#kernel/database/scope.ts'
import type { Transactions } from '#kernel/database/tx.ts'
import type { Log } from '#kernel/log.ts'
import type { GaugeDefinition, Metrics } from '#kernel/metrics.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { countOpenAlerts, priorities } from '#modules/alerts/index.ts'

const SCOPE = fullScope(SYSTEM_TENANT, 'operator:metrics')

const gauges = [
  {
    name: 'probity_alerts_open',
    help: 'Alerts of all tenants that are neither dismissed nor escalated, by priority.',
    labels: ['priority'],
  },
  {
    name: 'probity_alerts_oldest_open_seconds',
    help: 'Age of the oldest of them by priority; 0 when there is none.',
    labels: ['priority'],
  },
] as const satisfies readonly GaugeDefinition[]

async function readGauges(queue: Pick<Transactions, 'one'>) {
  const rows = await queue.one(SCOPE, countOpenAlerts)
  return priorities.flatMap((priority) => {
    const found = rows.find((row) => row.priority === priority)
    const labels = { priority }
    return [
      { name: 'probity_alerts_open', labels, value: found?.open ?? 0 },
      { name: 'probity_alerts_oldest_open_seconds', labels, value: found?.oldest_s ?? 0 },
    ]
  })
}

export function addAlertMetrics(
  metrics: Metrics,
  { getQueue, log }: { readonly getQueue: () => Pick<Transactions, 'one'> | undefined; readonly log: Log },
): void {
  metrics.addGauges(gauges, async () => {
    const queue = getQueue()
    try {
      return queue ? await readGauges(queue) : []
    } catch (error) {
      // The other metrics must stay readable while the database is down.
      log.warn({ err: error }, 'failed to count open alerts')
      return []
    }
  })
}
