/**
 * JSON pointers (RFC 6901) over plain data. Only own members are read, so that `constructor` never finds an inherited member.
 */

export class PointerFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PointerFault'
  }
}

/** The steps of a pointer; throws PointerFault unless it is '' or starts with '/' and escapes with ~0 and ~1 only. */
export function parsePointer(pointer: string): string[] {
  if (pointer === '') return []
  if (!pointer.startsWith('/')) throw new PointerFault(`"${pointer}" is not a JSON pointer: it must start with "/"`)
  if (/~(?![01])/.test(pointer)) throw new PointerFault(`"${pointer}" is not a JSON pointer: "~" must be "~0" or "~1"`)
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export const isPointer = (pointer: string): boolean => /^(?:\/(?:[^~/]|~[01])*)*$/.test(pointer)

export const escapeStep = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1')

export const formatPointer = (steps: readonly (string | number)[]): string =>
  steps.map((step) => `/${escapeStep(String(step))}`).join('')

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value at the steps; undefined when there is none. */
export function valueAt(value: unknown, steps: readonly string[]): unknown {
  let found = value
  for (const step of steps) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = (found as Record<string, unknown>)[step]
  }
  return found
}

/** Assigns a member, also one named `__proto__`. */
export function setMember(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true })
  } else {
    target[name] = value
  }
}
