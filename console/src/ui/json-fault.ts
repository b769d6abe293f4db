/** Finds where a text stops being JSON. Engines word and locate their errors differently, some not at all. Pure. */

const space = /[ \t\n\r]*/y
const scalar =
  /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy
const name = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy

/** The line and column of the fault, counted from 1; null where the text is JSON. */
export function findJsonFaultPlace(text: string): { readonly line: number; readonly column: number } | null {
  try {
    JSON.parse(text)
    return null
  } catch {
    const before = text.slice(0, findFaultOffset(text)).split('\n')
    return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
  }
}

/** Why a text is not a JSON object, with its place; null where it is one. `what` begins the sentence. */
export function findObjectFault(text: string, what: string): string | null {
  const place = findJsonFaultPlace(text)
  if (place !== null) return formatFaultPlace(place)
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? null : `${what} is a JSON object.`
}

export const formatFaultPlace = ({ line, column }: { readonly line: number; readonly column: number }): string =>
  `This is not valid JSON: look at line ${line}, column ${column}.`

/** Walks the tokens with a stack of open brackets, so that deep nesting needs no recursion. */
function findFaultOffset(text: string): number {
  let at = 0
  const open: string[] = []
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const [found = ''] = pattern.exec(text) ?? []
    at += found.length
    return found !== ''
  }
  const takeSign = (sign: string): boolean => {
    take(space)
    if (text[at] !== sign) return false
    at++
    return true
  }
  const takeName = (): boolean => {
    take(space)
    return take(name) && takeSign(':')
  }
  let isValueNext = true
  while (true) {
    if (isValueNext) {
      if (takeSign('{')) {
        if (takeSign('}')) isValueNext = false
        else if (takeName()) open.push('}')
        else return at
      } else if (takeSign('[')) {
        if (takeSign(']')) isValueNext = false
        else open.push(']')
      } else if (take(scalar)) isValueNext = false
      else return at
    } else {
      const end = open.at(-1)
      if (end === undefined) {
        take(space)
        return at
      }
      if (takeSign(end)) open.pop()
      else if (takeSign(',')) {
        if (end === '}' && !takeName()) return at
        isValueNext = true
      } else return at
    }
  }
}
