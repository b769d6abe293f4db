/** `npm run stand:generated`: generated requests, valid and invalid (I2). Prints one line of JSON and exits 0 or 1. */
import { generatedStand } from './hostile/generated.ts'
import { readCounts } from './load/options.ts'
import { runStand } from './load/scene.ts'

await runStand('generated', () => generatedStand(readCounts({ valid: 100_000, invalid: 100_000 })))
