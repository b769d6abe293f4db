/** `npm run acceptance -- tenant-interleaving`: fifty tenants at once, with requests broken off (T4). Prints one line of JSON and exits 0 or 1. */
import { runTenantInterleaving } from './fuzz/tenant-interleaving.ts'
import { runLoadTest } from './load/load-setup.ts'
import { parseCounts } from './load/options.ts'

await runLoadTest('tenant-interleaving', () => runTenantInterleaving(parseCounts({ requests: 100_000 })))
