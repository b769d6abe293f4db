/**
 * Real files of the publishers, stored outside the project: two versions differ by exactly the keys that another program found.
 * Skipped where the files are missing.
 */
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { readWithAdapter } from '#test/support/adapter-reading.ts'
import { announceSampling, sample } from '#test/support/sampling.ts'
import { readXml, type XmlElement } from '../formats/xml.ts'

const root = path.resolve(import.meta.dirname, '../../../../shared/data')
const isPresent = existsSync(path.join(root, 'expected-diffs.json'))
const file = (name: string) => path.join(root, name)
const open = (name: string) => createReadStream(file(name))

const sdnAlone = { absent_files: ['alt', 'add', 'sdn_comments'] }
/** Copies without OFAC's end mark. */
const unmarked = { files_without_end_mark: ['sdn', 'alt', 'add', 'sdn_comments'] }

interface ExpectedDiff {
  readonly list: string
  readonly old: string
  readonly new: string
  readonly old_records: number
  readonly new_records: number
  readonly added_keys: readonly unknown[]
  readonly removed_keys: readonly unknown[]
  readonly changed_keys: readonly unknown[]
}

type Keyed = Map<string, string>
const SEPARATOR = '\u001f'

async function keyed(adapter: string, name: string, options: object, key: readonly string[]): Promise<Keyed> {
  const { entries, rejects } = await readWithAdapter(adapter, open(name), options as Record<string, unknown>)
  expect(rejects).toEqual([])
  return new Map(
    entries.map((entry) => [key.map((column) => entry[column] ?? '').join(SEPARATOR), JSON.stringify(entry)]),
  )
}

const byColumns =
  (adapter: string, options: object, ...key: string[]) =>
  (name: string) =>
    keyed(adapter, name, { trim: true, ...options }, key)

const trimmed = ({ name, text, children }: XmlElement): unknown => [name, text, children.map(trimmed)]

async function unByDataId(name: string): Promise<Keyed> {
  const found: Keyed = new Map()
  const paths = ['CONSOLIDATED_LIST/INDIVIDUALS/INDIVIDUAL', 'CONSOLIDATED_LIST/ENTITIES/ENTITY']
  for await (const records of readXml(open(name), paths)) {
    for (const { element } of records) {
      const id = element.children.find((child) => child.name === 'DATAID')?.text ?? ''
      found.set(id, JSON.stringify(trimmed(element)))
    }
  }
  return found
}

async function cryptoAddresses(folder: string): Promise<Keyed> {
  const found: Keyed = new Map()
  for (const name of readdirSync(file(folder))) {
    const asset = /_([A-Z]+)\.json$/.exec(name)?.[1] as string
    const { entries } = await readWithAdapter('json', open(`${folder}/${name}`), { scalar_member: 'address' })
    for (const { address } of entries) found.set([asset, address].join(SEPARATOR), '')
  }
  return found
}

const headless = { header: false, encoding: 'windows-1252' }
const readers: Record<string, (name: string) => Promise<Keyed>> = {
  'ofac-sdn': byColumns('csv', headless, '1'),
  'ofac-rel/sdn': byColumns('csv', headless, '1'),
  'ofac-rel/add.csv': byColumns('csv', headless, '1', '2'),
  'ofac-rel/alt.csv': byColumns('csv', headless, '1', '2'),
  un: unByDataId,
  'us-bis-dpl': byColumns('tsv', {}, 'Name', 'Street_Address', 'City', 'State', 'Effective_Date'),
  'ofac-crypto': cryptoAddresses,
  iso3166: byColumns('csv', {}, 'ISO3166-1-Alpha-3'),
  iso4217: byColumns('csv', {}, 'Entity', 'Currency', 'AlphabeticCode', 'WithdrawalDate'),
  'iso20275-elf': byColumns(
    'csv',
    {},
    'ELF Code',
    'Country sub-division code (ISO 3166-2)',
    'Language Code (ISO 639-1)',
  ),
  mcc: byColumns('csv', {}, 'mcc'),
}

/** Lists whose expected keys are pairs of key and name. */
const named = new Set(['ofac-sdn', 'ofac-rel/sdn', 'un'])
const keysOf = (list: string, keys: readonly unknown[]): string[] =>
  keys
    .map((key) => (Array.isArray(key) ? (named.has(list) ? String(key[0]) : key.join(SEPARATOR)) : String(key)))
    .sort()

const diffs: ExpectedDiff[] = isPresent ? JSON.parse(readFileSync(file('expected-diffs.json'), 'utf8')) : []

if (isPresent) announceSampling('published lists that are compared with their version before')
const SAMPLED_DIFFERENCES = 8

describe.skipIf(!isPresent)('two versions', () => {
  test.each(
    sample(
      diffs.filter(({ list }) => list !== 'merged-deriv'),
      SAMPLED_DIFFERENCES,
      'differences',
    ),
  )('differ by exactly the expected keys: $list, $old', async (expected) => {
    const reader = readers[expected.list]
    if (!reader) throw new Error(`no reader for ${expected.list}`)
    const [before, after] = [await reader(expected.old), await reader(expected.new)]
    expect([before.size, after.size]).toEqual([expected.old_records, expected.new_records])
    const keys = (chosen: (key: string) => boolean, of: Keyed) => [...of.keys()].filter(chosen).sort()
    expect(keys((key) => !before.has(key), after)).toEqual(keysOf(expected.list, expected.added_keys))
    expect(keys((key) => !after.has(key), before)).toEqual(keysOf(expected.list, expected.removed_keys))
    const isChanged = (key: string) => before.has(key) && before.get(key) !== after.get(key)
    expect(keys(isChanged, after)).toEqual(keysOf(expected.list, expected.changed_keys))
  })

  test.each([
    ['ofac-sdn', 'ofac-sdn-csv', (key: string) => key],
    ['ofac-rel/sdn', 'ofac-sdn-csv', (key: string) => key],
    ['un', 'un-consolidated-xml', (key: string) => key],
    [
      'us-bis-dpl',
      'us-bis-dpl',
      (key: string) =>
        key
          .split(SEPARATOR)
          .map((part) => part.replace(/\s+/g, ' '))
          .join(' | '),
    ],
  ])('differ by exactly the expected parties when read by the adapter of %s', async (list, adapter, idOf) => {
    const options = adapter === 'ofac-sdn-csv' ? { ...sdnAlone, ...unmarked } : {}
    for (const expected of diffs.filter((diff) => diff.list === list)) {
      const ids = async (name: string) =>
        new Set(
          (await readWithAdapter(adapter, open(name), options)).entries.map((entry) => String(entry['source_id'])),
        )
      const [before, after] = [await ids(expected.old), await ids(expected.new)]
      const added = keysOf(list, expected.added_keys).map(idOf)
      const removed = keysOf(list, expected.removed_keys).map(idOf)
      expect([...after].filter((id) => !before.has(id)).sort()).toEqual(added.sort())
      expect([...before].filter((id) => !after.has(id)).sort()).toEqual(removed.sort())
    }
  })
})
