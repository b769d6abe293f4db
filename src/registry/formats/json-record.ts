/**
 * Parses one JSON value of a larger source. It refuses what `JSON.parse` silently loses (a duplicate name, a rounded integer, a lone
 * surrogate), and runs the exact scanner only on records that could contain one.
 */

import { Problem } from '#kernel/problem.ts'
import { MAX_JSON_DEPTH, parseStrictJson } from '#kernel/strict-json.ts'

/** A malformed record; the rest of the source may be valid. */
export class RecordFault extends Error {
  readonly code: 'not_well_formed' | 'name_duplicate' | 'value_unreadable'
  constructor(code: RecordFault['code'], message: string) {
    super(message)
    this.code = code
  }

  /** The line of the fault in a source in which the record begins at `line`. */
  lineIn(line: number): number {
    return line + Number(PLACE.exec(this.message)?.[1] ?? 1) - 1
  }

  /** The message with its line in the source; a record knows only its own lines. */
  messageAt(line: number): string {
    return this.message.replace(PLACE, ` at line ${this.lineIn(line)}`)
  }
}

const PLACE = / at line (\d+), column (\d+)/

/** A literal or an escape that more text could complete. */
const UNFINISHED = /^(?:t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|\\(?:u[\dA-Fa-f]{0,3})?)$/

/**
 * The fault of a text that is not one JSON value. `cut`: it only ends too early. undefined: no fault, or the text is too long to
 * scan.
 */
export function findJsonFault(text: string): { readonly fault: RecordFault; readonly cut: boolean } | undefined {
  const message = explain(text)
  const place = message === undefined ? null : PLACE.exec(message)
  if (message === undefined || !place) return undefined
  const fault = new RecordFault('not_well_formed', message)
  if (message.startsWith('The JSON ends too early')) return { fault, cut: true }
  let line_start = 0
  for (let line = 1; line < Number(place[1]); line++) line_start = text.indexOf('\n', line_start) + 1
  return { fault, cut: UNFINISHED.test(text.slice(line_start + Number(place[2]) - 1)) }
}

export function parseRecord(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new RecordFault('not_well_formed', explain(text) ?? 'The JSON is not well-formed.')
  }
  const { names, delicate } = scanRecord(text)
  if (countMembers(value, 0) !== names) {
    throw new RecordFault('name_duplicate', 'The same name appears twice in one object. Keep one of them.')
  }
  const wrong = delicate ? explain(text) : undefined
  if (wrong !== undefined) throw new RecordFault('value_unreadable', wrong)
  return value
}

/** The kernel's scanner reports the exact place; it doubles the work, so it runs only in doubt. */
const explain = (text: string): string | undefined => scanStrictly(text)?.extra.detail

function scanStrictly(text: string): Problem | undefined {
  try {
    parseStrictJson(Buffer.from(text))
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/** The longer ones of deep documents help nobody. */
const MAX_PLACE_CHARS = 100

/** What is wrong with a small document that `JSON.parse` reads, and where. */
export function explainDocument(text: string): string | undefined {
  const { detail, errors } = scanStrictly(text)?.extra ?? {}
  const place = errors?.[0]?.pointer?.slice('#'.length)
  return detail && place && place.length <= MAX_PLACE_CHARS ? `${detail} Place: ${place}.` : detail
}

/** A duplicate name gives fewer members than the text has names: comparing two counts finds it without a set. */
function countMembers(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0
  if (depth === MAX_JSON_DEPTH) {
    throw new RecordFault('value_unreadable', `The record is nested deeper than ${MAX_JSON_DEPTH} levels. Flatten it.`)
  }
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countMembers(item, depth + 1)
    return count
  }
  for (const name in value) {
    count++
    const member = (value as Record<string, unknown>)[name]
    if (typeof member === 'object') count += countMembers(member, depth + 1)
  }
  return count
}

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
/** Numbers with fewer digits and no exponent are always exact. */
const MANY_DIGITS = 16

/**
 * Counts the names of the text, and whether it has an escaped surrogate, a long number or an exponent, which could be read wrongly.
 * The text is well-formed, so every quote opens a string and a colon after a string makes it a name.
 */
function scanRecord(text: string): { names: number; delicate: boolean } {
  const end = text.length
  const escapes = text.includes('\\')
  let names = 0
  let digits = 0
  let delicate = false
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) {
      if (++digits === MANY_DIGITS) delicate = true
    } else if (code === QUOTE) {
      digits = 0
      if (!escapes) {
        // The content of the string does not matter, and indexOf is faster than a loop.
        at = text.indexOf('"', at + 1)
        continue
      }
      for (at++; ; at++) {
        const inner = text.charCodeAt(at)
        if (inner === QUOTE) break
        if (inner === BACKSLASH) {
          at++
          if (isSurrogateEscape(text, at)) delicate = true
        }
      }
    } else if (code === COLON) {
      digits = 0
      names++
    } else if (digits > 0 && code !== 0x2e) {
      if ((code | 0x20) === 0x65) delicate = true
      digits = 0
    }
  }
  return { names, delicate }
}

/** At `ud8` to `udf`, in any case. */
const isSurrogateEscape = (text: string, at: number): boolean =>
  text.charCodeAt(at) === 0x75 && (text.charCodeAt(at + 1) | 0x20) === 0x64 && text.charCodeAt(at + 2) > 0x37
