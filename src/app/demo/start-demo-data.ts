/** Adds the demo data in the background of `start`, after the service is ready, and prints when it begins and ends. */
import { fullScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import type { Log } from '#kernel/log.ts'
import { PORTFOLIO_DAYS } from '#modules/analytics/index.ts'
import type { Config } from '../config.ts'
import type { Environment } from '../environment.ts'
import type { ProcessLifecycle } from '../process-lifecycle.ts'
import type { Project } from '../project.ts'
import { demoTenants } from '../seed.ts'
import type { RunningService } from '../serve.ts'
import { ApprovalRequired } from './demo-caller.ts'
import { seedDemoData } from './demo-data.ts'

const STOP_MS = 10_000
const STATEMENT_TIMEOUT_MS = 15_000

export interface StartDemoDataOptions {
  readonly config: Config
  readonly project: Project
  readonly environment: Environment
  readonly serving: RunningService
  /** Under which this machine reaches the service. */
  readonly host: string
  readonly log: Log
  readonly life: ProcessLifecycle
  readonly say: (text: string) => void
}

/**
 * Returns immediately. A failure is reported and does not stop the service. The next start continues, except where the approval
 * policy of the tenant was changed.
 */
export function startDemoData(options: StartDemoDataOptions): void {
  const { config, log, life, say } = options
  if (!config.demo_data) return
  const from_ms = performance.now()
  const seeding = addDemoData(options).then(
    async (result) => {
      if (result === 'kept') return
      await countPortfolio(options.serving)
      const took_s = ((performance.now() - from_ms) / 1000).toFixed(1)
      say(`Demo data is complete after ${took_s} s: 510 customers of the tenant demo, rated over a year`)
      log.info({ duration_ms: Math.round(performance.now() - from_ms) }, 'demo data is complete')
    },
    (error) => {
      if (life.signal.aborted) return
      if (error instanceof ApprovalRequired) {
        log.warn({ err: error }, 'demo data is incomplete: changes of the tenant need approval')
        say(
          `Demo data is incomplete: ${error.message}. Nothing more is added while its rules are there. For complete demo data, start with a new data folder (PROBITY_DATA_DIR).`,
        )
        return
      }
      log.error({ err: error }, 'failed to add demo data')
      say(
        `Demo data is incomplete: ${error instanceof Error ? error.message : String(error)}. The next start continues.`,
      )
    },
  )
  life.onEnd(null, STOP_MS, () => seeding)
}

/** The job counts the past year now, not at its time within the hour, so that charts have something to show. */
function countPortfolio({ kernel }: RunningService): Promise<unknown> {
  const [{ tenant_id }] = demoTenants as [(typeof demoTenants)[number]]
  return kernel.transactions.write(fullScope(tenant_id, 'seed:demo'), (tx) =>
    kernel.jobs.enqueue(tx, { kind: PORTFOLIO_DAYS, payload: {}, unlimited: true }),
  )
}

async function addDemoData({ config, project, environment, serving, host, log, life, say }: StartDemoDataOptions) {
  const { steward: connection } = environment.connections
  const steward = new Database({
    connection,
    max: 2,
    prepared: config.prepared_statements,
    statement_timeout_ms: STATEMENT_TIMEOUT_MS,
    wait_ms: STATEMENT_TIMEOUT_MS,
  })
  try {
    return await seedDemoData({
      url: `http://${host}:${serving.port}`,
      egress: serving.kernel.egress,
      issuer: serving.kernel.issuer,
      steward,
      connection,
      project_root: project.root,
      signal: life.signal,
      log,
      onBegin: () => say('Adding demo data in the background: customers, ratings and lists of the tenant demo'),
    })
  } finally {
    await steward.end()
  }
}
