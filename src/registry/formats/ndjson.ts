/**
 * Reads one JSON value per line. A malformed line is a fault of that line; a malformed last line without line end means that the
 * file is truncated.
 */
import { MAX_RECORD_CHARS, onLine, recordTooLong, refuseSource } from './fault.ts'
import { parseRecord, RecordFault } from './json-record.ts'

export interface JsonLine {
  readonly line: number
  readonly text: string
  /** The value, or why there is none. */
  readonly value: unknown
}

export async function* readNdjson(text: AsyncIterable<string>): AsyncGenerator<JsonLine[], void, undefined> {
  let rest = ''
  let line = 1
  for await (const piece of text) {
    const lines: JsonLine[] = []
    let at = 0
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', at)) {
      const read = readLine(at === 0 ? rest + piece.slice(0, end) : piece.slice(at, end), line)
      if (read) lines.push(read)
      line++
      at = end + 1
    }
    rest = at === 0 ? rest + piece : piece.slice(at)
    if (rest.length > MAX_RECORD_CHARS) recordTooLong(onLine(line))
    if (lines.length > 0) yield lines
  }
  const last = readLine(rest, line)
  if (last?.value instanceof RecordFault && last.value.code === 'not_well_formed') {
    refuseSource('truncated', `The file ends in the middle of line ${line}: it was cut off.`, onLine(line))
  }
  if (last) yield [last]
}

/** Blank lines are not records. */
function readLine(text: string, line: number): JsonLine | undefined {
  try {
    return { line, text, value: parseRecord(text) }
  } catch (fault) {
    if (text.trim() === '') return undefined
    if (fault instanceof RecordFault) return { line, text, value: fault }
    throw fault
  }
}
