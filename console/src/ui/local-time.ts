/** Converts between instants and values of date-time fields, which are local times. Pure. */

export function toLocalInput(at: string | null | undefined): string {
  const date = new Date(at ?? '')
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Undefined for an empty field, and for what is no time, such as the 31st of February, which a `Date` takes for a day of March. */
export function toInstant(local: string): string | undefined {
  const date = new Date(local)
  const day = /^\d{4}-\d{2}-\d{2}/.exec(local)?.[0]
  if (day === undefined || Number.isNaN(date.getTime())) return undefined
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? date.toISOString() : undefined
}

/** The text of an address that should be a time and is none. */
export const findUnknownTime = (given: string): string | undefined =>
  given !== '' && toInstant(given) === undefined ? given : undefined
