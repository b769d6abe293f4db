/**
 * Combinators for the shape of JSON values, with messages for faults. definition-shape.ts composes them.
 */
import { escapeStep, isObject } from '#registry/content/json-pointer.ts'
import type { Finding } from '../model.ts'

/** Bounds the number of findings of a hostile definition. */
export const MAX_FINDINGS = 500
const MAX_SHOWN_CHARS = 60
const UNSTORABLE = /[\0\p{Surrogate}]/u
const EVERY_UNSTORABLE = /[\0\p{Surrogate}]/gu

/** Collects findings. */
export class FindingCollector {
  readonly list: Finding[] = []
  /** Number of all faults, including those beyond the limit. */
  count = 0

  error(code: string, pointer: string, message: string): void {
    if (++this.count > MAX_FINDINGS) return
    this.list.push({
      code,
      pointer: toStorable(pointer),
      message: toStorable(message),
      severity: 'error',
    })
  }
}

/** True when the value fits; otherwise findings were added. */
export type Shape = (value: unknown, pointer: string, findings: FindingCollector) => boolean

/** Formats a value for a message. */
export function formatForMessage(value: unknown): string {
  const text =
    typeof value === 'string'
      ? JSON.stringify(value)
      : Array.isArray(value)
        ? 'an array'
        : isObject(value)
          ? 'an object'
          : String(value)
  return text.length > MAX_SHOWN_CHARS ? toStorable(`${text.slice(0, MAX_SHOWN_CHARS)}…`) : text
}

/** Findings are stored, so names and values must not contain characters that the database refuses. */
export const toStorable = (text: string): string => text.replaceAll(EVERY_UNSTORABLE, '\ufffd')

export const isStorable = (text: string): boolean => !UNSTORABLE.test(text)

const reportShape = (findings: FindingCollector, pointer: string, wanted: string, value: unknown): false => {
  findings.error('shape_invalid', pointer, `This must be ${wanted}, not ${formatForMessage(value)}.`)
  return false
}

export const text =
  (max: number, pattern?: RegExp, wanted = `a text of 1 to ${max} characters`): Shape =>
  (value, pointer, findings) => {
    if (typeof value !== 'string' || value === '' || value.length > max || (pattern && !pattern.test(value))) {
      return reportShape(findings, pointer, wanted, value)
    }
    const fault = findStorageFault(value)
    if (fault) findings.error('text_not_normal', pointer, fault)
    return !fault
  }

/** The registry stores text composed (NFC) and trimmed; other text is refused, since the stored definition would differ from the checked one. */
export function findStorageFault(value: string): string | null {
  if (!isStorable(value)) return 'This text holds a character that cannot be stored.'
  if (value !== value.normalize('NFC')) return 'This text is not in the normal form NFC.'
  return value === value.trim() ? null : 'This text begins or ends with a space.'
}

export const integer =
  (min: number, max: number): Shape =>
  (value, pointer, findings) =>
    (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) ||
    reportShape(findings, pointer, `a whole number from ${min} to ${max}`, value)

export const boolean: Shape = (value, pointer, findings) =>
  typeof value === 'boolean' || reportShape(findings, pointer, 'true or false', value)

/** Any value; checked elsewhere. */
export const anything: Shape = () => true

export const oneOf =
  (...values: readonly string[]): Shape =>
  (value, pointer, findings) =>
    values.includes(value as string) || reportShape(findings, pointer, `one of ${values.join(', ')}`, value)

export const listOf =
  (items: Shape, min: number, max: number): Shape =>
  (value, pointer, findings) => {
    if (!Array.isArray(value)) return reportShape(findings, pointer, 'an array', value)
    if (value.length < min || value.length > max) {
      const wanted = min === max ? `${min}` : min === 0 ? `at most ${max}` : `${min} to ${max}`
      findings.error('size_invalid', pointer, `There must be ${wanted} of these; there are ${value.length}.`)
      return false
    }
    let fits = true
    for (let index = 0; index < value.length; index++) {
      fits = items(value[index], `${pointer}/${index}`, findings) && fits
    }
    return fits
  }

/** An object with up to `max` members of any name. */
export const recordOf =
  (names: Shape, items: Shape, max: number): Shape =>
  (value, pointer, findings) => {
    if (!isObject(value)) return reportShape(findings, pointer, 'an object', value)
    const members = Object.entries(value)
    if (members.length < 1 || members.length > max) {
      findings.error('size_invalid', pointer, `There must be 1 to ${max} of these; there are ${members.length}.`)
      return false
    }
    let fits = true
    for (const [name, member] of members) {
      const at = `${pointer}/${escapeStep(name)}`
      fits = names(name, at, findings) && items(member, at, findings) && fits
    }
    return fits
  }

/** An object with exactly these members; those in `optional` may be absent. */
export const object = (
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape => {
  const members = new Map([...Object.entries(required), ...Object.entries(optional)])
  const names = [...members.keys()].join(', ')
  return (value, pointer, findings) => {
    if (!isObject(value)) return reportShape(findings, pointer, 'an object', value)
    let fits = true
    for (const name of Object.keys(required)) {
      if (Object.hasOwn(value, name)) continue
      findings.error('member_missing', pointer, `The member "${name}" is missing.`)
      fits = false
    }
    for (const [name, member] of Object.entries(value)) {
      const at = `${pointer}/${escapeStep(name)}`
      const shape = members.get(name)
      if (shape) {
        fits = shape(member, at, findings) && fits
      } else {
        findings.error('member_unknown', at, `There is no member ${formatForMessage(name)} here. Known are: ${names}.`)
        fits = false
      }
    }
    return fits
  }
}

/** The shape that the member `tag` chooses. */
export const tagged =
  (tag: string, shapes: Readonly<Record<string, Shape>>): Shape =>
  (value, pointer, findings) => {
    if (!isObject(value)) return reportShape(findings, pointer, 'an object', value)
    const found = value[tag]
    const shape = typeof found === 'string' && Object.hasOwn(shapes, found) ? shapes[found] : undefined
    if (shape) return shape(value, pointer, findings)
    const known = Object.keys(shapes).join(', ')
    findings.error(
      'shape_invalid',
      pointer,
      `The member "${tag}" must be one of ${known}, not ${formatForMessage(found)}.`,
    )
    return false
  }
