/**
 * F14, `npm run acceptance -- corruption`: flips random bits of stored data, one at a time, and reads whatever depends on them.
 * Every flip must be detected, and after it is undone every check must pass again.
 */
import { type Corruption, createCorruption } from '../support/corruption.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { runFaultTest } from './faults/fault-test.ts'
import { startInProcessApp } from './faults/in-process-app.ts'
import { startDurableDatabase } from './support/durable-database.ts'

const CHECK_EVERY = 100

await runFaultTest('corruption', { flips: 3000 }, async ({ counts, random, signal, say: log }) => {
  const database = await startDurableDatabase()
  const inProcess = await startInProcessApp(database)
  let stored: Corruption | undefined
  try {
    stored = await createCorruption(database.connection('postgres'), await ExampleTenant.create(inProcess.app))
    const flips: Record<string, number> = {}
    const unnoticed: string[] = []
    const unsound: string[] = [...(await stored.unsound())]
    let done = 0
    while (done < counts.flips && !signal.aborted) {
      const { place, noticed } = await stored.flip(stored.names[done % stored.names.length] as string, random)
      flips[place] = (flips[place] ?? 0) + 1
      if (!noticed) unnoticed.push(place)
      if (++done % CHECK_EVERY === 0) unsound.push(...(await stored.unsound()))
      if (done % 500 === 0) log(`${done} flips, ${unnoticed.length} unnoticed`)
    }
    const passed = done === counts.flips && unnoticed.length === 0 && unsound.length === 0
    return { flips: done, unnoticed, unsound, places: flips, passed }
  } finally {
    await stored?.end()
    await inProcess.close()
    await database.stop()
  }
})
