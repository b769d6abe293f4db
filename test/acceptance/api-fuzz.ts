/** `npm run acceptance -- api-fuzz`: generated requests, valid and invalid (I2). Prints one line of JSON and exits 0 or 1. */
import { runApiFuzz } from './fuzz/api-fuzz.ts'
import { runLoadTest } from './load/load-setup.ts'
import { parseCounts } from './load/options.ts'

await runLoadTest('api-fuzz', () => runApiFuzz(parseCounts({ valid: 100_000, invalid: 100_000 })))
