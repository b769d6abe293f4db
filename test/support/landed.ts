/**
 * The last landed state: installations have its database, and its migrations never change. Both constants move forward together
 * when a later state lands.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'

export const LANDED_COMMIT = '78eaa389b3074e6d1b74adecda6c48c9c8a9829f'
export const LAST_LANDED_MIGRATION = '0067'

const FOLDER = 'db/migrations'
export const CHECKSUMS_FILE = `${FOLDER}/checksums.txt`

/** False where the history is shallow, or where there is none. */
export function hasCommit(root: string, commit: string): boolean {
  return runGit(root, 'cat-file', '-e', `${commit}^{commit}`) !== null
}

function runGit(cwd: string, ...args: string[]): string | null {
  try {
    return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return null
  }
}

const isLanded = (file: string): boolean => file.slice(0, 4) <= LAST_LANDED_MIGRATION

export const listMigrationFiles = (root: string): string[] =>
  fs
    .readdirSync(path.join(root, FOLDER))
    .filter((file) => file.endsWith('.sql'))
    .sort()

/** By file. */
export function computeChecksums(root: string): Map<string, string> {
  const digest = (file: string) => createHash('sha256').update(fs.readFileSync(path.join(root, FOLDER, file)))
  return new Map(listMigrationFiles(root).map((file) => [file, digest(file).digest('hex')]))
}

/** By file, as the committed list has it. */
export function readChecksums(root: string): Map<string, string> {
  const target = path.join(root, CHECKSUMS_FILE)
  const lines = fs.existsSync(target) ? fs.readFileSync(target, 'utf8').trimEnd().split('\n') : []
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]))
}

/** In the form of sha256sum. The line of a landed migration stays as it is, so that an edit of the file is noticed. */
export function renderChecksums(root: string): string {
  const known = readChecksums(root)
  const lines = [...computeChecksums(root)].map(([file, current]) => {
    const checksum = isLanded(file) ? (known.get(file) ?? current) : current
    return `${checksum}  ${file}\n`
  })
  return lines.join('')
}

/** Landed migrations that the commit has in another form or under another name. */
export function listEditedMigrations(root: string, commit: string): string[] {
  const output = runGit(root, 'diff', '--name-only', '--no-renames', '--diff-filter=a', commit, '--', `${FOLDER}/*.sql`)
  if (output === null) throw new Error(`git cannot compare ${FOLDER} with ${commit}`)
  return output.split('\n').filter(Boolean)
}

/** The number of the last migration that the commit has. */
export function findLastMigration(root: string, commit: string): string | undefined {
  const files = runGit(root, 'ls-tree', '--name-only', commit, `${FOLDER}/`) ?? ''
  return files
    .match(/\/\d{4}_[a-z0-9_]+\.sql/g)
    ?.at(-1)
    ?.slice(1, 5)
}
