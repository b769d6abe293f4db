/** `npm run acceptance -- noisy-neighbour`: one tenant at ten times its limit beside quiet ones (L10). Prints one line of JSON and exits 0 or 1. */
import { runNoisyNeighbour } from './load/interference.ts'
import { runLoadTest } from './load/load-setup.ts'
import { parseCounts } from './load/options.ts'

await runLoadTest('noisy-neighbour', () => runNoisyNeighbour(parseCounts({ rounds: 15, seconds: 5 })))
