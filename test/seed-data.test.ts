/** The shipped types and lists: each fits its own rules, and what one list says about another is true. */
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Entry } from '#registry/adapter.ts'
import { entryTypes } from '#registry/adapters/index.ts'
import { findPolicyFault } from '#registry/overlay.ts'
import { checkDefinition } from '#registry/types/check-type-definition.ts'
import { compileType, type PreparedEntry } from '#registry/types/compile-type.ts'
import { createListCheck } from '#registry/types/list-rules.ts'
import type { TypeDefinition } from '#registry/types/type-definition.ts'

interface Version {
  readonly label: string
  readonly note: string
  readonly effective_from: string
  readonly source: { readonly title: string; readonly url: string; readonly retrieved_on: string }
  readonly entries: readonly Entry[]
}
interface List {
  readonly list_key: string
  readonly type_key: string
  readonly title: string
  readonly description: string
  readonly owner: string
  readonly review_every_days: number
  readonly stale_after_days: number
  readonly guards?: { readonly min_entries?: number }
  readonly overlay_policy: 'none' | 'add_only' | 'tighten_only' | 'free'
  readonly versions: readonly Version[]
}

const root = path.resolve(import.meta.dirname, '../db/seed')
const files = (folder: string) => fs.readdirSync(path.join(root, folder)).sort()
const readAll = <T>(folder: string) =>
  new Map(
    files(folder).map((name) => [
      path.basename(name, '.json'),
      JSON.parse(fs.readFileSync(path.join(root, folder, name), 'utf8')) as T,
    ]),
  )

const types = new Map(
  [...readAll<Omit<TypeDefinition, 'type_version'>>('types')].map(([name, type]) => [
    name,
    { ...type, type_version: 1 } as TypeDefinition,
  ]),
)
const lists = readAll<List>('lists')

const typeOf = (list: List): TypeDefinition => types.get(list.type_key) as TypeDefinition
const listOf = (list_key: string): List => lists.get(list_key) as List
const newest = (list_key: string): readonly Entry[] => listOf(list_key).versions.at(-1)?.entries ?? []
const allEntries = [...lists.values()].flatMap(({ list_key, versions }) =>
  versions.flatMap(({ label, entries }) => entries.map((entry) => ({ at: `${list_key} ${label}`, entry }))),
)

/** Every text member called one of `names`, at any depth. */
function textsUnder(names: readonly string[], value: unknown, name = ''): string[] {
  if (typeof value === 'string') return names.includes(name) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([member, child]) =>
    textsUnder(names, child, Array.isArray(value) ? name : member),
  )
}

describe('types', () => {
  test.each([...types])('%s', (name, type) => {
    expect(type.type_key).toBe(name)
    expect(checkDefinition(type)).toEqual([])
  })

  test.each([...entryTypes])('%s is what the adapters make', (type_key, type) => {
    expect(types.get(type_key)).toEqual(JSON.parse(JSON.stringify(type)))
  })
})

describe('lists', () => {
  test.each([...lists])('%s', (name, list) => {
    expect(list.list_key).toBe(name)
    const type = types.get(list.type_key)
    expect(type).toBeDefined()
    expect(list.versions.length).toBeGreaterThan(0)
    expect(list.description).toMatch(/illustrative/i)
    expect(list.stale_after_days).toBeGreaterThanOrEqual(list.review_every_days)

    const compiled = compileType(type as TypeDefinition)
    const contents = list.versions.map(({ label, entries }) => {
      const check = createListCheck(type as TypeDefinition)
      const prepared = entries.map((entry, index) => {
        const result = compiled.prepare(entry)
        if (!('key' in result)) throw new Error(`${label}, entry ${index + 1}: ${JSON.stringify(result)}`)
        check.add(result.key, entry)
        return result
      })
      expect(check.finish()).toEqual([])
      expect(new Set(prepared.map(({ key }) => key)).size).toBe(entries.length)
      expect(entries.length).toBeGreaterThanOrEqual(list.guards?.min_entries ?? 1)
      return JSON.stringify(prepared.map(({ hash }) => hash).sort())
    })
    // Seeding tells versions apart by their content.
    expect(new Set(contents).size).toBe(contents.length)
  })

  test.each(
    [...lists.values()].flatMap(({ list_key, versions }) =>
      versions.map((v) => [`${list_key} ${v.label}`, v] as const),
    ),
  )('%s says when and from where', (_, { label, note, effective_from, source }) => {
    expect(label).toMatch(/^(?=.*[^0-9])[A-Za-z0-9][A-Za-z0-9._-]*$/)
    expect(note).not.toBe('')
    expect(effective_from).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/)
    expect(Date.parse(effective_from)).toBeLessThan(Date.now())
    expect(source.title).not.toBe('')
    expect(source.url).toMatch(/^https:\/\//)
    expect(source.retrieved_on).toMatch(/^\d{4}-\d{2}-\d{2}$/)
  })

  test('versions are in the order of their dates and have labels of their own', () => {
    for (const { versions } of lists.values()) {
      const dates = versions.map(({ effective_from }) => effective_from)
      expect(dates).toEqual([...new Set(dates)].sort())
      expect(new Set(versions.map(({ label }) => label)).size).toBe(versions.length)
    }
  })

  test('a list that may only be tightened says what is stricter', () => {
    for (const list of [...lists.values()].filter(({ overlay_policy }) => overlay_policy === 'tighten_only')) {
      const ordered = Object.values(typeOf(list).fields).filter(({ order }) => order !== undefined)
      expect(ordered, list.list_key).not.toEqual([])
    }
  })

  test('has one entry per line, so that a diff of the file is readable', () => {
    for (const { list_key, versions } of lists.values()) {
      const text = fs.readFileSync(path.join(root, 'lists', `${list_key}.json`), 'utf8')
      const lines = new Set(text.split('\n').map((line) => line.trim().replace(/,$/, '')))
      for (const entry of versions.flatMap(({ entries }) => entries))
        expect(lines.has(JSON.stringify(entry))).toBe(true)
    }
  })
})

describe('what lists say about each other', () => {
  const countries = new Set(newest('countries').map(({ alpha_2 }) => alpha_2))
  const currencies = new Map(newest('currencies').map((currency) => [currency['code'] as string, currency]))

  test('all of ISO 3166-1 is there, each code once', () => {
    const entries = newest('countries')
    expect(entries).toHaveLength(249)
    for (const member of ['alpha_2', 'alpha_3', 'numeric', 'name']) {
      expect(new Set(entries.map((entry) => entry[member])).size, member).toBe(249)
    }
  })

  test('every country that is named exists', () => {
    const named = ['country', 'flag', 'nationalities', 'jurisdiction']
    for (const { at, entry } of allEntries) {
      // The European Union is a jurisdiction and no country.
      for (const code of textsUnder(named, entry).filter((text) => text !== 'EU')) expect(countries, at).toContain(code)
    }
  })

  test('every currency that is named exists, and money of today is in one that is in use', () => {
    for (const { at, entry } of allEntries) {
      for (const code of textsUnder(['currency'], entry).flatMap((text) => text.split(','))) {
        expect(currencies.get(code), `${at}: ${code}`).toMatchObject({ active: true })
      }
    }
  })

  test('jurisdiction-risk rates every country', () => {
    expect(new Set(newest('jurisdiction-risk').map(({ country }) => country))).toEqual(countries)
  })

  const bands = newest('risk-bands') as unknown as { band: string; from_bps: number; to_bps: number }[]
  const bandOf = (score: unknown) =>
    bands.find((b) => (score as number) >= b.from_bps && (score as number) <= b.to_bps)?.band

  test('bands reach from 0 to 10000 and are stricter upwards', () => {
    expect(bands[0]?.from_bps).toBe(0)
    expect(bands.at(-1)?.to_bps).toBe(10_000)
    expect(bands.map(({ band }) => band)).toEqual(['low', 'medium', 'high', 'prohibited'])
    expect(bands.slice(1).map(({ from_bps }) => from_bps - 1)).toEqual(bands.slice(0, -1).map(({ to_bps }) => to_bps))
  })

  test('every rating is the band of its score', () => {
    const rated = allEntries.filter(({ entry }) => 'score_bps' in entry)
    expect(rated.length).toBeGreaterThan(300)
    for (const { at, entry } of rated)
      expect(bandOf(entry['score_bps']), `${at} ${JSON.stringify(entry)}`).toBe(entry['rating'])
  })

  test('jurisdiction-risk is composed from the lists it names, by the rule it states', () => {
    const fatf = new Map(newest('fatf-lists').map((entry) => [entry['country'], entry]))
    const eu = new Set(newest('eu-high-risk-third-countries').map(({ country }) => country))
    const corruption: Record<string, number> = {
      low: 1500,
      medium: 3000,
      high: 4500,
      'very-high': 6000,
      'no-data': 3500,
    }
    const listed: Record<string, number> = { none: 0, grey: 2500, black: 4000 }
    for (const { country, score_bps, inputs } of newest('jurisdiction-risk') as unknown as {
      country: string
      score_bps: number
      inputs: { fatf: string; eu: string; corruption_band: string; rule: string }
    }[]) {
      const listing = fatf.get(country)
      const expected = listing?.['measure'] === 'countermeasures' ? 'countermeasures' : (listing?.['list'] ?? 'none')
      expect([country, inputs.fatf, inputs.eu]).toEqual([country, expected, eu.has(country) ? 'high-risk' : 'none'])
      const sum =
        (corruption[inputs.corruption_band] as number) +
        (listed[inputs.fatf] ?? 0) +
        (inputs.eu === 'high-risk' ? 1500 : 0)
      const score = inputs.fatf === 'countermeasures' ? 10_000 : Math.min(sum, 8900)
      expect([country, score_bps]).toEqual([country, score])
      expect(inputs.rule).toContain(String(inputs.fatf === 'countermeasures' ? 10_000 : sum))
    }
  })

  test('a filing clock names a threshold of its jurisdiction', () => {
    const known = new Set(newest('monetary-thresholds').map(({ jurisdiction, name }) => `${jurisdiction} ${name}`))
    for (const { jurisdiction, threshold } of newest('filing-clocks')) {
      if (threshold !== undefined) expect(known).toContain(`${jurisdiction} ${threshold}`)
    }
  })

  test('a monitoring threshold names a reason code', () => {
    const known = new Set(newest('reason-codes').map(({ code }) => code))
    for (const { reason_code } of newest('transaction-monitoring-thresholds')) expect(known).toContain(reason_code)
  })

  test('a strong match is stronger than a possible one', () => {
    for (const { possible_bps, strong_bps } of newest('screening-thresholds')) {
      expect(strong_bps as number).toBeGreaterThan(possible_bps as number)
    }
  })
})

describe('law', () => {
  const fromLaw = [
    'eu-high-risk-third-countries',
    'filing-clocks',
    'jurisdiction-risk',
    'legal-forms',
    'monetary-thresholds',
    'pep-categories',
    'retention-clocks',
  ]

  test.each(fromLaw)('every entry of %s names its source and is marked as not checked', (list_key) => {
    for (const { entries } of listOf(list_key).versions) {
      for (const { source, source_on, checked } of entries) {
        expect(source).toMatch(/\S{3}/)
        expect(source_on).toMatch(/^\d{4}-\d{2}-\d{2}$/)
        expect(checked).toBe(false)
      }
    }
  })

  test('no other list says of itself that it was checked', () => {
    for (const { at, entry } of allEntries) expect(entry['checked'] ?? false, at).toBe(false)
  })

  test.each(['monetary-thresholds', 'filing-clocks', 'retention-clocks'])('%s covers six jurisdictions', (list_key) => {
    const covered = new Set(newest(list_key).map(({ jurisdiction }) => jurisdiction))
    expect([...covered].sort()).toEqual(['AE', 'CH', 'EU', 'GB', 'SG', 'US'])
  })

  test('a tenant may raise a country and not lower it, lower an amount and not raise it', () => {
    const risk = typeOf(listOf('jurisdiction-risk'))
    const namibia = newest('jurisdiction-risk').find(({ country }) => country === 'NA') as Entry
    expect(
      findPolicyFault('tighten_only', risk, namibia, { ...namibia, rating: 'prohibited', score_bps: 9500 }),
    ).toBeNull()
    expect(findPolicyFault('tighten_only', risk, namibia, { ...namibia, rating: 'low' })).toMatch(/stricter/)
    const money = typeOf(listOf('monetary-thresholds'))
    const [threshold] = newest('monetary-thresholds') as [Entry]
    const amount = threshold['amount_minor'] as number
    expect(findPolicyFault('tighten_only', money, threshold, { ...threshold, amount_minor: amount - 1 })).toBeNull()
    expect(findPolicyFault('tighten_only', money, threshold, { ...threshold, amount_minor: amount + 1 })).toMatch(
      /stricter/,
    )
  })
})

describe('the FATF lists', () => {
  const grey = listOf('fatf-lists').versions.map(
    ({ entries }) => new Set(entries.filter(({ list }) => list === 'grey').map(({ country }) => country as string)),
  )
  const missing = (from: ReadonlySet<string> | undefined, other: ReadonlySet<string> | undefined) =>
    [...(from ?? [])].filter((code) => !other?.has(code)).sort()

  test.each([
    [1, ['AO', 'CI', 'DZ', 'LB'], ['SN']],
    [2, ['LA', 'NP'], ['PH']],
    [3, ['BO', 'VG'], ['HR', 'ML', 'TZ']],
    [4, [], ['BF', 'MZ', 'NG', 'ZA']],
  ])('step %i of the grey list', (step, added, removed) => {
    expect(missing(grey[step], grey[step - 1])).toEqual(added)
    expect(missing(grey[step - 1], grey[step])).toEqual(removed)
  })

  test('the black list', () => {
    for (const { entries } of listOf('fatf-lists').versions) {
      const black = entries.filter(({ list }) => list === 'black').map(({ country }) => country)
      expect(black.sort()).toEqual(['IR', 'KP', 'MM'])
    }
  })
})

describe('the demonstration list', () => {
  const compiled = compileType(types.get('sanctioned-party') as TypeDefinition)
  const versions = listOf('demo-sanctions').versions.map(
    ({ entries }) =>
      new Map(
        entries.map((entry) => {
          const { key, hash } = compiled.prepare(entry) as PreparedEntry
          return [key, hash]
        }),
      ),
  )
  const parties = newest('demo-sanctions') as unknown as {
    source: string
    kind: string
    name: string
    names: { name: string; kind: string; script?: string }[]
    remarks: string
  }[]

  test('has about two hundred parties of every kind, in five scripts', () => {
    expect(parties.length).toBeGreaterThanOrEqual(190)
    expect(new Set(parties.map(({ kind }) => kind))).toEqual(new Set(['person', 'organisation', 'vessel', 'aircraft']))
    const text = parties.flatMap(({ names }) => names.map(({ name }) => name)).join('\n')
    for (const script of ['Latin', 'Cyrillic', 'Arabic', 'Han', 'Greek']) {
      expect(text.match(new RegExp(`\\p{Script=${script}}`, 'gu'))?.length ?? 0, script).toBeGreaterThan(50)
    }
  })

  test.each([1, 2])('version %i + 1 adds 12, removes 5 and changes 15', (step) => {
    const [before, after] = [versions[step - 1] as Map<string, string>, versions[step] as Map<string, string>]
    expect(versions).toHaveLength(3)
    expect([...after.keys()].filter((key) => !before.has(key))).toHaveLength(12)
    expect([...before.keys()].filter((key) => !after.has(key))).toHaveLength(5)
    expect([...after].filter(([key, hash]) => before.has(key) && before.get(key) !== hash)).toHaveLength(15)
  })

  test('is fictitious and says so in every entry', () => {
    for (const { at, entry } of allEntries.filter(({ entry }) => 'source_id' in entry)) {
      expect([entry['source'], entry['remarks']], at).toEqual(['demo', 'Fictitious.'])
    }
  })

  test('no party has a name twice, and the primary one is its name', () => {
    for (const { name, names } of parties) {
      expect(new Set(names.map((other) => other.name)).size, name).toBe(names.length)
      expect(names.filter(({ kind }) => kind === 'primary').map((primary) => primary.name)).toEqual([name])
    }
  })

  test.each([
    ['Testa Hitwell', [true, true, true]],
    ['Removia Delistova', [true, true, false]],
    ['Additia Newlisted', [false, false, true]],
    ['Changea Updatewell', [true, true, true]],
  ])('%s is where the README says', (name, expected) => {
    const found = listOf('demo-sanctions').versions.map(({ entries }) =>
      entries.some((entry) => entry['name'] === name),
    )
    expect(found).toEqual(expected)
  })
})
