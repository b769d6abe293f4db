/**
 * F2, `npm run acceptance -- database-kills`: PostgreSQL is killed again and again under reads and writes. Clients see only right answers
 * and 503 with Retry-After, the service recovers by itself, and what was acknowledged is there.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { runFaultTest } from './faults/fault-test.ts'
import { startKillableDatabase } from './faults/killable-database.ts'
import { freePort, Service } from './faults/service.ts'
import { compareWithDatabase, verifyChains } from './faults/stored-writes.ts'
import { Writers } from './faults/writers.ts'

const TENANTS = 3
const RECOVERY_LIMIT_MS = 30_000

await runFaultTest('database-kills', { kills: 50, writers: 8 }, async ({ counts, random, signal, say: log }) => {
  const database = await startKillableDatabase(TENANTS)
  const api = new Service('api', await freePort(), database.env)
  const worker = new Service('worker', await freePort(), database.env)
  try {
    await Promise.all([api.start(signal), worker.start(signal)])
    const writers = new Writers({ database, bases: [api.base], count: counts.writers, random, mayDisconnect: false })
    /** Until it is ready and a write got through that was begun after the server came back. */
    const waitForRecovery = async (): Promise<number> => {
      const [from_ms, before] = [performance.now(), writers.acknowledged.length]
      while (!(await api.isReady()) || writers.acknowledged.length === before) {
        if (performance.now() - from_ms > RECOVERY_LIMIT_MS) throw new Error('the service does not recover')
        await sleep(10, undefined, { signal })
      }
      return performance.now() - from_ms
    }
    const recoveries_ms: number[] = []
    let kills = 0
    let alive_throughout = true
    while (kills < counts.kills && alive_throughout && !signal.aborted) {
      await sleep(300 + random(700))
      await database.killServer(random(2) === 0 ? 'SIGKILL' : 'SIGQUIT')
      kills++
      await sleep(random(1500))
      const liveness = await fetch(`${api.base}/health`).catch(() => undefined)
      alive_throughout &&= liveness?.status === 200
      await database.startServer()
      recoveries_ms.push(await waitForRecovery())
      if (kills % 10 === 0) log(`${kills} kills, ${writers.acknowledged.length} writes`)
    }
    alive_throughout &&= api.isAlive && worker.isAlive
    await writers.finish()
    const found = await compareWithDatabase(database, writers.acknowledged)
    const chains = await verifyChains(database, api.base)
    const { lost, altered, doubled, unasked, without_their_one_event, events_of_nothing } = found
    const faults = lost + altered + doubled + unasked + without_their_one_event + events_of_nothing
    const refused = [...writers.statuses].filter(([code]) => code.startsWith('503')).reduce((sum, [, n]) => sum + n, 0)
    return {
      kills,
      alive_throughout,
      refused_with_retry_after: refused,
      longest_recovery_ms: Math.round(Math.max(...recoveries_ms)),
      ...found,
      ...chains,
      answers: Object.fromEntries(writers.statuses),
      wrong_answers: writers.unexpected,
      passed:
        kills === counts.kills &&
        alive_throughout &&
        refused > 0 &&
        faults === 0 &&
        writers.unexpected.length === 0 &&
        chains.chains_intact &&
        chains.unsealed === 0,
    }
  } finally {
    await Promise.all([api.kill(), worker.kill()])
    await database.stop()
  }
})
