/** The present build on a database that the last landed commit created and filled; skipped where the history is too shallow. */
import { expect, test } from 'vitest'
import { runUpgrade } from './acceptance/support/upgrade.ts'
import { projectRoot } from './support/database.ts'
import { hasCommit, LANDED_COMMIT } from './support/landed.ts'

const isReachable = hasCommit(projectRoot, LANDED_COMMIT)
if (!isReachable) console.log(`The upgrade test is skipped: the history here does not reach commit ${LANDED_COMMIT}.`)

test.skipIf(!isReachable)(
  'migrates it, keeps its lists, replays its decisions and verifies its audit chain',
  async () => {
    expect(await runUpgrade(projectRoot, LANDED_COMMIT)).toMatchObject({
      missing_lists: [],
      same_document: true,
      verdict: 'identical',
      chain_intact: true,
      decides: true,
      passed: true,
    })
  },
)
