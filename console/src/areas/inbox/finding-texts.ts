/** Alerts of source contracts compare nothing: their fields are findings, each a code and perhaps a place. */
import { toSentence } from '#console/ui/format.ts'
import type { Alert } from './alert-queries.ts'

type Field = Alert['explanation']['fields'][number]

export const isFindings = (fields: readonly Pick<Field, 'name'>[]): boolean =>
  fields.length > 0 && fields.every(({ name }) => name === 'finding')

const texts: Readonly<Record<string, string>> = {
  wrong_form: 'The payload does not have the form that the contract describes',
  check_failed: 'A check of the contract failed',
}

/** `type_changed /country` becomes `Type changed at /country`. */
export function describeFinding(finding: string): string {
  const [code = '', ...place] = finding.split(' ')
  const text = texts[code] ?? toSentence(code)
  return place.length === 0 ? text : `${text} at ${place.join(' ')}`
}
