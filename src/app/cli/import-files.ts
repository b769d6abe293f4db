/** The two files of an import on the command line: the source, hashed while it is read, and the list of rejected rows. */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Reject } from '#registry/adapter.ts'
import type { Terminal } from './command.ts'
import { formatTable } from './format-table.ts'

const MAX_PRINTED_REJECTS = 20

/** The source as it is read, and its hash for provenance. */
export class HashedFile {
  readonly #file: string
  readonly #hash = createHash('sha256')
  #size_bytes = 0

  constructor(file: string) {
    this.#file = file
  }

  async *read(): AsyncGenerator<Uint8Array> {
    for await (const bytes of fs.createReadStream(this.#file, { highWaterMark: 256 * 1024 })) {
      this.#hash.update(bytes as Buffer)
      this.#size_bytes += (bytes as Buffer).length
      yield bytes as Buffer
    }
  }

  /** Available after it was read to its end. */
  getInfo() {
    const sha256 = this.#hash.copy().digest('hex')
    return { file_name: path.basename(this.#file), size_bytes: this.#size_bytes, sha256 }
  }
}

/** The first rejected rows for the terminal, all of them for the file. */
export class RejectReport {
  readonly #first_rejects: Reject[] = []
  readonly #file: string | null
  #total = 0
  #handle: number | null = null

  constructor(file: string | null) {
    this.#file = file
    if (file === null) return
    try {
      this.#handle = fs.openSync(file, 'w')
    } catch (error) {
      throw new Error(`${file} cannot be written: ${(error as Error).message}`, { cause: error })
    }
  }

  add(items: readonly Reject[]): void {
    this.#total += items.length
    this.#first_rejects.push(...items.slice(0, MAX_PRINTED_REJECTS - this.#first_rejects.length))
    if (this.#handle !== null) fs.writeSync(this.#handle, items.map((item) => `${JSON.stringify(item)}\n`).join(''))
  }

  async print(terminal: Terminal): Promise<void> {
    if (this.#handle !== null) fs.closeSync(this.#handle)
    if (this.#total === 0) return
    terminal.note(
      formatTable(
        this.#first_rejects.map(({ at, pointer, message }) => ({
          row: at.row || '',
          line: at.line ?? '',
          where: at.column ?? (pointer || at.path || at.sheet || ''),
          message,
        })),
      ),
    )
    const more = this.#total - this.#first_rejects.length
    if (more > 0) terminal.note(`and ${more} more${this.#file === null ? '; --rejects FILE keeps all of them' : ''}`)
    if (this.#file !== null) terminal.note(`All ${this.#total} are in ${this.#file}.`)
  }
}
