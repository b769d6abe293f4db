/** Joins the parts of an entry key like the registry (registry/types/compile-type.ts). */

/** The separator is escaped, so that different parts never give the same key; a single part is the key itself. */
export const joinKeyParts = (parts: readonly string[]): string =>
  parts.length === 1 ? (parts[0] as string) : parts.map((part) => part.replaceAll(/[\\|]/g, '\\$&')).join('|')
