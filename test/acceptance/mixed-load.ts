/** `npm run acceptance -- mixed-load`: a mixed load of 300 requests a second (L1). Prints one line of JSON and exits 0 or 1. */

import { runLoadTest } from './load/load-setup.ts'
import { parseCounts } from './load/options.ts'
import { runMixedLoad } from './load/steady-load.ts'

await runLoadTest('mixed-load', () => runMixedLoad(parseCounts({ seconds: 600, per_second: 300 })))
