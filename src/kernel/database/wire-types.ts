/**
 * Parses PostgreSQL values to wire values, so that a row is already the JSON of the reply: timestamps stay RFC 3339 text with
 * microseconds (keyset cursors need them), bigints are numbers only while exact.
 */
import pg from 'pg'

type Parser = (text: string) => unknown

function parseTimestamp(text: string): string {
  // '2026-01-02 03:04:05.678901+00' → '2026-01-02T03:04:05.678901Z'. Connections run in UTC; others are converted.
  // Always six digits, so that texts sort like the times they denote; PostgreSQL drops trailing zeros.
  if (text.endsWith('+00')) return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(6, '0')}Z`
  if (text.includes('infinity')) return text
  return new Date(text.replace(' ', 'T')).toISOString()
}

function parseExactInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error('a bigint column left the exact range of JSON numbers')
  return value
}

const customParsers = new Map<number, Parser>([
  [20, parseExactInteger],
  [1082, (text) => text],
  [1184, parseTimestamp],
  [1700, (text) => text],
])

const createArrayParser = (parse: Parser) => {
  const split = (pg.types.getTypeParser as (oid: number) => unknown)(1009) as (text: string) => (string | null)[]
  return (text: string) => split(text).map((item) => (item === null ? null : parse(item)))
}
customParsers.set(1016, createArrayParser(parseExactInteger))
customParsers.set(1185, createArrayParser(parseTimestamp))
customParsers.set(
  2951,
  createArrayParser((text) => text),
)

export function getParser(oid: number): Parser {
  return customParsers.get(oid) ?? (pg.types.getTypeParser(oid) as Parser)
}

/** The same parsers in the form that `pg` expects for its own queries. */
export const wireTypes = {
  getTypeParser: (oid: number, format?: string) =>
    format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : getParser(oid),
} as unknown as pg.CustomTypesConfig
