/** Types JSON that was read from the database. It was built from typed values, or validated, before it was stored. */
export const readStoredJson = <T>(value: unknown): T => value as T
