/**
 * Where the embedded database keeps its files, and the operating system user that may reach them.
 * PostgreSQL refuses to run as root, so under root a second, unprivileged user must be able to enter the folder.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { assertNoFileOnTheWay, assertWritable, makeFolder, withFolder } from './usable-folder.ts'

/** The user PostgreSQL runs as; null means: the current user. */
export type DatabaseUser = { readonly name: string; readonly uid: number; readonly gid: number } | null

/** The folder with checked permissions and resolved links: two paths to one folder must find one server. */
export interface DataDir {
  readonly dir: string
  readonly user: DatabaseUser
}

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** What a child process needs to run as the database user, with nothing of our environment. */
export function processOptions(user: DatabaseUser) {
  const env = process.platform === 'win32' ? process.env : { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' }
  // macOS prints its nobody (-2) unsigned, and spawn takes signed ids only.
  return { cwd: '/', env, ...(user && { uid: user.uid | 0, gid: user.gid | 0 }) }
}

/**
 * Runs a program of the system and returns its exit status and output. A program that could not be run is an error and never
 * taken for a "no".
 */
function runProgram(program: string, args: readonly string[], options: object, purpose: string) {
  const { error, status, signal, stdout } = spawnSync(program, args, { encoding: 'utf8', ...options })
  if (error === undefined && status !== null) return { status, stdout: stdout as string }
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  const reason =
    code === 'ENOENT'
      ? `it was not found in PATH=${process.env['PATH'] ?? ''}`
      : code === 'EPERM'
        ? 'this process may not start programs as another user (EPERM); a container without the capabilities SETUID and SETGID cannot'
        : (error?.message ?? `it was ended by ${signal}`)
  throw new Error(`Cannot ${purpose}: the program "${program}" could not be run, because ${reason}.`, { cause: error })
}

function lookUpUser(name: string): DatabaseUser {
  const ask = (flag: string) => runProgram('id', [flag, name], {}, `look up the user "${name}"`)
  const [uid, gid] = [ask('-u'), ask('-g')]
  if (uid.status !== 0 || gid.status !== 0) return null
  return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

export function findDatabaseUser(dir: string): DatabaseUser {
  if (process.getuid?.() !== 0) return null
  // A cluster stays with the user that made it, also when a package adds the user "postgres" later.
  const cluster = fs.statSync(path.join(dir, 'pg'), { throwIfNoEntry: false })
  if (cluster && cluster.uid !== 0) return { name: `uid ${cluster.uid}`, uid: cluster.uid, gid: cluster.gid }
  const user = lookUpUser('postgres') ?? lookUpUser('nobody')
  if (user) return user
  throw new Error(
    'PostgreSQL refuses to run as root, and there is no user "postgres" or "nobody" to run it as. ' +
      'Run Probity as an ordinary user, or create one with: useradd --system postgres',
  )
}

function canEnter(dir: string, user: DatabaseUser): boolean {
  // Checked by the operating system as that user, because mode bits do not show access control lists.
  const purpose = `check whether the database user "${user?.name}" can enter ${dir}`
  return runProgram('test', ['-x', dir], processOptions(user), purpose).status === 0
}

/** The first folder on the way to `dir` that the user cannot enter; folders that do not exist yet will be made enterable. */
function findBlockedDir(dir: string, user: DatabaseUser): string | null {
  if (!user) return null
  const way = [dir]
  while (way[0] !== path.dirname(way[0] as string)) way.unshift(path.dirname(way[0] as string))
  const existing = way.filter((step) => fs.existsSync(step))
  if (canEnter(existing.at(-1) as string, user)) return null
  return existing.find((step) => !canEnter(step, user)) ?? dir
}

export function resolveDataDir(
  env: { readonly PROBITY_DATA_DIR?: string | undefined },
  projectRoot: string,
): { dir: string; moved: string | null } {
  const wanted = path.resolve(env.PROBITY_DATA_DIR || path.join(projectRoot, '.probity'))
  assertNoFileOnTheWay(wanted)
  const user = findDatabaseUser(wanted)
  const blocked = findBlockedDir(path.dirname(wanted), user)
  if (!blocked || !user) return { dir: wanted, moved: null }
  if (env.PROBITY_DATA_DIR) {
    throw new Error(
      `PROBITY_DATA_DIR=${wanted} cannot be used as root: the database runs as "${user.name}", which cannot enter ` +
        `${blocked}. Choose a folder outside it, for example PROBITY_DATA_DIR=/var/lib/probity/data.`,
    )
  }
  const dir = path.join('/var/lib/probity', shortHash(wanted))
  const moved = `The database runs as "${user.name}", which cannot enter ${blocked}, so its files are kept in ${dir}.`
  return { dir, moved }
}

/** Creates the folder if needed and refuses one that another user could tamper with. */
export function prepareDataDir(wanted: string): DataDir {
  const missing = makeFolder(wanted)
  const dir = withFolder(wanted, () => fs.realpathSync(wanted))
  if (process.platform === 'win32') return { dir, user: null }

  const found = fs.statSync(dir)
  const root = process.getuid?.() === 0
  if (found.uid !== process.getuid?.()) {
    throw new Error(
      `The data folder ${dir} belongs to another user (uid ${found.uid}). ` +
        'Run Probity as that user, or set PROBITY_DATA_DIR to use another folder.',
    )
  }
  // Many distributions give each user a private group and a umask of 002, so the group is checked for root only.
  if (found.mode & (root ? 0o022 : 0o002)) {
    throw new Error(`The data folder ${dir} can be written by other users. Run: chmod go-w '${dir}'`)
  }
  assertWritable(dir)
  const user = findDatabaseUser(dir)
  if (user) for (const parent of missing.slice(1)) fs.chmodSync(parent, 0o755)
  // A folder with other content keeps its mode: it may not be ours alone (/srv, a home).
  if (fs.readdirSync(dir).length === 0) {
    if (user) fs.chownSync(dir, found.uid, user.gid)
    fs.chmodSync(dir, user ? 0o710 : 0o700)
  }
  const blocked = findBlockedDir(dir, user)
  if (blocked) {
    const advice = blocked === dir ? `Run: chmod o+x '${dir}'` : 'Set PROBITY_DATA_DIR to a folder outside it.'
    throw new Error(`The database runs as "${user?.name}", which cannot enter ${blocked}. ${advice}`)
  }
  return { dir, user }
}
