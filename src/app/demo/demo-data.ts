/**
 * Adds realistic data to the demo tenant through the API, as people of that tenant. Repeatable: a session lock admits one process
 * at a time, the seed ledger says whether the data is complete, and each step continues where an interrupted run stopped.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { BuiltInIssuer } from '#kernel/auth/built-in-issuer.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { type ConnectionConfig, openClient } from '#kernel/database/servers.ts'
import type { Scope, Transactions } from '#kernel/database/tx.ts'
import type { Egress } from '#kernel/egress/egress.ts'
import type { Log } from '#kernel/log.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { demoTenants } from '../seed.ts'
import { DemoCalendar } from './demo-calendar.ts'
import { DemoCaller } from './demo-caller.ts'
import { seedCases } from './demo-cases.ts'
import { readDemoFiles } from './demo-files.ts'
import {
  assertOwnPolicy,
  hasOwnPolicy,
  renewImpact,
  seedApprovalPolicy,
  seedAuditVerification,
  seedDrafts,
  seedProposals,
  seedSchedule,
} from './demo-governance.ts'
import { seedLists } from './demo-lists.ts'
import { seedDemoPlugins } from './demo-plugins.ts'
import { seedContractsAndProviders, seedFactReaders, seedProviderCalls } from './demo-providers.ts'
import {
  planFirstPortfolio,
  planLastNight,
  planReviews,
  seedBatches,
  seedOnboardings,
  seedOverrides,
  seedSubjects,
} from './demo-ratings.ts'
import { seedAlerts, seedErasure, seedHeldDocument, seedRestriction } from './demo-work.ts'
import { buildPortfolio } from './portfolio.ts'
import { findDemoDataOutcome, insertDemoDataBegun, tryLockDemoData, updateDemoDataComplete } from './queries.ts'

const SCOPE: Scope = fullScope(SYSTEM_TENANT, 'seed:demo')
const LOCK_POLL_MS = 500
const CONNECT_MS = 10_000

export interface DemoDataOptions {
  /** Where this process serves the API. */
  readonly url: string
  readonly egress: Pick<Egress, 'request'>
  readonly issuer: Pick<BuiltInIssuer, 'mint'>
  /** As steward: the seed ledger. */
  readonly steward: Pick<Transactions, 'write'>
  /** Of the session that holds the lock. */
  readonly connection: ConnectionConfig
  readonly project_root: string
  readonly signal: AbortSignal
  readonly log: Pick<Log, 'info'>
  /** Called when data is going to be added. */
  readonly onBegin?: (() => void) | undefined
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

/** The first part is added to an empty tenant only. The others follow it, also where an earlier release added the first. */
async function addDemoData(options: DemoDataOptions): Promise<DemoDataResult> {
  const caller = new DemoCaller({ ...options, tenant })
  const first = await addPart(options, {
    name: tenant.slug,
    canBegin: () => isTenantEmpty(caller),
    refusal: 'demo data not added: the tenant has data of its own',
    run: () => runSteps(caller, options),
  })
  if (first === 'refused') return 'kept'
  let isBegun = first === 'added'
  const onBegin = () => {
    if (!isBegun) options.onBegin?.()
    isBegun = true
  }
  const { policy } = readDemoFiles(options.project_root)
  const canBegin = () => hasOwnPolicy(caller, policy)
  const addLater = (name: string, what: string, run: () => Promise<void>) =>
    addPart(
      { ...options, onBegin },
      {
        name: `${tenant.slug}/${name}`,
        canBegin,
        refusal: `demo ${what} not added: the approval policy of the tenant was changed`,
        run,
      },
    )
  // Investigations ask the providers. Plugins come after them: impact is measured against what is in force.
  const withProviders = async () => [
    await addLater('providers', 'providers', () => runProviderSteps(caller, options)),
    ...(await runTogether([
      () => addLater('plugins', 'plugins', () => runPluginSteps(caller, options)),
      () => addLater('cases', 'investigations', () => runCaseSteps(caller, options)),
    ])),
  ]
  const [added, work] = await runTogether([
    withProviders,
    () => addLater('work', 'alerts', () => runWorkSteps(caller, options)),
  ])
  return [first, ...added, work].includes('added') ? 'added' : 'kept'
}

interface DemoPart {
  /** Of its entry in the seed ledger: an upgrade adds a new part to data that is complete. */
  readonly name: string
  readonly canBegin: () => Promise<boolean>
  readonly refusal: string
  readonly run: () => Promise<void>
}

async function addPart(
  { steward, log, onBegin }: DemoDataOptions,
  { name, canBegin, refusal, run }: DemoPart,
): Promise<DemoDataResult | 'refused'> {
  const outcome = await steward.write(SCOPE, (tx) => findDemoDataOutcome(tx, name))
  if (outcome === 'applied') return 'kept'
  if (outcome === undefined) {
    if (!(await canBegin())) {
      log.info({ tenant: tenant.slug }, refusal)
      return 'refused'
    }
    await steward.write(SCOPE, (tx) => insertDemoDataBegun(tx, name))
  }
  onBegin?.()
  await run()
  await steward.write(SCOPE, (tx) => updateDemoDataComplete(tx, name))
  return 'added'
}

type Results<Steps extends readonly (() => Promise<unknown>)[]> = {
  [Place in keyof Steps]: Awaited<ReturnType<Steps[Place]>>
}

/** All of them have ended when it does, also where one fails: nothing is added after the lock is released. */
async function runTogether<const Steps extends readonly (() => Promise<unknown>)[]>(
  steps: Steps,
): Promise<Results<Steps>> {
  const running = steps.map((run) => run())
  await Promise.allSettled(running)
  return (await Promise.all(running)) as Results<Steps>
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
  const overrides = { overrides: policy.overrides, magic }
  const [, ids] = await runTogether([
    () => step('own lists', () => seedLists(caller, policy.lists, { calendar, names: portfolio })),
    () => step('customers', () => seedSubjects(caller, customers)),
    () => step('drafts', () => seedDrafts(caller, policy.drafts)),
  ])
  // Customers of the first portfolio and those who came later are different ones.
  await runTogether([
    () => step('first portfolio', () => seedBatches(caller, planFirstPortfolio(customers, calendar))),
    () => step('onboardings', () => seedOnboardings(caller, customers, { calendar, ids })),
  ])
  await step('reviews', () => seedBatches(caller, planReviews(customers, calendar)))
  await step('nightly batches', () => seedBatches(caller, planLastNight(calendar)))
  await step('overrides', () => seedOverrides(caller, overrides, { customers, ids, calendar }))
  await step('approval policy', () => seedApprovalPolicy(caller, policy))
  await runTogether([
    () => step('change requests', () => seedProposals(caller, policy.lists)),
    () => step('schedule', () => seedSchedule(caller, policy.schedule)),
    () => step('audit verification', () => seedAuditVerification(caller)),
  ])
}

async function runProviderSteps(caller: DemoCaller, options: DemoDataOptions): Promise<void> {
  const { providers, policy } = readDemoFiles(options.project_root)
  const step = createStepLog(options.log, () => assertOwnPolicy(caller, policy))
  await step('source contracts and providers', () => seedContractsAndProviders(caller, providers))
  await step('matrix and rule on facts', () => seedFactReaders(caller, providers))
  await step('provider calls', () => seedProviderCalls(caller, providers))
  await step('impact of the pending change', () => renewImpact(caller, policy.lists))
}

async function runPluginSteps(caller: DemoCaller, options: DemoDataOptions): Promise<void> {
  const { plugins, policy } = readDemoFiles(options.project_root)
  const step = createStepLog(options.log, () => assertOwnPolicy(caller, policy))
  await step('plugins', () => seedDemoPlugins(caller, plugins))
}

async function runWorkSteps(caller: DemoCaller, options: DemoDataOptions): Promise<void> {
  const { work, policy } = readDemoFiles(options.project_root)
  const step = createStepLog(options.log, () => assertOwnPolicy(caller, policy))
  await step('alerts', () => seedAlerts(caller, work))
  await step('document with evidence and a hold', () => seedHeldDocument(caller, work))
  await step('restriction', () => seedRestriction(caller, work))
  await step('erasure', () => seedErasure(caller, work))
}

async function runCaseSteps(caller: DemoCaller, options: DemoDataOptions): Promise<void> {
  const { cases, policy } = readDemoFiles(options.project_root)
  const step = createStepLog(options.log, () => assertOwnPolicy(caller, policy))
  await step('investigations', () => seedCases(caller, cases))
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
