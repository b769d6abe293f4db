/**
 * Publishers' real files, two versions of each, through the real API: imported with the stated key and compared with the
 * differences another program found. Knows no test framework: the test takes a few pairs, the run all of them.
 */

import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Entry } from '#registry/adapter.ts'
import { adapters } from '#registry/adapters/index.ts'
import type { Reply } from './test-app.ts'

export interface ExpectedDifference {
  readonly list: string
  readonly old: string
  readonly new: string
  readonly old_records: number
  readonly new_records: number
  readonly added_keys: readonly unknown[]
  readonly removed_keys: readonly unknown[]
  readonly changed_keys: readonly unknown[]
}

export interface RegistryApi {
  ask(at: string, body?: object): Promise<Reply['json']>
  upload(file_name: string, bytes: Buffer): Promise<string>
  /** The import once it has ended. */
  imported(order: object): Promise<Reply['json']>
}

interface Recipe {
  readonly adapter: string
  readonly options: Record<string, unknown>
  readonly key: readonly string[]
  /** Read by its adapter and sent as NDJSON: its keys repeat (the last is taken) or have empty parts, which a table cannot say. */
  readonly rewritten?: true
  /** One row has no key at all. */
  readonly keyless?: number
  /** A shared type, whose canonical form leaves exactly the changes that mean something. */
  readonly type_key?: string
  /** Several files make one list. */
  readonly folder?: true
}

const headless = { header: false, encoding: 'windows-1252' }
const currencyKey = ['Entity', 'Currency', 'AlphabeticCode', 'WithdrawalDate']
const elfKey = ['ELF Code', 'Country sub-division code (ISO 3166-2)', 'Language Code (ISO 639-1)']
const recipes: Readonly<Record<string, Recipe>> = {
  'ofac-sdn': { adapter: 'csv', options: headless, key: ['1'] },
  'ofac-rel/sdn': { adapter: 'csv', options: headless, key: ['1'] },
  'ofac-rel/add.csv': { adapter: 'csv', options: headless, key: ['1', '2'] },
  'ofac-rel/alt.csv': { adapter: 'csv', options: headless, key: ['1', '2'] },
  'us-bis-dpl': {
    adapter: 'tsv',
    options: {},
    key: ['Name', 'Street_Address', 'City', 'State', 'Effective_Date'],
    rewritten: true,
  },
  iso3166: { adapter: 'csv', options: {}, key: ['ISO3166-1-Alpha-3'], keyless: 1 },
  iso4217: { adapter: 'csv', options: {}, key: currencyKey, rewritten: true },
  'iso20275-elf': { adapter: 'csv', options: {}, key: elfKey, rewritten: true },
  mcc: { adapter: 'csv', options: {}, key: ['mcc'] },
  un: { adapter: 'un-consolidated-xml', options: {}, key: ['source_id'], type_key: 'sanctioned-party' },
  'ofac-crypto': { adapter: 'json', options: {}, key: ['asset', 'address'], folder: true },
}

export const readExpectedDiffs = (folder: string): ExpectedDifference[] =>
  JSON.parse(readFileSync(path.join(folder, 'expected-diffs.json'), 'utf8'))

/** What has no adapter is left out, by name. */
export const isImportable = ({ list }: ExpectedDifference): boolean => recipes[list] !== undefined

/** Imports both files and gives a sentence for everything that is not as expected. */
export async function compareVersions(
  api: RegistryApi,
  folder: string,
  expected: ExpectedDifference,
): Promise<string[]> {
  const recipe = recipes[expected.list] as Recipe
  const list_key = `real-${[expected.list, path.basename(expected.new)]
    .join('-')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')}`
  const files = [path.join(folder, expected.old), path.join(folder, expected.new)]
  const type_key = recipe.type_key ?? (await newType(api, list_key, recipe, files[0] as string))
  const guards = { max_removed_bps: 10_000, max_changed_bps: 10_000 }
  await api.ask('POST /reference-data/datasets', { list_key, type_key, title: expected.list, guards })
  const faults: string[] = []
  for (const [index, file] of files.entries()) {
    const done = await importFile(api, list_key, recipe, file)
    const records = (index === 0 ? expected.old_records : expected.new_records) - (recipe.keyless ?? 0)
    if (done.version !== index + 1) faults.push(`${file} ended as ${done.state}: ${JSON.stringify(done.problem)}`)
    else if (done.counts.accepted !== records)
      faults.push(`${file} gave ${done.counts.accepted} entries, not ${records}`)
  }
  if (faults.length > 0) return faults
  // The shared type's key begins with the name of the list.
  const plainKey = (key: string) => (recipe.type_key ? (key.split('|').at(-1) as string) : key)
  const found = await readDifference(api, list_key, plainKey)
  const wanted = { added: expected.added_keys, removed: expected.removed_keys, changed: expected.changed_keys }
  for (const op of ['added', 'removed', 'changed'] as const) {
    const keys = wanted[op].map((key) => keyText(key, recipe)).sort()
    if (JSON.stringify(found[op].sort()) !== JSON.stringify(keys)) {
      faults.push(`${expected.list} ${op}: ${found[op].length} keys, expected ${keys.length}`)
    }
  }
  return faults
}

/** A key of several parts is one text in the registry; a single one may have a name beside it. */
function keyText(key: unknown, { key: members }: Recipe): string {
  const parts = (Array.isArray(key) ? key : [key]).map(String).slice(0, members.length)
  return parts.length === 1 ? (parts[0] as string) : parts.map((part) => part.replaceAll(/[\\|]/g, '\\$&')).join('|')
}

const readSource = (recipe: Recipe, file: string) =>
  adapters.get(recipe.adapter)?.read(createReadStream(file), recipe.options)

async function readEntries(recipe: Recipe, file: string): Promise<Entry[]> {
  if (recipe.folder) return readAddresses(file)
  const entries: Entry[] = []
  const keyless = Object.fromEntries(recipe.rewritten ? recipe.key.map((name) => [name, '']) : [])
  for await (const batch of readSource(recipe, file) ?? [])
    entries.push(...batch.entries.map(({ entry }) => ({ ...keyless, ...entry })))
  return entries
}

const readAddresses = (folder: string): Entry[] =>
  readdirSync(folder).flatMap((name) => {
    const asset = /_([A-Z]+)\.json$/.exec(name)?.[1] as string
    const addresses = JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as string[]
    return addresses.map((address) => ({ asset, address }))
  })

const pointerTo = (member: string) => `/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** Every column is text, and the key is the stated one. */
async function newType(api: RegistryApi, type_key: string, recipe: Recipe, file: string): Promise<string> {
  const entries = await readEntries(recipe, file)
  const names = new Set(entries.flatMap((entry) => Object.keys(entry)))
  const properties = Object.fromEntries([...names].map((name) => [name, { type: 'string' }]))
  await api.ask('POST /reference-data/types', {
    type_key,
    title: type_key,
    description: 'As the publisher writes it.',
    schema: { type: 'object', properties, required: [...recipe.key], additionalProperties: false },
    key_pointers: recipe.key.map(pointerTo),
    examples: [entries[0]],
  })
  return type_key
}

async function importFile(api: RegistryApi, list_key: string, recipe: Recipe, file: string) {
  const upload = async (bytes: Buffer) => api.upload(encodeURIComponent(path.basename(file)), bytes)
  if (!recipe.rewritten && !recipe.folder) {
    const upload_id = await upload(readFileSync(file))
    const strict = recipe.keyless === undefined
    return api.imported({ list_key, upload_id, adapter_key: recipe.adapter, options: recipe.options, strict })
  }
  const entries = await readEntries(recipe, file)
  const byKey = new Map(entries.map((entry) => [JSON.stringify(recipe.key.map((name) => entry[name])), entry]))
  const text = [...byKey.values()].map((entry) => `${JSON.stringify(entry)}\n`).join('')
  return api.imported({ list_key, upload_id: await upload(Buffer.from(text)), adapter_key: 'ndjson' })
}

async function readDifference(api: RegistryApi, list_key: string, plainKey: (key: string) => string) {
  const keys: Record<'added' | 'removed' | 'changed', string[]> = { added: [], removed: [], changed: [] }
  let cursor: string | null = null
  do {
    const query = `from=1&to=2&limit=200${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`
    const page = await api.ask(`GET /reference-data/datasets/${list_key}/diff?${query}`)
    for (const { op, key } of page.items) keys[op as 'added'].push(plainKey(key))
    cursor = page.next_cursor
  } while (cursor)
  return keys
}
