/** What a contract demands, as a sentence. */
import type { Violation } from './model.ts'

/** Demands such as `must be a list` and `fits none of the forms`, which say what is wrong with the value. */
const VERB = /^(?:must|does|fits|has|is) /

/** `expected` is the rest of a sentence, what is wanted, or sentences about a text that cannot be read. */
export function describeViolation({ expected }: Pick<Violation, 'expected'>): string {
  const text = expected.replace(/\.+$/, '')
  if (/^\p{Lu}/u.test(text)) return `${text}.`
  return VERB.test(text) ? `It ${text}.` : `Expected: ${text}.`
}
