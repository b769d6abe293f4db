/** `npm run acceptance -- idle-connections`: thousands of idle connections and long polls beside quiet tenants (L8). Prints one line of JSON and exits 0 or 1. */
import { runIdleConnections } from './load/interference.ts'
import { runLoadTest } from './load/load-setup.ts'
import { parseCounts } from './load/options.ts'

await runLoadTest('idle-connections', () =>
  runIdleConnections(parseCounts({ rounds: 9, seconds: 5, connections: 10_000 })),
)
