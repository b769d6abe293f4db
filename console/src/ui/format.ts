/** Formats wire names and counts as words. */

export const toWords = (name: string): string => name.replaceAll(/[_-]/g, ' ')

export function toSentence(name: string): string {
  const words = toWords(name)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** `updateUserRoles` → `Update user roles`, `job:audit-export` → `Job: audit export`. */
export const formatOperation = (operation: string): string =>
  toSentence(
    operation
      .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
      .replace(':', ': ')
      .replaceAll('.', ' '),
  )

export const formatCount = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** Removes undefined members, because an optional member that is present must have a value. */
export function omitUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // Object.fromEntries loses which member has which type.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}

/** `Company registry` → `company-registry`. */
export const toKey = (title: string): string =>
  title
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 100)

/** `1500000.00` → `1,500,000.00`. A decimal is a text: as a number it could lose digits. */
export const groupDigits = (decimal: string): string =>
  decimal.replace(/^-?\d+/, (whole) => whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','))
