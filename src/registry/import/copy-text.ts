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
