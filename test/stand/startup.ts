/** `npm run stand:startup`: how soon the program is ready, alone and five at once (L9). Prints one line of JSON and exits 0 or 1. */
import { readCounts } from './load/options.ts'
import { startupStand } from './load/startup.ts'

const result = await startupStand(readCounts({}))
console.log(JSON.stringify({ stand: 'startup', ...result }))
process.exitCode = result.passed ? 0 : 1
