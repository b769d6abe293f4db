/**
 * Sentence templates such as `{country} is rated {score_bps}`. A placeholder is the name of an input or a word of the context; other
 * placeholders are reported when the definition is checked.
 */

const PLACEHOLDER_PATTERN = /\{([A-Za-z][A-Za-z0-9_]*)\}/g

/** Placeholders besides the names of inputs. */
export const PLACEHOLDERS = {
  /** Titles of the inputs. */
  input: true,
  /** Their values. */
  value: true,
  score_bps: true,
  list_key: true,
} as const
export type Placeholder = keyof typeof PLACEHOLDERS

export const listPlaceholders = (text: string): string[] =>
  [...text.matchAll(PLACEHOLDER_PATTERN)].map(([, name]) => name as string)

/** Renders a sentence; `P` is the source of its values. */
export type Sentence<P> = (from: P) => string

/** `placeOf` returns how a placeholder is rendered; words take precedence over inputs of the same name. */
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
