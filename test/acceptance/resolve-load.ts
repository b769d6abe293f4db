/** `npm run acceptance -- resolve-load`: resolving among a million versions of a thousand tenants (L4). Prints one line of JSON and exits 0 or 1. */

import { runLoadTest } from './load/load-setup.ts'
import { parseCounts } from './load/options.ts'
import { runResolveLoad } from './load/resolve-load.ts'

await runLoadTest('resolve-load', () =>
  runResolveLoad(parseCounts({ tenants: 1000, lists: 50, versions: 20, seconds: 60, per_second: 300 })),
)
