/** Wire names as words. */

export const spaced = (name: string): string => name.replaceAll(/[_-]/g, ' ')

export function sentence(name: string): string {
  const words = spaced(name)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** `updateUserRoles` → `Update user roles`, `job:audit-export` → `Job: audit export`. */
export const operationWords = (operation: string): string =>
  sentence(operation.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(':', ': '))

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** Drops what is undefined, because an optional member that is present must have a value. */
export function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}
