/** `npm run stand:interleave`: fifty tenants at once, with requests broken off (T4). Prints one line of JSON and exits 0 or 1. */
import { interleaveStand } from './hostile/interleave.ts'
import { readCounts } from './load/options.ts'
import { runStand } from './load/scene.ts'

await runStand('interleave', () => interleaveStand(readCounts({ requests: 100_000 })))
