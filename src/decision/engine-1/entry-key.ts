/** The key of a list's entry from its parts, as the registry makes it (registry/types/compile.ts). */

/** With the separator escaped, different parts never make the same key; a single part is the key as it is. */
export const joinKeyParts = (parts: readonly string[]): string =>
  parts.length === 1 ? (parts[0] as string) : parts.map((part) => part.replaceAll(/[\\|]/g, '\\$&')).join('|')
