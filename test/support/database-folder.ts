/**
 * Folders for the databases of a run: in memory where there is plenty of it. A run creates and drops close to two hundred
 * databases of thousands of files each, and nobody reads them afterwards.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const MEMORY_FOLDER = '/dev/shm'
/** A whole run needs about a third of it. */
const MIN_FREE_BYTES = 6 * 1024 ** 3

/** A new folder, with the links in its path resolved: programs name a folder by its real path. */
export function createDatabaseFolder(prefix: string): string {
  return fs.realpathSync(fs.mkdtempSync(path.join(hasMemoryFolder() ? MEMORY_FOLDER : os.tmpdir(), prefix)))
}

function hasMemoryFolder(): boolean {
  if (process.platform !== 'linux') return false
  try {
    fs.accessSync(MEMORY_FOLDER, fs.constants.W_OK)
    const { bavail, bsize } = fs.statfsSync(MEMORY_FOLDER)
    // The folder may be larger than the memory that this process may still use.
    return Math.min(bavail * bsize, process.availableMemory()) >= MIN_FREE_BYTES
  } catch {
    return false
  }
}
