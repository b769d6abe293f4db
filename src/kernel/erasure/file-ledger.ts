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
        const { entries, end } = parseLedger(bytes)
        const known = entries.find(({ erasure_id }) => erasure_id === facts.erasure_id)
        if (known) return known
        const entry = createEntry(facts, entries.at(-1), signer)
        const text = `${JSON.stringify(entry)}\n`
        await appendText(file, end, end === endOfLines(bytes) ? text : `\n${text}`)
        return entry
      }),
    read: async () => parseLedger(await readBytes()).entries,
    readVersion: async () => {
      const found = await fs.stat(file).catch((error: unknown) => {
        if (isMissing(error)) return null
        throw error
      })
      return found && `${found.ino}:${found.size}:${found.mtimeMs}`
    },
  }
}

const endOfLines = (bytes: Buffer): number => bytes.lastIndexOf(NEW_LINE) + 1

/** The entries, and where the last one ends. */
function parseLedger(bytes: Buffer): { entries: LedgerEntry[]; end: number } {
  const from = endOfLines(bytes)
  const lines = bytes.toString('utf8', 0, from).split('\n').slice(0, -1)
  const entries = lines.map((line, at) => {
    const parsed = parseEntry(line)
    if (parsed instanceof InvalidJson || parsed === null)
      throw new LedgerDamaged(
        `Line ${at + 1} of the erasure ledger cannot be read: ${parsed?.message ?? 'it is no entry.'}`,
      )
    return parsed
  })
  // A part of a line was being written when a process died: no erasure has followed it. A whole one has only lost its end.
  const last = parseEntry(bytes.toString('utf8', from))
  const isWhole = !(last instanceof InvalidJson) && last !== null
  if (isWhole) entries.push(last)
  assertChained(entries)
  return { entries, end: isWhole ? bytes.length : from }
}

function parseEntry(line: string): LedgerEntry | null | InvalidJson {
  try {
    return parseJsonFile(line) as LedgerEntry | null
  } catch (error) {
    if (error instanceof InvalidJson) return error
    throw error
  }
}

async function appendText(file: string, from: number, text: string): Promise<void> {
  const handle = await fs.open(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600)
  try {
    await handle.truncate(from)
    await handle.write(text, from)
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
