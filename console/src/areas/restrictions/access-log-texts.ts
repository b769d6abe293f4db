/** What an entry of the access log says: operations of the audit record as sentences. */
import { formatOperation } from '#console/ui/format.ts'

const sentences: Readonly<Record<string, string>> = {
  createRestriction: 'Created the restriction',
  getRestriction: 'Read the restriction',
  imposeRestriction: 'Imposed the restriction',
  liftRestriction: 'Lifted the restriction',
  listRestrictionAccess: 'Read the access list',
  updateRestrictionAccess: 'Gave a person access, or excluded one',
  deleteRestrictionAccess: 'Revoked an access, or ended an exclusion',
  createBreakGlassAccess: 'Gave an auditor emergency access',
  listRestrictionAccessLog: 'Read the access log',
}

/** Objects by the name in the audit record. */
export const objectWords: Readonly<Record<string, string>> = {
  alerts: 'alert',
  documents: 'document',
  investigations: 'case',
  holds: 'hold',
  reports: 'report',
  jobs: 'job',
  'change-requests': 'change request',
}

/** `Read the alert`, and for a part of it `Read the alert: custody`. */
function describeRead(operation: string, word: string): string | null {
  const part = /^(?:get|list|download)([A-Z].*)$/.exec(operation)?.[1]
  if (part === undefined) return null
  const rest = formatOperation(part)
    .trim()
    .toLowerCase()
    .replace(new RegExp(`^(?:${word}|alert|document|investigation|hold|report)s? ?`), '')
  return rest === '' ? `Read the ${word}` : `Read the ${word}: ${rest}`
}

const pastForms: Readonly<Record<string, string>> = {
  get: 'Read',
  list: 'Read',
  read: 'Read',
  update: 'Changed',
  put: 'Put',
  set: 'Set',
  run: 'Ran',
  begin: 'Began',
  send: 'Sent',
  take: 'Took',
  write: 'Wrote',
  withdraw: 'Withdrew',
  give: 'Gave',
  undo: 'Undid',
  submit: 'Submitted',
  stop: 'Stopped',
  cancel: 'Cancelled',
  tag: 'Tagged',
}

function toPast(verb: string): string {
  const base = verb.toLowerCase()
  const past = base.endsWith('e') ? `${base}d` : base.replace(/(?<=[^aeiou])y$/, 'i').concat('ed')
  return pastForms[base] ?? past.charAt(0).toUpperCase() + past.slice(1)
}

/** `dismissAlert` → `Dismissed the alert`. */
function describeAct(operation: string): string {
  const [verb = '', ...rest] = formatOperation(operation).trim().split(' ')
  const object = rest
    .join(' ')
    .toLowerCase()
    .replace(/\binvestigation\b/, 'case')
  return object === '' ? toPast(verb) : `${toPast(verb)} the ${object}`
}

export function describeAccess(operation: string, object_type: string): string {
  const word = objectWords[object_type]
  return sentences[operation] ?? (word === undefined ? null : describeRead(operation, word)) ?? describeAct(operation)
}
