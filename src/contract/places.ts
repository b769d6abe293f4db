/** Places in payloads: JSON Pointers whose names come from the sender of the payload, so they are cleaned before they are stored. */
const MAX_POINTER_CHARS = 500
/** U+0000 and lone surrogates: the database accepts neither. */
const UNSTORABLE = /[\0\p{Surrogate}]/gu

export const toStorableText = (text: string): string => text.replaceAll(UNSTORABLE, '\ufffd')

/** A pointer that can be stored: names may hold any character and have any length. */
export const toPlace = (pointer: string): string => toStorableText(pointer).slice(0, MAX_POINTER_CHARS)

/** With `*` for positions in arrays, so that places in different records are compared and counted together. */
export const generalisePointer = (pointer: string): string =>
  pointer
    .split('/')
    .map((step) => (/^(?:0|[1-9][0-9]*)$/.test(step) ? '*' : step))
    .join('/')

/** A name as programs give it. Names of people, addresses and numbers mostly look otherwise. */
const PROGRAM_NAME = /^[@$_]?[A-Za-z][A-Za-z0-9_:-]{0,59}$/
const MANY_DIGITS = /(?:[0-9][^0-9]*){5}/
const POSITION = /^(?:\*|0|[1-9][0-9]{0,6})$/
/** More undeclared names in one object are data, not members that a provider has added. */
const MAX_NAMES = 10

export interface NamePolicy {
  /** Names that the contract declares, anywhere in a record. */
  readonly declared: ReadonlySet<string>
  /** Pointers below which names are personal too. */
  readonly personal: readonly string[]
}

/**
 * Places as they may be stored in clear: a name that the contract does not declare stays only where it looks like one that a
 * program gives, is not below a personal member, and is not one of many.
 */
export function hideNames<P extends { readonly code: string; readonly pointer: string }>(
  places: readonly P[],
  policy: NamePolicy,
): P[] {
  const names = new Map<string, Set<string>>()
  const isUnknown = ({ code }: P): boolean => code === 'unknown_member'
  for (const place of places.filter(isUnknown)) {
    const [parent, name] = splitLast(generalisePointer(place.pointer))
    names.set(parent, (names.get(parent) ?? new Set()).add(name))
  }
  return places.map((place) => {
    const pointer = hideSteps(place.pointer, policy)
    const [parent] = splitLast(generalisePointer(place.pointer))
    const isOneOfMany = isUnknown(place) && (names.get(parent)?.size ?? 0) > MAX_NAMES
    return { ...place, pointer: isOneOfMany ? `${splitLast(pointer)[0]}/*` : pointer }
  })
}

const splitLast = (pointer: string): [parent: string, name: string] => {
  const at = pointer.lastIndexOf('/')
  return at < 0 ? ['', ''] : [pointer.slice(0, at), pointer.slice(at + 1)]
}

const isPlainName = (name: string, declared: ReadonlySet<string>): boolean =>
  declared.has(name) || (PROGRAM_NAME.test(name) && !MANY_DIGITS.test(name))

/** The names of one object as people may see them: each that is hidden gets a number. */
export function nameMembers(names: readonly string[], { declared }: Pick<NamePolicy, 'declared'>): string[] {
  const areMany = names.filter((name) => !declared.has(name)).length > MAX_NAMES
  let hidden = 0
  return names.map((name) => {
    const isShown = areMany ? declared.has(name) : isPlainName(name, declared)
    return isShown ? name : `[name ${++hidden}]`
  })
}

export function hideSteps(pointer: string, { declared, personal }: NamePolicy): string {
  const steps = pointer.split('/')
  return steps
    .map((step, index) => {
      if (index === 0 || POSITION.test(step)) return step
      const parent = generalisePointer(steps.slice(0, index).join('/'))
      if (personal.some((at) => `${parent}/`.startsWith(`${at}/`))) return '*'
      return isPlainName(step.replaceAll('~1', '/').replaceAll('~0', '~'), declared) ? step : '*'
    })
    .join('/')
}
