/** `npm run stand:resolve`: resolving among a million versions of a thousand tenants (L4). Prints one line of JSON and exits 0 or 1. */
import { readCounts } from './load/options.ts'
import { resolveStand } from './load/resolve.ts'
import { runStand } from './load/scene.ts'

await runStand('resolve', () =>
  resolveStand(readCounts({ tenants: 1000, lists: 50, versions: 20, seconds: 60, per_second: 300 })),
)
