/** Reads a text from the address of the page. */

/**
 * The router reads values of an address as JSON, so that a typed `?q=1e5` is a number and `?q={"a":1}` an object. A value that is not
 * a text is taken as it was typed.
 */
export function readAddressText(value: unknown, query: string, name: string): string {
  if (typeof value === 'string') return value
  return value === undefined ? '' : (new URLSearchParams(query).get(name) ?? '')
}
