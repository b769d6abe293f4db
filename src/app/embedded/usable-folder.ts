/** Makes the data folder and checks that it can be used; what is wrong is said with the setting, the path and what to do. */
import fs from 'node:fs'
import path from 'node:path'

const ADVICE = 'Set PROBITY_DATA_DIR to a folder that this user can write to, or that does not exist yet.'

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not enter it or write to it',
  EPERM: 'this user may not enter it or write to it',
  EROFS: 'it is on a file system that is read-only',
  ENOTDIR: 'it, or a folder it should be in, is a file',
  EEXIST: 'it is a file, not a folder',
  ENOENT: 'no folder can be made there',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'its path is too long',
  ELOOP: 'the links in its path form a circle',
}

class FolderError extends Error {
  override readonly name = 'FolderError'
}

/** Runs what reads or makes the folder; a refusal of the operating system becomes a sentence. */
export function withFolder<T>(dir: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined || error instanceof FolderError) throw error
    throw new FolderError(
      `The data folder ${dir} (PROBITY_DATA_DIR) cannot be used: ${reasons[code] ?? code}. ${ADVICE}`,
      {
        cause: error,
      },
    )
  }
}

const find = (file: string) => {
  try {
    return fs.statSync(file)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

const isLink = (file: string): boolean => {
  try {
    return fs.lstatSync(file).isSymbolicLink()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

/** A link that leads to nothing is no folder, and none can be made in its place. */
function assertNoDanglingLink(dir: string, step: string): void {
  if (!isLink(step)) return
  throw new FolderError(
    `The data folder ${dir} (PROBITY_DATA_DIR) cannot be used: ${step} is a link to ${fs.readlinkSync(step)}, which does not exist. ${ADVICE}`,
  )
}

/** The folder itself or the nearest one above it that exists must be a folder. Changes nothing. */
export function assertNoFileOnTheWay(dir: string): void {
  withFolder(dir, () => {
    let step = path.resolve(dir)
    let found = find(step)
    while (!found && step !== path.dirname(step)) {
      assertNoDanglingLink(dir, step)
      step = path.dirname(step)
      found = find(step)
    }
    if (!found || found.isDirectory()) return
    throw new FolderError(
      `The data folder ${dir} (PROBITY_DATA_DIR) cannot be used: ${step} is a file, not a folder. ${ADVICE}`,
    )
  })
}

/**
 * Makes the folder and those above it, one by one: in a file system where nothing can be made, such as /proc, making all of them at once
 * never returns. Returns those that were made, the innermost first.
 */
export function makeFolder(dir: string, mode = 0o777): string[] {
  assertNoFileOnTheWay(dir)
  return withFolder(dir, () => {
    const missing: string[] = []
    for (let step = path.resolve(dir); !find(step); step = path.dirname(step)) missing.push(step)
    for (const step of missing.toReversed()) {
      try {
        fs.mkdirSync(step, { mode })
      } catch (error) {
        // Another process has made it meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !find(step)?.isDirectory()) throw error
      }
    }
    return missing
  })
}

export const assertWritable = (dir: string): void =>
  withFolder(dir, () => fs.accessSync(dir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK))
