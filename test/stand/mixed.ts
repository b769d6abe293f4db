/** `npm run stand:mixed`: a mixed load of 300 requests a second (L1). Prints one line of JSON and exits 0 or 1. */

import { readCounts } from './load/options.ts'
import { runStand } from './load/scene.ts'
import { mixedStand } from './load/steady.ts'

await runStand('mixed', () => mixedStand(readCounts({ seconds: 600, per_second: 300 })))
