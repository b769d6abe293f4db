/** The lists the registry is measured with: parties of some 300 bytes, the same on every machine, a thousandth of them changed. */
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { compileType } from '#registry/types/compile-type.ts'
import type { TypeDefinition } from '#registry/types/type-definition.ts'

export const TYPE_KEY = 'bench-party'
export const CHANGED_SHARE = 1000

export const partyContent = {
  title: 'Party',
  description: 'A listed party, as lists of sanctions have them.',
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    additionalProperties: false,
    required: ['party_id', 'name', 'kind', 'country', 'listed_on'],
    properties: {
      party_id: { type: 'string', pattern: '^[A-Z]{2}-[0-9]{8}$' },
      name: { type: 'string', minLength: 1, maxLength: 500 },
      kind: { type: 'string', enum: ['person', 'entity', 'vessel', 'aircraft'] },
      country: { type: 'string', pattern: '^[A-Z]{2}$' },
      listed_on: { type: 'string', format: 'date' },
      score_bps: { type: 'integer', minimum: 0, maximum: 10_000 },
      programmes: { type: 'array', maxItems: 20, items: { type: 'string', minLength: 1, maxLength: 50 } },
      aliases: { type: 'array', maxItems: 50, items: { type: 'string', minLength: 1, maxLength: 500 } },
      remarks: { type: 'string', maxLength: 4000 },
    },
  },
  key_pointers: ['/party_id'],
  list_rules: {},
  fields: {},
  examples: [],
}
export const partyType = { type_key: TYPE_KEY, type_version: 1, ...partyContent } as unknown as TypeDefinition

const kinds = ['person', 'entity', 'vessel', 'aircraft']
const countries = ['DE', 'FR', 'NA', 'IR', 'KP', 'SY', 'RU', 'MM', 'CU', 'VE']
const words = [
  'northern',
  'trading',
  'holding',
  'maritime',
  'general',
  'company',
  'brothers',
  'export',
  'star',
  'union',
]
const word = (n: number): string => words[n % words.length] as string

function buildParty(n: number, changed: boolean, edition = 2) {
  const name = `${word(n)} ${word(n >> 3)} ${word(n >> 5)} ${n}`
  return {
    party_id: `XX-${String(n).padStart(8, '0')}`,
    name,
    kind: kinds[n % kinds.length],
    country: countries[n % countries.length],
    listed_on: `20${String(10 + (n % 15)).padStart(2, '0')}-0${1 + (n % 9)}-1${n % 10}`,
    score_bps: changed ? 9_990 + edition : (n * 37) % 9_000,
    programmes: [`PROGRAMME-${n % 40}`, `EO-${13_000 + (n % 700)}`],
    aliases: [`${word(n + 1)} ${word(n >> 2)} ${n}`],
    remarks: `${changed ? 'Amended' : 'Listed'} under number ${n}; see the notice of the publisher, page ${n % 900}.`,
  }
}

export const partyKey = (n: number): string => buildParty(n, false).party_id

export interface ListFiles {
  readonly entries: number
  readonly changed: number
  /** The source as a publisher gives it, in key order, and its next editions: a thousandth, a fiftieth and half of it changed. */
  readonly first: string
  readonly second: string
  readonly third: string
  readonly fourth: string
  /** Only what differs from the fourth in a fifth one: a thousandth. */
  readonly changes: string
  readonly changed_third: number
  readonly changed_fourth: number
  /** The rows of the first as they are stored, ready for COPY. */
  readonly rows: string
}

/** `scope` fills the columns that say whose rows they are. */
export async function writeListFiles(
  folder: string,
  entries: number,
  scope: { tenant_id: string; dataset_id: string },
): Promise<ListFiles> {
  const type = compileType(partyType)
  const file = (name: string) => path.join(folder, `${entries}-${name}`)
  const files = {
    first: file('first.ndjson'),
    second: file('second.ndjson'),
    third: file('third.ndjson'),
    fourth: file('fourth.ndjson'),
    changes: file('changes.ndjson'),
    rows: file('rows.copy'),
  }
  await writeLines(files.first, entries, (n) => `${JSON.stringify(buildParty(n, false))}\n`)
  await writeLines(files.second, entries, (n) => `${JSON.stringify(buildParty(n, n % CHANGED_SHARE === 0))}\n`)
  // Against the edition before it: one in fifty, then every second.
  const third = (n: number) => (n % 50 === 1 ? buildParty(n, true, 3) : buildParty(n, n % CHANGED_SHARE === 0))
  await writeLines(files.third, entries, (n) => `${JSON.stringify(third(n))}\n`)
  await writeLines(files.fourth, entries, (n) => `${JSON.stringify(n % 2 === 0 ? buildParty(n, true, 4) : third(n))}\n`)
  const changes = (n: number) => (n % CHANGED_SHARE === 0 ? `${JSON.stringify(buildParty(n, true, 5))}\n` : '')
  await writeLines(files.changes, entries, changes)
  await writeLines(files.rows, entries, (n) => {
    const prepared = type.prepare(buildParty(n, false))
    if (!('key' in prepared)) throw new Error(`entry ${n} does not fit: ${JSON.stringify(prepared)}`)
    const { key, hash, text } = prepared
    // None of them holds anything that COPY would have escaped.
    return `${scope.tenant_id}\t${scope.dataset_id}\t${key}\t1\t\\\\x${hash}\t${text}\n`
  })
  const changed_third = Math.ceil((entries - 1) / 50)
  return {
    entries,
    changed: Math.ceil(entries / CHANGED_SHARE),
    changed_third,
    changed_fourth: Math.ceil(entries / 2),
    ...files,
  }
}

async function writeLines(file: string, count: number, line: (n: number) => string): Promise<void> {
  const out = fs.createWriteStream(file)
  for (let from = 0; from < count; from += 1000) {
    let text = ''
    for (let n = from; n < Math.min(from + 1000, count); n++) text += line(n)
    if (!out.write(text)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'finish')
}
