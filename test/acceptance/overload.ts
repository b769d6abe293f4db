/** `npm run acceptance -- overload`: three times what the server can do (L3). Prints one line of JSON and exits 0 or 1. */

import { runLoadTest } from './load/load-setup.ts'
import { parseCounts } from './load/options.ts'
import { runOverload } from './load/overload.ts'

await runLoadTest('overload', () => runOverload(parseCounts({ rounds: 5, seconds: 10, reads: 0 })))
