/** `npm run acceptance -- read-load`: a thousand reads a second (L2). Prints one line of JSON and exits 0 or 1. */

import { runLoadTest } from './load/load-setup.ts'
import { parseCounts } from './load/options.ts'
import { runReadLoad } from './load/steady-load.ts'

await runLoadTest('read-load', () => runReadLoad(parseCounts({ seconds: 60, per_second: 1000 })))
