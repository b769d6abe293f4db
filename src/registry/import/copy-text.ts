/** Rows in the text format of COPY. Canonical JSON holds no raw tab or line break, so most texts pass as they are. */

const ESCAPED = /[\\\t\n\r]/
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

export const copyField = (text: string): string =>
  ESCAPED.test(text) ? text.replace(/[\\\t\n\r]/g, (found) => escapes[found] as string) : text

export interface StagedRow {
  readonly key: string
  readonly op?: 'put' | 'merge' | 'remove'
  /** Hex. */
  readonly hash: string
  readonly base_hash?: string | null
  readonly text: string | null
  readonly row: number
  readonly line?: number | undefined
}

export const copyLine = ({ key, op = 'put', hash, base_hash, text, row, line }: StagedRow): string =>
  `${copyField(key)}\t${op}\t\\\\x${hash}\t${base_hash ? `\\\\x${base_hash}` : '\\N'}\t${text === null ? '\\N' : copyField(text)}\t${row}\t${line ?? '\\N'}\n`

/** Many rows as one piece of bytes. They are joined once: adding each to one long text makes a million small ones. */
export class CopyRows {
  #parts: (string | number)[] = []
  /** In UTF-16 units, roughly: enough to know when to hand over. */
  #length = 0

  get length(): number {
    return this.#length
  }

  /** An entry that is put, as all are that do not belong to an overlay. */
  put({ key, hash, text }: { key: string; hash: string; text: string }, row: number, line: number | undefined): void {
    this.#length += key.length + hash.length + text.length
    // Canonical text holds no raw tab or line break, so a backslash is all there can be to escape.
    const data = text.includes('\\') ? copyField(text) : text
    this.#parts.push(copyField(key), '\tput\t\\\\x', hash, '\t\\N\t', data, '\t', row, '\t', line ?? '\\N', '\n')
  }

  take(): Buffer {
    const bytes = Buffer.from(this.#parts.join(''))
    this.#parts = []
    this.#length = 0
    return bytes
  }
}
