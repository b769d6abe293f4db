/** Landed migrations are never edited, and the constants that say what has landed agree with each other. */
import { expect, test } from 'vitest'
import { projectRoot } from './support/database.ts'
import {
  CHECKSUMS_FILE,
  computeChecksums,
  findLastMigration,
  hasCommit,
  LANDED_COMMIT,
  LAST_LANDED_MIGRATION,
  listEditedMigrations,
  listMigrationFiles,
  readChecksums,
} from './support/landed.ts'

const isReachable = hasCommit(projectRoot, LANDED_COMMIT)
if (!isReachable) {
  const count = listMigrationFiles(projectRoot).length
  console.log(
    `The history does not reach ${LANDED_COMMIT}: ${count} migrations are compared with their checksums only.`,
  )
}

test(`every migration has the checksum that ${CHECKSUMS_FILE} lists`, () => {
  const listed = readChecksums(projectRoot)
  expect(listed.size).toBeGreaterThanOrEqual(Number(LAST_LANDED_MIGRATION))
  expect(Object.fromEntries(computeChecksums(projectRoot))).toEqual(Object.fromEntries(listed))
})

test.skipIf(!isReachable)('no migration of the landed commit is edited, renamed or deleted', () => {
  expect(listEditedMigrations(projectRoot, LANDED_COMMIT)).toEqual([])
})

test.skipIf(!isReachable)('the last landed migration is the last one of the landed commit', () => {
  expect(findLastMigration(projectRoot, LANDED_COMMIT)).toBe(LAST_LANDED_MIGRATION)
})
