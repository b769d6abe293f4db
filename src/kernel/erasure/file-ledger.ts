/** The erasure ledger as a file of JSON lines. Keep it on other storage than the database, and in every backup of that storage. */
import fs from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { InvalidJson, parseJsonFile } from '../strict-json.ts'
import { assertChained, createEntry, type ErasureLedger, LedgerDamaged, type LedgerEntry } from './ledger.ts'

const LOCK_RETRY_MS = 20
/** An append takes milliseconds: a lock this old was left by a process that died. */
const LOCK_STALE_MS = 30_000
const NEW_LINE = 0x0a

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

export function createFileLedger(file: string): ErasureLedger {
  const readBytes = () =>
    fs.readFile(file).catch((error: unknown) => {
      if (isMissing(error)) return Buffer.alloc(0)
      throw error
    })

  return {
    append: (facts, signer) =>
      withLock(`${file}.lock`, async () => {
        const bytes = await readBytes()
        const entries = parseEntries(bytes)
        const known = entries.find(({ erasure_id }) => erasure_id === facts.erasure_id)
        if (known) return known
        const entry = createEntry(facts, entries.at(-1), signer)
        await appendLine(file, endOfLines(bytes), JSON.stringify(entry))
        return entry
      }),
    read: async () => parseEntries(await readBytes()),
    readVersion: async () => {
      const found = await fs.stat(file).catch((error: unknown) => {
        if (isMissing(error)) return null
        throw error
      })
      return found && `${found.ino}:${found.size}:${found.mtimeMs}`
    },
  }
}

/** A line without its end was being written when a process died: no erasure has followed it. */
const endOfLines = (bytes: Buffer): number => bytes.lastIndexOf(NEW_LINE) + 1

function parseEntries(bytes: Buffer): LedgerEntry[] {
  const lines = bytes.toString('utf8', 0, endOfLines(bytes)).split('\n').slice(0, -1)
  const entries = lines.map((line, at) => {
    try {
      return parseJsonFile(line) as LedgerEntry
    } catch (error) {
      if (!(error instanceof InvalidJson)) throw error
      throw new LedgerDamaged(`Line ${at + 1} of the erasure ledger cannot be read: ${error.message}`)
    }
  })
  assertChained(entries)
  return entries
}

async function appendLine(file: string, from: number, line: string): Promise<void> {
  const handle = await fs.open(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600)
  try {
    await handle.truncate(from)
    await handle.write(`${line}\n`, from)
    await handle.sync()
  } finally {
    await handle.close()
  }
  // The name of a new file is durable when its folder is.
  const folder = await fs.open(path.dirname(file), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function withLock<T>(lock: string, body: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      await fs.mkdir(lock)
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const found = await fs.stat(lock).catch(() => null)
      if (found && Date.now() - found.mtimeMs > LOCK_STALE_MS) await fs.rmdir(lock).catch(() => {})
      else await sleep(LOCK_RETRY_MS)
    }
  }
  try {
    return await body()
  } finally {
    await fs.rmdir(lock).catch(() => {})
  }
}
