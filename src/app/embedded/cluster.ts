/**
 * The files of one embedded database: passwords, cluster, log. Everything is created elsewhere and moved into place by one
 * atomic step, so a killed or concurrent start leaves nothing half-made and needs no lock file.
 */
import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Binaries } from './binaries.ts'
import { type DataDir, findDatabaseUser, processOptions } from './data-dir.ts'
import { type LoginRole, loginRoles } from './roles.ts'

export type Role = LoginRole | 'postgres'
export type Passwords = Readonly<Record<Role, string>>

const roles: readonly Role[] = ['postgres', ...loginRoles]

export interface Cluster extends DataDir {
  readonly pg: string
  readonly log: string
  readonly passwords: Passwords
}

function passwordsFile(dir: string): string {
  return path.join(dir, 'passwords.json')
}

function readPasswords(dir: string): Passwords {
  const file = passwordsFile(dir)
  let read: Partial<Passwords> | null
  try {
    read = JSON.parse(fs.readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new Error(`${file} cannot be read. Run this as the user that started Probity, or restore the file.`, {
      cause,
    })
  }
  const missing = roles.filter((role) => typeof read?.[role] !== 'string')
  if (missing.length > 0) throw new Error(`${file} lacks the password of ${missing.join(', ')}. Restore the file.`)
  return read as Passwords
}

function createPasswords(dir: string): void {
  const file = passwordsFile(dir)
  if (fs.existsSync(file)) return
  if (fs.existsSync(path.join(dir, 'pg', 'PG_VERSION'))) {
    throw new Error(`${file} is missing, and without it the database in ${dir} cannot be opened. Restore the file.`)
  }
  const fresh = Object.fromEntries(roles.map((role) => [role, randomBytes(32).toString('base64url')]))
  const draft = `${file}.${randomUUID()}`
  fs.writeFileSync(draft, `${JSON.stringify(fresh, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
  try {
    // A hard link never replaces a file: of two concurrent starts both use the passwords of the first.
    fs.linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    fs.unlinkSync(draft)
  }
}

function describeCluster(data: DataDir): Cluster {
  const { dir } = data
  return { ...data, pg: path.join(dir, 'pg'), log: path.join(dir, 'postgres.log'), passwords: readPasswords(dir) }
}

/** The database in a prepared folder; a new folder gets its passwords here. */
export function openCluster(data: DataDir): Cluster {
  createPasswords(data.dir)
  return describeCluster(data)
}

/** The database of another process; null when the folder holds none. Changes nothing. */
export function findCluster(dataDir: string): Cluster | null {
  // Unlike existsSync this throws when access is denied, which must not be taken for "none runs".
  if (!fs.statSync(passwordsFile(dataDir), { throwIfNoEntry: false })) return null
  const dir = fs.realpathSync(dataDir)
  return describeCluster({ dir, user: findDatabaseUser(dir) })
}

export function hasCluster({ pg }: Cluster): boolean {
  return fs.existsSync(path.join(pg, 'PG_VERSION'))
}

function flushDir(dir: string): void {
  if (process.platform === 'win32') return
  const handle = fs.openSync(dir, 'r')
  fs.fsyncSync(handle)
  fs.closeSync(handle)
}

/** Removes the access of the database user to a folder, so that nothing changes while we work on it. */
function reclaimOwnership(draft: string): void {
  if (process.getuid?.() === 0) fs.lchownSync(draft, 0, 0)
}

function removeDraft(draft: string): void {
  try {
    reclaimOwnership(draft)
    fs.rmSync(draft, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    // Gone already, or a concurrent start still writes there: the next start tries again.
  }
}

/** Runs initdb in a temporary folder and moves the finished cluster into place. */
export async function createCluster(cluster: Cluster, binaries: Binaries, durable: boolean): Promise<void> {
  const { dir, user, pg, passwords } = cluster
  const draft = fs.mkdtempSync(path.join(dir, 'initdb-'))
  try {
    const data = path.join(draft, 'data')
    const password = path.join(draft, 'password')
    fs.mkdirSync(data, { mode: 0o700 })
    fs.writeFileSync(password, passwords.postgres, { mode: 0o600 })
    // The outermost last: the database user could replace a folder it owns by a link before its contents are reached.
    if (user) for (const made of [data, password, draft]) fs.chownSync(made, user.uid, user.gid)
    await promisify(execFile)(
      binaries.initdb,
      [
        ...['-D', data, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${password}`, '--encoding=UTF8'],
        // The builtin provider sorts and folds alike on every machine, whatever locales it has.
        ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--no-instructions'],
        ...(durable ? [] : ['--no-sync']),
      ],
      processOptions(user),
    )
    reclaimOwnership(draft)
    if (fs.lstatSync(data).isDirectory()) fs.renameSync(data, pg)
    if (durable) flushDir(dir)
  } catch (cause) {
    // A rename onto a cluster fails: another start was first, and its cluster has the same passwords.
    if (hasCluster(cluster)) return
    throw new Error(`PostgreSQL could not create its cluster in ${pg}: ${(cause as Error).message.trim()}`, { cause })
  } finally {
    removeDraft(draft)
  }
}

/** Removes what killed or superseded starts left. Only for the holder of the instance lock. */
export function removeLeftovers({ dir }: Cluster, binariesInUse: Binaries | null): void {
  for (const name of fs.readdirSync(dir)) {
    if (name.startsWith('initdb-') || name.startsWith('passwords.json.')) removeDraft(path.join(dir, name))
  }
  const shelf = path.join(dir, 'binaries')
  if (!binariesInUse || !fs.existsSync(shelf)) return
  for (const name of fs.readdirSync(shelf)) {
    const copy = path.join(shelf, name)
    if (!binariesInUse.postgres.startsWith(copy + path.sep)) removeDraft(copy)
  }
}
