/**
 * The readiness checks of a serving process: database, schema, tenant isolation, seed, plugins, tool protocol, erasures, and
 * whether it is draining.
 */
import { findIsolationFaults, findRoleFault } from '#kernel/database/isolation.ts'
import { unrestrictedScope } from '#kernel/database/scope.ts'
import type { Database } from '#kernel/database/tx.ts'
import { CHECK_TIMEOUT_MS, type CheckFunction, type CheckResult, resolveWithin } from '#kernel/readiness.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { findSchemaState, findWriteBlocker } from './queries.ts'

const SCOPE = unrestrictedScope(SYSTEM_TENANT, 'operator:readiness')
/** Counted over all tenants. */
export interface PluginCounts {
  readonly active: number
  readonly invalid: number
}

/** The catalogue does not change between two probes. */
const ISOLATION_CACHE_MS = 10_000
/** On a busy database the catalogue is read late: the process stays ready on what was found last, but not for long. */
const ISOLATION_LATE_CACHE_MS = 60_000

const reportUncounted = (): CheckResult => ({ status: 'not_configured', detail: 'the plugins could not be counted' })

export function createReadinessChecks(options: {
  database: Pick<Database, 'one' | 'read' | 'discardIdle'>
  expected_schema: string
  isDraining: () => boolean
  countPlugins: () => Promise<PluginCounts>
  checkToolProtocol: CheckFunction
  checkErasures: CheckFunction
  timeout_ms?: number
  clock?: () => number
}): Record<string, CheckFunction> {
  const { database, expected_schema, isDraining, countPlugins, checkToolProtocol, checkErasures } = options
  const { timeout_ms = CHECK_TIMEOUT_MS, clock = () => performance.now() } = options
  const late_ms = timeout_ms / 2
  let cached: { readonly check: CheckResult; readonly at_ms: number } | undefined
  let running: Promise<CheckResult> | undefined
  const checkIsolation = async (): Promise<CheckResult> => {
    const age_ms = cached ? clock() - cached.at_ms : Number.POSITIVE_INFINITY
    if (cached && age_ms < ISOLATION_CACHE_MS) return cached.check
    running ??= readCatalogue().finally(() => {
      running = undefined
    })
    const known = cached
    return known && age_ms < ISOLATION_LATE_CACHE_MS ? resolveWithin(running, late_ms, () => known.check) : running
  }
  const readCatalogue = async (): Promise<CheckResult> => {
    const check = await database.read(SCOPE, async (tx): Promise<CheckResult> => {
      const ask = (text: string) => tx.query<Record<string, unknown>>(text)
      const fault = await findRoleFault(ask, 'app')
      const faults = await findIsolationFaults(ask, expected_schema)
      if (fault === null && faults.length === 0) return { status: 'ok' }
      return { status: 'failed', detail: 'run "npx probity doctor" to see what is wrong' }
    })
    cached = { check, at_ms: clock() }
    return check
  }
  return {
    process: async () => (isDraining() ? { status: 'failed', detail: 'shutting down' } : { status: 'ok' }),
    database: async () => {
      const obstacle = await database.one(SCOPE, findWriteBlocker)
      if (obstacle === null) return { status: 'ok' }
      // The next probe opens a new connection, which may reach the primary by then.
      database.discardIdle()
      return { status: 'failed', detail: obstacle }
    },
    schema: async () => {
      const current = (await database.one(SCOPE, findSchemaState))?.current ?? '0000'
      // An older replica stays ready while a newer one has already migrated.
      return { status: current >= expected_schema ? 'ok' : 'failed', current, expected: expected_schema }
    },
    tenant_isolation: checkIsolation,
    seed: async () => {
      const state = await database.one(SCOPE, findSchemaState)
      return (state?.signing_keys ?? 0) > 0 ? { status: 'ok' } : { status: 'failed', detail: 'run "npx probity seed"' }
    },
    // An invalid plugin fails what runs it, and nothing else: the process stays ready.
    plugins: async () =>
      resolveWithin(
        countPlugins().then(({ active, invalid }): CheckResult => ({ status: 'ok', active, invalid })),
        late_ms,
        reportUncounted,
      ).catch(reportUncounted),
    tool_protocol: checkToolProtocol,
    erasures: checkErasures,
  }
}
