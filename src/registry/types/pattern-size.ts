/**
 * How large the program of a pattern becomes, from its text alone: RE2 writes counted repetitions out, so that a pattern of 20
 * characters may take thousands of steps. Compiling it to find out would already cost what a limit is to prevent.
 */

/** A group that is open, or the whole pattern. */
interface Sequence {
  /** Steps before the last part. */
  before: number
  /** Steps of the last part, which a repetition after it multiplies. */
  last: number
}

/** Of a group, an alternative or a repetition itself. */
const OWN_STEPS = 2

const TOKEN = /\\[pP](?:\{[^}]*\}|.)|\\x\{[^}]*\}|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\{(\d+)(,(\d*))?\}|./gsu

export const PATTERN_LIMITS = { patterns: 500, pattern_steps: 5000, all_pattern_steps: 10_000 } as const

/** About the number of instructions of the program, rather more than less. Any text is accepted. */
export function estimatePatternSize(pattern: string): number {
  // Beyond the limit in any case; reading brackets that are never closed takes time quadratic in the length.
  if (pattern.length > PATTERN_LIMITS.pattern_steps) return pattern.length
  const open: Sequence[] = []
  let current: Sequence = { before: 0, last: 0 }
  const append = (steps: number): void => {
    current.before += current.last
    current.last = steps
  }
  for (const [token, least, range, most] of pattern.matchAll(TOKEN)) {
    if (least !== undefined) current.last = repeat(current.last, Number(least), range === undefined ? least : most)
    else if (token === '(') {
      open.push(current)
      current = { before: 0, last: 0 }
    } else if (token === ')') {
      const steps = current.before + current.last + OWN_STEPS
      current = open.pop() ?? current
      append(steps)
    } else if (token === '*' || token === '+' || token === '?') current.last += OWN_STEPS
    else if (token === '|') append(OWN_STEPS)
    else append(1)
  }
  const unclosed = [...open, current].reduce((sum, { before, last }) => sum + before + last, 0)
  return Math.min(unclosed + pattern.length, Number.MAX_SAFE_INTEGER)
}

/** x{2,4} is written as xx(x(x)?)?, and x{2,} as xxx*. */
function repeat(steps: number, least: number, most: string | undefined): number {
  const open = most === '' ? least + 1 : Number(most ?? least)
  return least * steps + Math.max(0, open - least) * (steps + 1) + OWN_STEPS
}

/** Counts the patterns of one schema that the process itself compiles, before it does so. */
export class PatternBudget {
  #patterns = 0
  #steps = 0

  /** Why this pattern exceeds a limit, or null. */
  add(pattern: string): string | null {
    const { patterns, pattern_steps, all_pattern_steps } = PATTERN_LIMITS
    const steps = estimatePatternSize(pattern)
    this.#steps += steps
    if (++this.#patterns > patterns) return `is one too many: a schema may have ${patterns} patterns`
    if (steps > pattern_steps) {
      return `is too large: with its repetitions written out it has ${steps} steps, and may have ${pattern_steps}`
    }
    if (this.#steps <= all_pattern_steps) return null
    return `is too large: with their repetitions written out, the patterns of a schema may have ${all_pattern_steps} steps together`
  }
}
