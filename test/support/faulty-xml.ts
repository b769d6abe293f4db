/** For tests: generated XML documents with one fault each, and its offset. */

type Random = (below: number) => number

interface Token {
  readonly kind: 'text' | 'open' | 'close' | 'other'
  text: string
}

export interface FaultyDocument {
  readonly text: string
  /** Of the first character that cannot be; the length of the text where it only ends too early. */
  readonly offset: number
  readonly code: string
}

const words = ['name', 'alias', 'a-b', 'x.y']

/** A list of items with texts, references, comments and character data, over many lines. */
function randomTokens(random: Random): Token[] {
  const gap = () => ['', ' ', '\n', '\r\n', '\n\t\n'][random(5)] as string
  const text = (): Token => ({
    kind: 'text',
    text: `${gap()}Ünïcode \u{1f600}${gap()}&amp;&#233; ${'word '.repeat(random(8))}${gap()}.`,
  })
  const element = (name: string, depth: number): Token[] => [
    { kind: 'open', text: `<${name}${gap() || ' '}id="a&lt;${gap()}b"\n kind='c "d"'${gap()}>` },
    text(),
    ...Array.from({ length: depth > 2 ? 0 : random(3) }, () => [
      ...element(words[random(words.length)] as string, depth + 1),
      text(),
    ]).flat(),
    ...(random(3) === 0 ? [{ kind: 'other', text: `<!-- a & b <c>${gap()}d -->` } as const] : []),
    ...(random(3) === 0 ? [{ kind: 'other', text: `<![CDATA[ & <${gap()} ]] > ]]>` } as const] : []),
    ...(random(5) === 0 ? [{ kind: 'other', text: `<?target & ${gap()}?>` } as const] : []),
    { kind: 'close', text: `</${name}${gap()}>` },
  ]
  return [
    { kind: 'other', text: `<?xml version="1.0"?>\n<!-- ${'y'.repeat(random(300))}\n -->\n` },
    { kind: 'open', text: '<list>' },
    ...Array.from({ length: 3 + random(3) }, () => [...element('item', 1), text()]).flat(),
    { kind: 'close', text: '</list>' },
    { kind: 'other', text: '\n<!-- end -->\n' },
  ]
}

const join = (tokens: readonly Token[]): string => tokens.map(({ text }) => text).join('')
const nameOf = ({ text }: Token): string => /^<\/?([\w.-]+)/.exec(text)?.[1] as string

/** Puts `what` into a token that fits, `at` characters into it; gives the offset of what was put there. */
function insert(
  random: Random,
  what: string,
  at: RegExp,
  fits: (token: Token) => boolean,
): { text: string; offset: number } {
  let tokens: Token[] = []
  let candidates: { index: number; places: number[] }[] = []
  while (candidates.length === 0) {
    tokens = randomTokens(random)
    candidates = tokens.flatMap((token, index) => {
      // What comes before the first item belongs to other cases.
      const found = index > 1 && fits(token) ? [...token.text.matchAll(at)] : []
      const places = found.map((match) => match.index + match[0].length)
      return places.length > 0 ? [{ index, places }] : []
    })
  }
  const { index, places } = candidates[random(candidates.length)] as (typeof candidates)[number]
  const place = places[random(places.length)] as number
  const token = tokens[index] as Token
  const offset = join(tokens.slice(0, index)).length + place
  token.text = token.text.slice(0, place) + what + token.text.slice(place)
  return { text: join(tokens), offset }
}

const isText = ({ kind }: Token) => kind === 'text'
const isComment = ({ text }: Token) => text.startsWith('<!--')
const isData = ({ text }: Token) => text.startsWith('<![CDATA[')
/** Anywhere but between the halves of a character. */
const IN_TEXT = /Ünïcode |word |\n/g
const IN_VALUE = /id="|b(?=")/g

const placed =
  (what: string, at: RegExp, fits: (token: Token) => boolean, fault_at = 0) =>
  (random: Random): FaultyDocument => {
    const { text, offset } = insert(random, what, at, fits)
    return { text, offset: offset + fault_at, code: 'not_well_formed' }
  }

/** Where the tags first do not match, or the end. */
function firstMismatch(tokens: readonly Token[]): number | null {
  const open: string[] = []
  let offset = 0
  for (const token of tokens) {
    if (token.kind === 'open') open.push(nameOf(token))
    if (token.kind === 'close' && open.pop() !== nameOf(token)) return offset
    offset += token.text.length
  }
  return null
}

export const faultyDocuments: readonly { name: string; make: (random: Random) => FaultyDocument }[] = [
  ...['& ', '&\n', '&;', '&#xZZ;', '&a b;', '&'].flatMap((what) => [
    { name: `a bare ampersand, ${JSON.stringify(what)}, in a text`, make: placed(what, IN_TEXT, isText) },
    {
      name: `a bare ampersand, ${JSON.stringify(what)}, in an attribute`,
      make: placed(what, IN_VALUE, ({ text }) => text.includes('id="')),
    },
  ]),
  { name: 'an entity nobody declared', make: placed('&nbsp;', IN_TEXT, isText) },
  {
    name: 'an entity nobody declared, in an attribute',
    make: placed('&nbsp;', IN_VALUE, ({ kind }) => kind === 'open'),
  },
  ...[' ', '\n', '1'].map((next) => ({
    name: `a "<" before ${JSON.stringify(next)}`,
    make: placed(`<${next}`, IN_TEXT, isText, 1),
  })),
  { name: 'a control character in a text', make: placed('\x01', IN_TEXT, isText) },
  { name: 'a control character in an attribute', make: placed('\x01', IN_VALUE, ({ kind }) => kind === 'open') },
  { name: 'a control character in a comment, after ampersands', make: placed('\x02', /d(?= -->)/g, isComment) },
  { name: 'a control character in character data, after ampersands', make: placed('\x02', / (?=\]\] >)/g, isData) },
  { name: 'a "<" in an attribute', make: placed('<', IN_VALUE, ({ text }) => text.includes('id="')) },
  { name: 'a value without quotes', make: placed(' more=7', /'(?=\s*>)/g, ({ kind }) => kind === 'open', 6) },
  { name: 'an attribute without value', make: placed(' more>', /'(?=\s*>)/g, ({ kind }) => kind === 'open', 5) },
  { name: 'an attribute twice', make: placed('\nid = "again"\n', /'(?=\s*>)/g, ({ kind }) => kind === 'open', 1) },
  { name: 'the end of character data in a text', make: placed(']]>', IN_TEXT, isText, 2) },
  { name: 'two hyphens in a comment', make: placed(' --x', /d(?= -->)/g, isComment, 3) },
  {
    name: 'a tag that closes another',
    make(random) {
      const tokens = randomTokens(random)
      const closing = tokens.flatMap(({ kind }, index) => (kind === 'close' ? [index] : []))
      const index = closing[random(closing.length)] as number
      ;(tokens[index] as Token).text = '</other\n\n>'
      return { text: join(tokens), offset: join(tokens.slice(0, index)).length, code: 'not_well_formed' }
    },
  },
  {
    name: 'a tag that is never closed',
    make(random) {
      const tokens = randomTokens(random)
      const closing = tokens.flatMap(({ kind }, index) => (kind === 'close' ? [index] : []))
      tokens.splice(closing[random(closing.length)] as number, 1)
      const offset = firstMismatch(tokens)
      const text = join(tokens)
      return { text, offset: offset ?? text.length, code: offset === null ? 'truncated' : 'not_well_formed' }
    },
  },
  {
    name: 'text after the document',
    make(random) {
      const text = join(randomTokens(random))
      return { text: `${text}\n\n end\n\n<x/>`, offset: text.length + 3, code: 'not_well_formed' }
    },
  },
  {
    name: 'a second document',
    make(random) {
      const text = join(randomTokens(random))
      return { text: `${text}\n<list\n/>`, offset: text.length + 1, code: 'not_well_formed' }
    },
  },
  {
    name: 'text before the document',
    make(random) {
      const text = `\n${'<!-- a -->\n'.repeat(random(40))}`
      return {
        text: `${text}This file\n\n${join(randomTokens(random).slice(1))}`,
        offset: text.length,
        code: 'not_well_formed',
      }
    },
  },
  {
    name: 'a document type',
    make(random) {
      const text = `<?xml version="1.0"?>\n${'<!-- a -->\n'.repeat(random(40))}`
      const type = '<!DOCTYPE list [\n\n<!ENTITY a "b">\n]>\n'
      return {
        text: `${text}${type}${join(randomTokens(random).slice(1))}`,
        offset: text.length,
        code: 'doctype_refused',
      }
    },
  },
  {
    name: 'a file that was cut anywhere',
    make(random) {
      const tokens = randomTokens(random)
      const whole = join(tokens.slice(0, -1))
      // A cut between the halves of a character is a fault of the encoding.
      const text = whole.slice(0, 1 + random(whole.length - 1)).replace(/[\ud800-\udbff]$/, '')
      return { text, offset: text.length, code: 'truncated' }
    },
  },
]
