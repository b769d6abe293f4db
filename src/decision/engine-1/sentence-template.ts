/**
 * Sentences with places to fill in, such as `{country} is rated {score_bps}`. What is in braces is the name of an input or one
 * of the words its place offers; anything else is found when the definition is checked.
 */

const PLACEHOLDER_PATTERN = /\{([A-Za-z][A-Za-z0-9_]*)\}/g

/** Words a sentence may use beside the names of inputs. */
export const PLACEHOLDERS = {
  /** Titles of the inputs that were read. */
  input: true,
  /** Their values. */
  value: true,
  score_bps: true,
  list_key: true,
} as const
export type Placeholder = keyof typeof PLACEHOLDERS

export const listPlaceholders = (text: string): string[] =>
  [...text.matchAll(PLACEHOLDER_PATTERN)].map(([, name]) => name as string)

/** Fills a sentence; `P` is whatever the places are filled from. */
export type Sentence<P> = (from: P) => string

/** `placeOf` gives, once, how a name is filled; a word stands before an input of the same name. */
export function compileSentence<P>(text: string, placeOf: (name: string) => Sentence<P>): Sentence<P> {
  const names = listPlaceholders(text)
  if (names.length === 0) return () => text
  const literals = text.split(PLACEHOLDER_PATTERN).filter((_, index) => index % 2 === 0)
  const places = names.map(placeOf)
  return (from) => {
    let sentence = literals[0] as string
    for (let index = 0; index < places.length; index++) {
      sentence += (places[index] as Sentence<P>)(from) + (literals[index + 1] as string)
    }
    return sentence
  }
}
