/**
 * Metrics of a process: connections, threads, and the backlogs of jobs and of the audit chain. The backlogs are read from the database
 * as the worker role, so every process that runs jobs reports the same values; none of them names a tenant.
 */
import type { AuditChainWriter } from '#kernel/audit/chain-writer.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Database, Transactions } from '#kernel/database/tx.ts'
import { keyCommandOutcomes } from '#kernel/encryption/failures.ts'
import type { Keyring } from '#kernel/encryption/keyring.ts'
import { findQueueDepth } from '#kernel/job/queries.ts'
import type { Log } from '#kernel/log.ts'
import type { GaugeDefinition, GaugeReading, Metrics } from '#kernel/metrics.ts'
import type { ThreadAdmission } from '#kernel/thread-admission.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { countOpenAlerts, priorities } from '#modules/alerts/index.ts'
import { countGathering, countOpenCases } from '#modules/investigations/index.ts'
import { workItems } from '#modules/work/index.ts'
import type { PluginCounts } from './readiness.ts'

const SCOPE = fullScope(SYSTEM_TENANT, 'operator:metrics')

const queueGauges = [
  {
    name: 'probity_queue_jobs',
    help: 'Unfinished jobs of all active tenants by state: queued, running.',
    labels: ['state'],
  },
  {
    name: 'probity_queue_oldest_due_seconds',
    help: 'How long the oldest job has been due that any worker could take; 0 when none is.',
  },
  {
    name: 'probity_queue_waiting_jobs',
    help: 'Queued jobs that have begun and wait for their next run: deferred while a provider is down, or after a failed attempt.',
  },
  {
    name: 'probity_queue_oldest_waiting_seconds',
    help: 'How long ago the oldest of them began; 0 when there is none.',
  },
  { name: 'probity_audit_unsealed_events', help: 'Audit events that are recorded but not chained yet.' },
  {
    name: 'probity_audit_unsealed_age_seconds',
    help: 'Age of the oldest audit event that is not chained yet; 0 when there is none.',
  },
] as const satisfies readonly GaugeDefinition[]

const pluginGauges = [
  { name: 'probity_plugins_active', help: 'Plugins in force of all tenants, as last checked, without disabled ones.' },
  {
    name: 'probity_plugins_invalid',
    help: 'Plugins in force that cannot run, so that what uses them answers 503; disabled ones are not counted.',
  },
] as const satisfies readonly GaugeDefinition[]

const alertGauges = [
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

const workGauges = [
  {
    name: 'probity_work_open_items',
    help: 'Open work items of all active tenants by whether somebody has them: yes, no.',
    labels: ['assigned'],
  },
  {
    name: 'probity_work_oldest_unassigned_seconds',
    help: 'Age of the oldest open work item that nobody has; 0 when there is none.',
  },
  {
    name: 'probity_work_overdue_clocks',
    help: 'Missed clocks whose work is not done, by kind: service, statutory.',
    labels: ['kind'],
  },
  {
    name: 'probity_work_unmarked_seconds',
    help: 'For how long the oldest clock has run out without being marked as missed; 0 when none has.',
  },
] as const satisfies readonly GaugeDefinition[]

const caseGauges = [
  {
    name: 'probity_investigations_open',
    help: 'Investigations of all tenants that are not closed, by state: open, proposed.',
    labels: ['state'],
  },
  {
    name: 'probity_investigations_oldest_open_seconds',
    help: 'Age of the oldest of them by state; 0 when there is none.',
    labels: ['state'],
  },
] as const satisfies readonly GaugeDefinition[]

const gatheringGauges = [
  {
    name: 'probity_investigation_steps',
    help: 'Steps of investigations of all tenants by state: running, waiting, indeterminate.',
    labels: ['state'],
  },
  {
    name: 'probity_investigations_gathering',
    help: 'Open investigations of all tenants by how far gathering is: running, blocked.',
    labels: ['gathering'],
  },
  {
    name: 'probity_investigation_oldest_running_step_seconds',
    help: 'How long ago the oldest step began that is running; 0 when none is.',
  },
] as const satisfies readonly GaugeDefinition[]

const keyCommandCounter: GaugeDefinition = {
  name: 'probity_key_command_calls_total',
  help: `Calls of the key command by operation (wrap, unwrap) and outcome: ${keyCommandOutcomes.join(', ')}.`,
  labels: ['operation', 'outcome'],
}

type GaugeName = (typeof queueGauges)[number]['name']

async function readQueueGauges(
  queue: Pick<Transactions, 'one'>,
  chainWriter: Pick<AuditChainWriter, 'findBacklog'> | undefined,
): Promise<GaugeReading<GaugeName>[]> {
  const depth = await queue.one(SCOPE, findQueueDepth)
  const backlog = await chainWriter?.findBacklog()
  return [
    { name: 'probity_queue_jobs', labels: { state: 'queued' }, value: depth.queued },
    { name: 'probity_queue_jobs', labels: { state: 'running' }, value: depth.running },
    { name: 'probity_queue_oldest_due_seconds', value: depth.oldest_due_s },
    { name: 'probity_queue_waiting_jobs', value: depth.waiting },
    { name: 'probity_queue_oldest_waiting_seconds', value: depth.oldest_waiting_s },
    ...(backlog
      ? ([
          { name: 'probity_audit_unsealed_events', value: backlog.events },
          { name: 'probity_audit_unsealed_age_seconds', value: backlog.age_s },
        ] as const)
      : []),
  ]
}

async function readAlertGauges(queue: Pick<Transactions, 'one'>): Promise<GaugeReading[]> {
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

async function readWorkGauges(
  queue: Pick<Transactions, 'one'>,
): Promise<GaugeReading<(typeof workGauges)[number]['name']>[]> {
  const load = await queue.one(SCOPE, workItems.findWorkLoad)
  return [
    { name: 'probity_work_open_items', labels: { assigned: 'yes' }, value: load.assigned },
    { name: 'probity_work_open_items', labels: { assigned: 'no' }, value: load.unassigned },
    { name: 'probity_work_oldest_unassigned_seconds', value: load.oldest_unassigned_s },
    { name: 'probity_work_overdue_clocks', labels: { kind: 'service' }, value: load.overdue_service },
    { name: 'probity_work_overdue_clocks', labels: { kind: 'statutory' }, value: load.overdue_statutory },
    { name: 'probity_work_unmarked_seconds', value: load.unmarked_s },
  ]
}

async function readCaseGauges(queue: Pick<Transactions, 'one'>): Promise<GaugeReading[]> {
  const rows = await queue.one(SCOPE, countOpenCases)
  return (['open', 'proposed'] as const).flatMap((state) => {
    const found = rows.find((row) => row.state === state)
    return [
      { name: 'probity_investigations_open', labels: { state }, value: found?.cases ?? 0 },
      { name: 'probity_investigations_oldest_open_seconds', labels: { state }, value: found?.oldest_s ?? 0 },
    ]
  })
}

async function readGatheringGauges(queue: Pick<Transactions, 'one'>): Promise<GaugeReading[]> {
  const counts = await queue.one(SCOPE, countGathering)
  const { gathering: running, blocked } = counts
  return [
    ...(['running', 'waiting', 'indeterminate'] as const).map((state) => ({
      name: 'probity_investigation_steps',
      labels: { state },
      value: counts[state],
    })),
    ...Object.entries({ running, blocked }).map(([gathering, value]) => ({
      name: 'probity_investigations_gathering',
      labels: { gathering },
      value,
    })),
    { name: 'probity_investigation_oldest_running_step_seconds', value: counts.oldest_running_s },
  ]
}

export interface MetricSources {
  readonly database: Pick<Database, 'semaphore'>
  readonly threads: Pick<ThreadAdmission, 'running' | 'waiting'>
  readonly keyring: Pick<Keyring, 'listCommandCalls'>
  readonly log: Log
  /** Undefined in a process that runs no jobs. */
  readonly getQueue: () => Pick<Transactions, 'one'> | undefined
  readonly countPlugins: () => Promise<PluginCounts>
  readonly getChainWriter: () => Pick<AuditChainWriter, 'findBacklog'> | undefined
}

export function addRuntimeMetrics(metrics: Metrics, sources: MetricSources): void {
  const { semaphore } = sources.database
  const { threads, keyring, log } = sources
  metrics.addGauge(
    'probity_database_connections_in_use',
    'Connections held by requests and jobs.',
    () => semaphore.inUse,
  )
  metrics.addGauge('probity_database_waiting', 'Requests waiting for a connection.', () => semaphore.waiting)
  metrics.addGauge('probity_heavy_threads_running', 'Worker threads that run heavy work.', () => threads.running)
  metrics.addGauge('probity_heavy_threads_waiting', 'Heavy work that waits for a thread.', () => threads.waiting)
  metrics.addCounters(keyCommandCounter, () =>
    keyring
      .listCommandCalls()
      .map(({ operation, outcome, count }) => ({ labels: { operation, outcome }, value: count })),
  )
  metrics.addGauges(pluginGauges, async () => {
    // One process type reports them, as the other values that are read from the database.
    if (!sources.getQueue()) return []
    try {
      const { active, invalid } = await sources.countPlugins()
      return [
        { name: 'probity_plugins_active', value: active },
        { name: 'probity_plugins_invalid', value: invalid },
      ]
    } catch (error) {
      log.warn({ err: error }, 'failed to count plugins')
      return []
    }
  })
  const addCounts = (
    gauges: readonly GaugeDefinition[],
    counted: string,
    readGauges: (queue: Pick<Transactions, 'one'>) => Promise<GaugeReading[]>,
  ): void =>
    metrics.addGauges(gauges, async () => {
      const queue = sources.getQueue()
      try {
        return queue ? await readGauges(queue) : []
      } catch (error) {
        log.warn({ err: error }, `failed to count ${counted}`)
        return []
      }
    })
  addCounts(alertGauges, 'open alerts', readAlertGauges)
  addCounts(workGauges, 'open work', readWorkGauges)
  addCounts(caseGauges, 'open investigations', readCaseGauges)
  addCounts(gatheringGauges, 'steps of investigations', readGatheringGauges)
  metrics.addGauges(queueGauges, async () => {
    const queue = sources.getQueue()
    try {
      return queue ? await readQueueGauges(queue, sources.getChainWriter()) : []
    } catch (error) {
      // The other metrics must stay readable while the database is down.
      log.warn({ err: error }, 'failed to read queue depth')
      return []
    }
  })
}
