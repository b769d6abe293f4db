/**
 * What waits, as only the database knows it: read as the worker role when a process that works is scraped. Every such process
 * tells the same of the queue; none of it names a tenant.
 */
import type { AuditChainWriter } from '#kernel/audit/chain-writer.ts'
import type { Transactions } from '#kernel/database/tx.ts'
import { findQueueDepth } from '#kernel/job/queries.ts'
import type { GaugeDefinition, GaugeReading } from '#kernel/metrics.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'

const SCOPE = { tenant_id: SYSTEM_TENANT, actor: 'operator:metrics' }

export const queueGauges = [
  {
    name: 'probity_queue_jobs',
    help: 'Unfinished jobs of all active tenants by state: queued, running.',
    labels: ['state'],
  },
  {
    name: 'probity_queue_oldest_due_seconds',
    help: 'How long the oldest job has been due that any worker could take; 0 when none is.',
  },
  { name: 'probity_audit_unsealed_events', help: 'Audit events that are recorded but not chained yet.' },
  {
    name: 'probity_audit_unsealed_age_seconds',
    help: 'Age of the oldest audit event that is not chained yet; 0 when there is none.',
  },
] as const satisfies readonly GaugeDefinition[]

type Name = (typeof queueGauges)[number]['name']

export async function readQueueGauges(
  queue: Pick<Transactions, 'one'>,
  sealer: Pick<AuditChainWriter, 'findBacklog'> | undefined,
): Promise<GaugeReading<Name>[]> {
  const depth = await queue.one(SCOPE, findQueueDepth)
  const tail = await sealer?.findBacklog()
  return [
    { name: 'probity_queue_jobs', labels: { state: 'queued' }, value: depth.queued },
    { name: 'probity_queue_jobs', labels: { state: 'running' }, value: depth.running },
    { name: 'probity_queue_oldest_due_seconds', value: depth.oldest_due_s },
    ...(tail
      ? ([
          { name: 'probity_audit_unsealed_events', value: tail.events },
          { name: 'probity_audit_unsealed_age_seconds', value: tail.age_s },
        ] as const)
      : []),
  ]
}
