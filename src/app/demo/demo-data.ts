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
import { readDemoFiles } from './demo-files.ts'
import { assertOwnPolicy, hasOwnPolicy } from './demo-governance.ts'
import { type PartName, partNames, planSteps } from './demo-steps.ts'
import { runDependentSteps } from './dependent-steps.ts'
import { findDemoDataOutcome, insertDemoDataBegun, tryLockDemoData, updateDemoDataComplete } from './queries.ts'

const SCOPE: Scope = fullScope(SYSTEM_TENANT, 'seed:demo')
const LOCK_POLL_MS = 500
const CONNECT_MS = 10_000
const SHARED_CHECK_MS = 250

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

/** Each part has an entry in the seed ledger: an upgrade adds a new part to data that is complete. */
const ledgerNames: Readonly<Record<PartName, string>> = {
  customers: tenant.slug,
  providers: `${tenant.slug}/providers`,
  plugins: `${tenant.slug}/plugins`,
  cases: `${tenant.slug}/cases`,
  work: `${tenant.slug}/work`,
  extensions: `${tenant.slug}/extensions`,
}

async function addDemoData(options: DemoDataOptions): Promise<DemoDataResult> {
  const caller = new DemoCaller({ ...options, tenant })
  const files = readDemoFiles(options.project_root)
  const { begun, isNew } = await beginParts(options, {
    first: () => isTenantEmpty(caller),
    others: () => hasOwnPolicy(caller, files.policy),
  })
  if (begun.length === 0) return 'kept'
  options.onBegin?.()
  const calendar = new DemoCalendar(options.now_ms ?? Date.now(), await findInForceSince(caller))
  const planned = planSteps(caller, files, { calendar, isNew })
  const runLogged = createStepLog(
    options.log,
    shareRecent(() => assertOwnPolicy(caller, files.policy)),
  )
  const steps = begun.flatMap((part) => [
    ...planned[part].map((step) => ({ ...step, run: () => runLogged(step.name, step.run) })),
    {
      name: `completion of ${part}`,
      after: planned[part].map(({ name }) => name),
      run: () => options.steward.write(SCOPE, (tx) => updateDemoDataComplete(tx, ledgerNames[part])),
    },
  ])
  await runDependentSteps(steps)
  return 'added'
}

interface PartConditions {
  /** Without the first part there are no others. */
  readonly first: () => Promise<boolean>
  readonly others: () => Promise<boolean>
}

interface BegunParts {
  readonly begun: readonly PartName[]
  /** Nothing was added before, by this release or an earlier one. */
  readonly isNew: boolean
}

/** The parts that are not complete, each with its entry in the seed ledger. */
async function beginParts({ steward, log }: DemoDataOptions, conditions: PartConditions): Promise<BegunParts> {
  const begun: PartName[] = []
  let isNew = false
  for (const [index, part] of partNames.entries()) {
    const isFirst = index === 0
    const outcome = await steward.write(SCOPE, (tx) => findDemoDataOutcome(tx, ledgerNames[part]))
    if (outcome === 'applied') continue
    if (outcome === undefined) {
      if (!(await (isFirst ? conditions.first() : conditions.others()))) {
        const reason = isFirst ? 'the tenant has data of its own' : 'the approval policy of the tenant was changed'
        log.info({ tenant: tenant.slug, part }, `demo data not added: ${reason}`)
        if (isFirst) return { begun, isNew }
        continue
      }
      await steward.write(SCOPE, (tx) => insertDemoDataBegun(tx, ledgerNames[part]))
      if (isFirst) isNew = true
    }
    begun.push(part)
  }
  return { begun, isNew }
}

/** Data is added only to a tenant without subjects, own lists, change requests and approval rules. */
async function isTenantEmpty(caller: DemoCaller): Promise<boolean> {
  const listings = ['/api/subjects', '/api/reference-data/datasets?origin=own', '/api/change-requests']
  const [{ rules }, ...pages] = await Promise.all([
    caller.get<{ rules: unknown[] }>('policy_editor', '/api/tenant/approval-policy'),
    ...listings.map((listing) => caller.get<{ items: unknown[] }>('policy_editor', listing)),
  ])
  return rules.length === 0 && pages.every(({ items }) => items.length === 0)
}

/** When the youngest of the shared lists came into force: decisions cannot be made for an earlier instant. */
async function findInForceSince(caller: DemoCaller): Promise<number> {
  const lists = await caller.listAll<{ active: { effective_from: string } | null }>(
    'policy_editor',
    '/api/reference-data/datasets?origin=shared',
  )
  return Math.max(...lists.flatMap(({ active }) => (active ? [Date.parse(active.effective_from)] : [])))
}

/** Steps that begin at about the same time share one check. */
function shareRecent(check: () => Promise<void>): () => Promise<void> {
  let recent: { readonly checked: Promise<void>; readonly until_ms: number } | undefined
  return () => {
    if (!recent || performance.now() > recent.until_ms)
      recent = { checked: check(), until_ms: performance.now() + SHARED_CHECK_MS }
    return recent.checked
  }
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
