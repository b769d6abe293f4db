/**
 * Warns when the names of a list of countries are in another language than English or do not belong to their codes. The names to
 * compare with are those of the runtime (CLDR).
 */
import type { Entry, Warning } from '../adapter.ts'
import type { TypeDefinition } from '../types/type-definition.ts'

const LANGUAGES =
  'ar bg bn ca cs da de el es et fa fi fr he hi hr hu id is it ja ka kk ko lt lv mk ms nb nl pl pt ro ru sk sl sq sr sv sw th tr uk ur uz vi zh'.split(
    ' ',
  )
const ALPHA_2 = /^[A-Z]{2}$/
/** A longer list is not a list of countries. */
const MAX_ROWS = 400
const MIN_ROWS = 10
/** Minimum number of names in a language before it is reported. */
const LEAST_SHARE = 0.5

export class NameLanguage {
  readonly #code: string | null
  readonly #is_countries: boolean
  #names: (readonly [code: string, name: string])[] | null = []

  constructor({ type_key, key_pointers }: Pick<TypeDefinition, 'type_key' | 'key_pointers'>) {
    const pointer = key_pointers.at(-1)
    this.#code = pointer !== undefined && /^\/\w+$/.test(pointer) ? pointer.slice(1) : null
    this.#is_countries = type_key === 'country'
  }

  add(entry: Entry): void {
    if (this.#code === null || this.#names === null) return
    const [code, name] = [entry[this.#code], entry['name']]
    if (typeof name !== 'string') return
    if (typeof code !== 'string' || !ALPHA_2.test(code) || this.#names.length === MAX_ROWS) this.#names = null
    else this.#names.push([code, name])
  }

  warnings(): Warning[] {
    const names = this.#names ?? []
    if (names.length < MIN_ROWS) return []
    const english = countNames('en', names)
    if (english >= names.length * 0.9) return []
    let [best, most] = ['en', english]
    for (const language of LANGUAGES) {
      const count = countNames(language, names)
      if (count > most) [best, most] = [language, count]
    }
    if (best !== 'en' && most >= names.length * LEAST_SHARE) {
      const language = new Intl.DisplayNames(['en'], { type: 'language' }).of(best)
      const message = `The names look like ${language}, not English: ${most} of ${names.length} are the ${language} names of their codes, ${english} the English ones.`
      return [{ code: 'language_differs', message }]
    }
    if (!this.#is_countries || most >= names.length * 0.2) return []
    const message = `Only ${most} of ${names.length} names are those of the countries their codes stand for. Perhaps this is another list.`
    return [{ code: 'names_differ', message }]
  }
}

function countNames(language: string, names: readonly (readonly [code: string, name: string])[]): number {
  const known = new Intl.DisplayNames([language], { type: 'region', fallback: 'none' })
  return names.filter(([code, name]) => folded(known.of(code) ?? '') === folded(name)).length
}

/** Without accents, case and other characters than letters. */
const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{Letter}]/gu, '')
