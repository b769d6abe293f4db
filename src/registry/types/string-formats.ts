/**
 * The string formats of dataset types, each as defined by the RFC that JSON Schema 2020-12 names for it. All run in linear time,
 * since they are applied to untrusted values.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { domainToUnicode } from 'node:url'

type Format = (text: string) => boolean

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIME = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/
const DATE_TIME_LETTER = /[Tt]/

/** RFC 3339, full-date. */
const isDate: Format = (text) => {
  const [, year, month, day] = DATE.exec(text)?.map(Number) ?? []
  if (year === undefined || month === undefined || day === undefined) return false
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

const DAY_MINUTES = 24 * 60

/** RFC 3339, full-time. A leap second is the last one of a day in UTC, whatever the offset. */
const isTime: Format = (text) => {
  const found = TIME.exec(text)
  if (!found) return false
  const [hour, minute, second] = [Number(found[1]), Number(found[2]), Number(found[3])]
  const [offset_hour, offset_minute] = [Number(found[5] ?? 0), Number(found[6] ?? 0)]
  if (hour > 23 || minute > 59 || second > 60 || offset_hour > 23 || offset_minute > 59) return false
  if (second < 60) return true
  const offset = (offset_hour * 60 + offset_minute) * (found[4] === '-' ? -1 : 1)
  return (hour * 60 + minute - offset + 2 * DAY_MINUTES) % DAY_MINUTES === DAY_MINUTES - 1
}

/** RFC 3339, date-time. */
const isDateTime: Format = (text) => {
  const [date, time, ...more] = text.split(DATE_TIME_LETTER)
  return date !== undefined && time !== undefined && more.length === 0 && isDate(date) && isTime(time)
}

/** RFC 3339, appendix A. Units may be omitted at either end but not in the middle; weeks are not combined with other units. */
const CLOCK = 'T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)'
const CALENDAR = '(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)'
const DURATION = new RegExp(`^P(?:${CALENDAR}(?:${CLOCK})?|${CLOCK}|\\d+W)$`)

const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/
const MAX_HOST_CHARS = 253

const isDomain: Format = (text) => text.length <= MAX_HOST_CHARS && text.split('.').every((label) => LABEL.test(label))

/** RFC 1123, and RFC 5890 for labels that begin with `xn--`, which must be a valid encoding. */
const isHostname: Format = (text) =>
  isDomain(text) && text.split('.').every((label) => label.slice(2, 4) !== '--' || isEncodedLabel(label))

/** An invalid encoding is decoded to nothing by Node.js 20 and to itself by later ones; a valid one always has a letter beyond ASCII. */
const isEncodedLabel = (label: string): boolean => /^xn--/i.test(label) && /[^\p{ASCII}]/u.test(domainToUnicode(label))

const DOT_ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const QUOTED_STRING = /^"(?:[ !#-[\]-~]|\\[ -~])*"$/
const MAX_LOCAL_CHARS = 64
const MAX_EMAIL_CHARS = 254

/** RFC 5321, Mailbox. */
const isEmail: Format = (text) => {
  const at = text.lastIndexOf('@')
  if (at < 0 || at > MAX_LOCAL_CHARS || text.length > MAX_EMAIL_CHARS) return false
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  if (!DOT_ATOM.test(local) && !QUOTED_STRING.test(local)) return false
  const literal = /^\[(?:(IPv6):)?([^[\]]*)\]$/i.exec(domain)
  if (!literal) return isDomain(domain)
  return literal[1] ? isAddress6(literal[2] as string) : isIPv4(literal[2] as string)
}

/** RFC 4291, section 2.2: without a zone. */
const isAddress6: Format = (text) => isIPv6(text) && !text.includes('%')

/** RFC 3986, appendix B: into scheme, authority, path, query and fragment. */
const URI_PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([\s\S]*))?$/
const toPattern = (more: string): RegExp => new RegExp(`^(?:[A-Za-z0-9\\-._~!$&'()*+,;=${more}]|%[0-9A-Fa-f]{2})*$`)
const USER_INFO = toPattern(':')
const REGISTERED_NAME = toPattern('')
const PATH = toPattern(':@/')
const QUERY = toPattern(':@/?')
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/
const FUTURE_ADDRESS = /^v[0-9A-Fa-f]+\.[A-Za-z0-9\-._~!$&'()*+,;=:]+$/i

function isReference(text: string, needs_scheme: boolean): boolean {
  const found = URI_PARTS.exec(text)
  if (!found) return false
  const [, scheme, authority, path = '', query = '', fragment = ''] = found
  if (scheme === undefined ? needs_scheme : !SCHEME.test(scheme)) return false
  if (authority === undefined) {
    if (path.startsWith('//')) return false
    // Without a scheme, a colon in the first step would make it one.
    if (scheme === undefined && /^[^/]*:/.test(path)) return false
  } else if (!isAuthority(authority)) return false
  return PATH.test(path) && QUERY.test(query) && QUERY.test(fragment)
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at >= 0 && !USER_INFO.test(text.slice(0, at))) return false
  const found = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d*)?$/.exec(text.slice(at + 1))
  if (!found) return false
  const [, literal, name = ''] = found
  return literal === undefined ? REGISTERED_NAME.test(name) : isAddress6(literal) || FUTURE_ADDRESS.test(literal)
}

/** RFC 6570. */
const VARIABLE = '(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+(?:\\.(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+)*(?::[1-9]\\d{0,3}|\\*)?'
const LITERAL = '[^\\u0000-\\u0020"\'%<>\\\\^`{|}\\u007f-\\u009f]|%[0-9A-Fa-f]{2}'
const URI_TEMPLATE = new RegExp(`^(?:${LITERAL}|\\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\\})*$`, 'u')

/** RFC 9562. */
const UUID = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/

/** RFC 6901. */
const JSON_POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/
const RELATIVE_JSON_POINTER = /^(?:0|[1-9]\d*)(?:[+-][1-9]\d*)?(?:#|(?:\/(?:[^~/]|~[01])*)*)$/

/** ECMA-262, with Unicode. */
const isRegex: Format = (text) => {
  try {
    new RegExp(text, 'u')
    return true
  } catch {
    return false
  }
}

const matching =
  (pattern: RegExp): Format =>
  (text) =>
    pattern.test(text)

export const stringFormats: Readonly<Record<string, Format>> = {
  date: isDate,
  time: isTime,
  'date-time': isDateTime,
  duration: matching(DURATION),
  email: isEmail,
  hostname: isHostname,
  ipv4: isIPv4,
  ipv6: isAddress6,
  uri: (text) => isReference(text, true),
  'uri-reference': (text) => isReference(text, false),
  'uri-template': matching(URI_TEMPLATE),
  uuid: matching(UUID),
  'json-pointer': matching(JSON_POINTER),
  'relative-json-pointer': matching(RELATIVE_JSON_POINTER),
  regex: isRegex,
}
