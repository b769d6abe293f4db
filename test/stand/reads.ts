/** `npm run stand:reads`: a thousand reads a second (L2). Prints one line of JSON and exits 0 or 1. */

import { readCounts } from './load/options.ts'
import { runStand } from './load/scene.ts'
import { readsStand } from './load/steady.ts'

await runStand('reads', () => readsStand(readCounts({ seconds: 60, per_second: 1000 })))
