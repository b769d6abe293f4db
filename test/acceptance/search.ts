/**
 * `npm run acceptance -- search`: twenty searches a second beside the mixed load (L1), with a million subjects. Prints one line of
 * JSON and exits 0 or 1.
 */

import { runLoadTest } from './load/load-setup.ts'
import { parseCounts } from './load/options.ts'
import { runSearchLoad } from './load/search-load.ts'

await runLoadTest('search', () =>
  runSearchLoad(parseCounts({ subjects: 1_000_000, seconds: 120, mixed_per_second: 300, searches_per_second: 20 })),
)
