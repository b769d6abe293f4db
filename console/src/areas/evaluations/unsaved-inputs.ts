/** Compares the inputs of a decision with the record of its subject. Pure. */

type Values = Readonly<Record<string, unknown>>

/** Names of the inputs that the record has with another value, or not at all. */
export const listUnsavedInputs = (given: Values, attributes: Values): string[] =>
  Object.keys(given).filter((name) => JSON.stringify(given[name]) !== JSON.stringify(attributes[name]))
