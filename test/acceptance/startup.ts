/** `npm run acceptance -- startup`: how soon the program is ready, alone and five at once (L9). Prints one line of JSON and exits 0 or 1. */
import { parseCounts } from './load/options.ts'
import { runStartup } from './load/startup.ts'

const result = await runStartup(parseCounts({}))
console.log(JSON.stringify({ run: 'startup', ...result }))
process.exitCode = result.passed ? 0 : 1
