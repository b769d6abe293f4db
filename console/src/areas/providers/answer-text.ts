/** Faults of an answer that a person enters, found before it is stored for good. */
import { findJsonFaultPlace, formatFaultPlace } from '#console/ui/json-fault.ts'

/** Why the text is not what its format says, with the place; null where it can be read. */
export function findAnswerFault(text: string, media_type: string): string | null {
  if (text.trim() === '') return 'Enter the answer.'
  if (media_type === 'application/json') {
    const place = findJsonFaultPlace(text)
    return place && formatFaultPlace(place)
  }
  return media_type === 'application/xml' ? findXmlFault(text) : null
}

function findXmlFault(text: string): string | null {
  const error = new DOMParser().parseFromString(text, 'application/xml').querySelector('parsererror')
  return error && describeXmlError(error.textContent ?? '')
}

/** Browsers word the error differently; each names line and column. */
export function describeXmlError(error: string): string {
  const [, line, column] = /line(?: number)? (\d+)[^\d]+column (\d+)/i.exec(error) ?? []
  if (line === undefined) return 'This is not valid XML.'
  return `This is not valid XML: look at line ${line}, column ${column}.`
}
