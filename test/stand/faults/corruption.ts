/**
 * F14, `npm run stand:corruption`: random bits of what is stored are flipped, one at a time, and whatever depends on them is
 * asked. Every flip must be noticed, and undone it must leave everything sound.
 */
import { corruption } from '../../support/corruption.ts'
import { ExampleTenant } from '../../support/example-tenant.ts'
import { layGround } from '../ground.ts'
import { runStand } from './options.ts'
import { openRoom } from './room.ts'

const SOUND_EVERY = 100

await runStand('corruption', { flips: 3000 }, async ({ counts, random, signal, say }) => {
  const ground = await layGround()
  const room = await openRoom(ground)
  try {
    const stored = await corruption(ground.connection('postgres'), await ExampleTenant.create(room.world))
    const flips: Record<string, number> = {}
    const unnoticed: string[] = []
    const unsound: string[] = [...(await stored.unsound())]
    let done = 0
    while (done < counts.flips && !signal.aborted) {
      const { place, noticed } = await stored.flip(stored.names[done % stored.names.length] as string, random)
      flips[place] = (flips[place] ?? 0) + 1
      if (!noticed) unnoticed.push(place)
      if (++done % SOUND_EVERY === 0) unsound.push(...(await stored.unsound()))
      if (done % 500 === 0) say(`${done} flips, ${unnoticed.length} unnoticed`)
    }
    await stored.end()
    const passed = done === counts.flips && unnoticed.length === 0 && unsound.length === 0
    return { flips: done, unnoticed, unsound, places: flips, passed }
  } finally {
    await room.close()
    await ground.stop()
  }
})
