/**
 * F1, `npm run acceptance -- server-kills`: service processes are killed (-9) in the middle of writes, three that answer requests and one that
 * seals and works; clients repeat what was not answered. No acknowledged write is lost or doubled, no event missing.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { runFaultTest } from './faults/fault-test.ts'
import { startKillableDatabase } from './faults/killable-database.ts'
import { freePort, Service } from './faults/service.ts'
import { compareWithDatabase, verifyChains } from './faults/stored-writes.ts'
import { Writers } from './faults/writers.ts'

const TENANTS = 3

await runFaultTest('server-kills', { kills: 200, writers: 8 }, async ({ counts, random, signal, say: log }) => {
  const database = await startKillableDatabase(TENANTS)
  const services: Service[] = []
  try {
    for (const name of ['api', 'api', 'api', 'worker'] as const)
      services.push(new Service(name, await freePort(), database.env))
    await Promise.all(services.map((service) => service.start(signal)))
    const apis = services.filter(({ name }) => name === 'api')
    const bases = apis.map(({ base }) => base)
    const writers = new Writers({ database, bases, count: counts.writers, random, mayDisconnect: true })
    const killing = { asked: 0, done: 0, in_the_middle: 0 }
    const killRepeatedly = async (victim: Service) => {
      while (killing.asked < counts.kills && !signal.aborted) {
        killing.asked++
        // Long enough to have something to do; a worker is given no sign of when it is ready.
        await sleep((victim.name === 'worker' ? 3000 : 300) + random(1200))
        if (writers.countInFlight(victim.base) > 0) killing.in_the_middle++
        await victim.kill()
        if (++killing.done % 20 === 0) log(`${killing.done} kills, ${writers.acknowledged.length} writes`)
        await victim.start(signal)
      }
    }
    await Promise.all(services.map(killRepeatedly))
    await writers.finish()
    const found = await compareWithDatabase(database, writers.acknowledged)
    const chains = await verifyChains(database, bases[0] as string)
    const { lost, altered, doubled, unasked, without_their_one_event, events_of_nothing } = found
    const faults = lost + altered + doubled + unasked + without_their_one_event + events_of_nothing
    return {
      kills: killing.done,
      kills_in_the_middle_of_requests: killing.in_the_middle,
      requests_cut_off: writers.disconnects,
      requests_repeated: writers.retries,
      ...found,
      ...chains,
      answers: Object.fromEntries(writers.statuses),
      wrong_answers: writers.unexpected,
      passed:
        killing.done === counts.kills &&
        killing.in_the_middle > 0 &&
        faults === 0 &&
        writers.unexpected.length === 0 &&
        chains.chains_intact &&
        chains.unsealed === 0,
    }
  } finally {
    await Promise.all(services.map((service) => service.kill()))
    await database.stop()
  }
})
