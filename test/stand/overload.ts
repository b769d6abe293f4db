/** `npm run stand:overload`: three times what the server can do (L3). Prints one line of JSON and exits 0 or 1. */
import { readCounts } from './load/options.ts'
import { overloadStand } from './load/overload.ts'
import { runStand } from './load/scene.ts'

await runStand('overload', () => overloadStand(readCounts({ rounds: 5, seconds: 10, reads: 0 })))
