/** `npm run stand:idle`: thousands of idle connections and long polls beside quiet tenants (L8). Prints one line of JSON and exits 0 or 1. */
import { idleStand } from './load/company.ts'
import { readCounts } from './load/options.ts'
import { runStand } from './load/scene.ts'

await runStand('idle', () => idleStand(readCounts({ rounds: 9, seconds: 5, connections: 10_000 })))
