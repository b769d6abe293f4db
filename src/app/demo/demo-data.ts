/**
 * Adds realistic data to the demo tenant through the API, as people of that tenant. Repeatable: a session lock admits one process
 * at a time, the seed ledger says whether the data is complete, and each step continues where an interrupted run stopped.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { BuiltInIssuer } from '#kernel/auth/built-in-issuer.ts'
import { type ConnectionConfig, openClient } from '#kernel/database/servers.ts'
import type { Scope, Transactions } from '#kernel/database/tx.ts'
import type { Log } from '#kernel/log.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { demoTenants } from '../seed.ts'
import { DemoCalendar } from './demo-calendar.ts'
import { DemoCaller } from './demo-caller.ts'
import { readDemoFiles } from './demo-files.ts'
import {
  assertOwnPolicy,
  seedApprovalPolicy,
  seedAuditVerification,
  seedDrafts,
  seedProposals,
  seedSchedule,
} from './demo-governance.ts'
import { seedLists } from './demo-lists.ts'
import {
  planFirstPortfolio,
  planLastNight,
  planReviews,
  seedBatches,
  seedOnboardings,
  seedOverrides,
  seedSubjects,
} from './demo-ratings.ts'
import { buildPortfolio } from './portfolio.ts'
import { findDemoDataOutcome, insertDemoDataBegun, tryLockDemoData, updateDemoDataComplete } from './queries.ts'

const SCOPE: Scope = { tenant_id: SYSTEM_TENANT, actor: 'seed:demo' }
const LOCK_POLL_MS = 500
const CONNECT_MS = 10_000

export interface DemoDataOptions {
  /** Where this process serves the API. */
  readonly url: string
  readonly issuer: Pick<BuiltInIssuer, 'mint'>
  /** As steward: the seed ledger. */
  readonly steward: Pick<Transactions, 'write'>
  /** Of the session that holds the lock. */
  readonly connection: ConnectionConfig
  readonly project_root: string
  readonly signal: AbortSignal
  readonly log: Pick<Log, 'info'>
  /** Called when data is going to be added. */
  readonly onBegin?: () => void
  readonly now_ms?: number
}

/** `kept`: the data is complete already, or the tenant has data of its own. */
export type DemoDataResult = 'added' | 'kept'

export async function seedDemoData(options: DemoDataOptions): Promise<DemoDataResult> {
  const client = await openClient(options.connection, { connectionTimeoutMillis: CONNECT_MS })
  try {
    while (!(await tryLockDemoData(client))) await sleep(LOCK_POLL_MS, undefined, { signal: options.signal })
    return await addDemoData(options)
  } finally {
    await client.end().catch(() => {})
  }
}

const [tenant] = demoTenants as [(typeof demoTenants)[number]]

async function addDemoData(options: DemoDataOptions): Promise<DemoDataResult> {
  const { steward, log } = options
  const outcome = await steward.write(SCOPE, (tx) => findDemoDataOutcome(tx, tenant.slug))
  if (outcome === 'applied') return 'kept'
  const caller = new DemoCaller({ ...options, tenant })
  if (outcome === undefined) {
    if (!(await isTenantEmpty(caller))) {
      log.info({ tenant: tenant.slug }, 'demo data not added: the tenant has data of its own')
      return 'kept'
    }
    await steward.write(SCOPE, (tx) => insertDemoDataBegun(tx, tenant.slug))
  }
  options.onBegin?.()
  await runSteps(caller, options)
  await steward.write(SCOPE, (tx) => updateDemoDataComplete(tx, tenant.slug))
  return 'added'
}

/** Data is added only to a tenant without subjects, own lists, change requests and approval rules. */
async function isTenantEmpty(caller: DemoCaller): Promise<boolean> {
  const listings = ['/api/subjects', '/api/reference-data/datasets?origin=own', '/api/change-requests']
  for (const listing of listings) {
    const { items } = await caller.get<{ items: unknown[] }>('policy_editor', listing)
    if (items.length > 0) return false
  }
  const { rules } = await caller.get<{ rules: unknown[] }>('policy_editor', '/api/tenant/approval-policy')
  return rules.length === 0
}

async function runSteps(caller: DemoCaller, options: DemoDataOptions): Promise<void> {
  const { portfolio, magic, policy } = readDemoFiles(options.project_root)
  const customers = buildPortfolio({ portfolio, magic })
  const calendar = new DemoCalendar(options.now_ms ?? Date.now(), await findInForceSince(caller))
  const step = createStepLog(options.log, () => assertOwnPolicy(caller, policy))
  await step('own lists', () => seedLists(caller, policy.lists, { calendar, names: portfolio }))
  const ids = await step('customers', () => seedSubjects(caller, customers))
  await step('first portfolio', () => seedBatches(caller, planFirstPortfolio(customers, calendar)))
  await step('onboardings', () => seedOnboardings(caller, customers, { calendar, ids }))
  await step('reviews', () => seedBatches(caller, planReviews(customers, calendar)))
  await step('nightly batches', () => seedBatches(caller, planLastNight(calendar)))
  const overrides = { overrides: policy.overrides, magic }
  await step('overrides', () => seedOverrides(caller, overrides, { customers, ids, calendar }))
  await step('approval policy', () => seedApprovalPolicy(caller, policy))
  await step('change requests', () => seedProposals(caller, policy.lists))
  await step('drafts', () => seedDrafts(caller, policy.drafts))
  await step('schedule', () => seedSchedule(caller, policy.schedule))
  await step('audit verification', () => seedAuditVerification(caller))
}

/** When the youngest of the shared lists came into force: decisions cannot be made for an earlier instant. */
async function findInForceSince(caller: DemoCaller): Promise<number> {
  const lists = await caller.listAll<{ active: { effective_from: string } | null }>(
    'policy_editor',
    '/api/reference-data/datasets?origin=shared',
  )
  return Math.max(...lists.flatMap(({ active }) => (active ? [Date.parse(active.effective_from)] : [])))
}

/** `check` runs before each step: people may use the tenant meanwhile. */
function createStepLog(log: Pick<Log, 'info'>, check: () => Promise<void>) {
  let done = 0
  return async <T>(name: string, run: () => Promise<T>): Promise<T> => {
    const from_ms = performance.now()
    await check()
    const result = await run()
    done += 1
    log.info({ step: name, done, duration_ms: Math.round(performance.now() - from_ms) }, 'demo data: step complete')
    return result
  }
}
