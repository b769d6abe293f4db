/** Key and title that are suggested for a new list. The key cannot be changed later, so it names the list, not one edition of it. */
import { toSlug } from '#registry/detection/infer-type.ts'

/** The adapter that reads the file best. */
interface RecognisedSource {
  readonly key: string
  readonly title: string
  readonly publisher: string | null
}

export interface ListName {
  readonly list_key: string
  readonly title: string
}

const EXTENSIONS = /(?:\.[A-Za-z0-9]{1,6}){1,2}$/
const KEY_FORMAT = /(?:-advanced)?-(?:csv|xml|json|ftm)$/
const TITLE_FORMAT = / \([^)]*(?:CSV|XML|JSON)\)$/

const YEAR = '(?<!\\d)(?:19|20)\\d{2}'
const MONTH = '(?:0[1-9]|1[0-2])'
const DAY = '(?:0[1-9]|[12]\\d|3[01])'
const GAP = '[-_. ]?'
const editionParts: readonly RegExp[] = [
  new RegExp(`${YEAR}${GAP}${MONTH}${GAP}${DAY}(?:${GAP}t?\\d{4,6}z?)?(?![\\da-z])`, 'gi'),
  new RegExp(`(?<!\\d)${DAY}${GAP}${MONTH}${GAP}(?:19|20)\\d{2}(?!\\d)`, 'g'),
  new RegExp(`${YEAR}(?:${GAP}(?:q[1-4]|h[12]|w\\d{2}|${MONTH}))?(?![\\da-z])`, 'gi'),
  /(?<![a-z\d])(?:v|ver|version|rev)[-_. ]?\d+(?:[._]\d+)*(?![\da-z])/gi,
  /(?<=[-_ ])\d+[._]\d+$/,
  / ?\(\d+\)$/,
]

/** A file name without its ending, dates and numbers of versions. */
const removeEdition = (stem: string): string => editionParts.reduce((name, part) => name.replace(part, ' '), stem)

const toTitle = (name: string): string =>
  name
    .replace(/[-_.\s]+/g, ' ')
    .trim()
    .replace(/^./, (first) => first.toUpperCase())
    .slice(0, 200)

export function suggestListName(source: RecognisedSource | undefined, file_name: string | null): ListName {
  if (source && source.publisher !== null) {
    return { list_key: source.key.replace(KEY_FORMAT, ''), title: source.title.replace(TITLE_FORMAT, '') }
  }
  const stem = (file_name ?? '').replace(EXTENSIONS, '')
  const name = removeEdition(stem)
  return { list_key: toSlug(name, 'new-list'), title: toTitle(name) || 'New list' }
}
