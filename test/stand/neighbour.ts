/** `npm run stand:neighbour`: one tenant at ten times its limit beside quiet ones (L10). Prints one line of JSON and exits 0 or 1. */
import { neighbourStand } from './load/company.ts'
import { readCounts } from './load/options.ts'
import { runStand } from './load/scene.ts'

await runStand('neighbour', () => neighbourStand(readCounts({ rounds: 15, seconds: 5 })))
