/**
 * A reason code is given if and only if its statement holds. The statements are written here a second time, against the raw
 * lists and inputs, so that neither the engine nor the matrices judge themselves.
 */
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { engine1 } from '#decision/engine-1/engine.ts'
import { joinKeyParts } from '#decision/engine-1/entry-key.ts'
import type { Definition, Inputs } from '#decision/model.ts'
import { toReasons } from '#modules/evaluations/records/record.ts'
import { parsePointer, valueAt } from '#registry/content/json-pointer.ts'
import { buildList, buildLists } from './support/bound-lists.ts'
import { bindOrThrow } from './support/example-matrix.ts'

type Entry = Record<string, unknown>
const seeds = path.resolve(import.meta.dirname, '../db/seed')
const read = <T>(...at: string[]): T => JSON.parse(fs.readFileSync(path.join(seeds, ...at), 'utf8')) as T
const namesIn = (folder: string) => fs.readdirSync(path.join(seeds, folder)).map((file) => path.basename(file, '.json'))

const entries = new Map(
  namesIn('lists').map((list_key) => {
    const list = read<{ type_key: string; versions: { entries: Entry[] }[] }>('lists', `${list_key}.json`)
    const { key_pointers } = read<{ key_pointers: string[] }>('types', `${list.type_key}.json`)
    const keyOf = (entry: Entry) => joinKeyParts(key_pointers.map((at) => String(valueAt(entry, parsePointer(at)))))
    return [list_key, new Map((list.versions.at(-1)?.entries ?? []).map((entry) => [keyOf(entry), entry]))]
  }),
)
const entriesOf = (list_key: string) => entries.get(list_key) as Map<string, Entry>
const lists = buildLists(...[...entries].map(([list_key, all]) => buildList(list_key, Object.fromEntries(all))))

const newest = (family: 'matrix' | 'rule', key: string): Definition => {
  const file = read<{ versions: { definition: object }[] }>(family === 'matrix' ? 'matrices' : 'rules', `${key}.json`)
  return { family, ...file.versions.at(-1)?.definition } as Definition
}
const deciderOf = (key: string) => {
  const decider = bindOrThrow(newest('matrix', key), lists)
  return (inputs: Inputs) => {
    const decision = decider.decide(inputs)
    if (!decision.ok) throw new Error(JSON.stringify(decision.findings))
    return decision
  }
}

const isHigh = (list_key: string, key: unknown, field = 'score_bps') =>
  (entriesOf(list_key).get(String(key))?.[field] as number) >=
  (entriesOf('risk-bands').get('high')?.['from_bps'] as number)
const isOn = (list_key: string, key: unknown) => entriesOf(list_key).has(String(key))
const all = (value: unknown) => (value ?? []) as string[]
const isRemote = ({ channel }: Entry) =>
  ['eid', 'video-identification', 'selfie-and-document', 'post'].includes(String(channel))

type Statements = Readonly<Record<string, (inputs: Entry) => boolean>>
const both: Statements = {
  RAT_PRODUCT_HIGH: ({ products }) => all(products).some((product) => isHigh('product-risk', product)),
  RAT_CHANNEL_REMOTE: isRemote,
  RAT_ADVERSE_MEDIA: ({ adverse_media }) => adverse_media !== 'none',
  SCR_TRUE_MATCH: ({ screening }) => screening === 'true-match',
  SCR_POSSIBLE_MATCH: ({ screening }) => screening === 'open',
}
const ofPersons: Statements = {
  ...both,
  RAT_COUNTRY_HIGH: ({ residence_country, nationalities }) =>
    [residence_country, ...all(nationalities)].some((country) => isHigh('jurisdiction-risk', country)),
  RAT_THIRD_COUNTRY: ({ residence_country }) => isOn('eu-high-risk-third-countries', residence_country),
  RAT_COUNTRY_PROHIBITED: ({ residence_country }) => isOn('prohibited-jurisdictions', residence_country),
  RAT_PEP: ({ pep_categories }) => all(pep_categories).length > 0,
}
const ofCompanies: Statements = {
  ...both,
  RAT_COUNTRY_HIGH: ({ incorporation_country, operating_countries }) =>
    [incorporation_country, ...all(operating_countries)].some((country) => isHigh('jurisdiction-risk', country)),
  RAT_THIRD_COUNTRY: ({ incorporation_country }) => isOn('eu-high-risk-third-countries', incorporation_country),
  RAT_COUNTRY_PROHIBITED: ({ incorporation_country, operating_countries }) =>
    [incorporation_country, ...all(operating_countries)].some((country) => isOn('prohibited-jurisdictions', country)),
  RAT_INDUSTRY_HIGH: ({ industry }) => isHigh('industry-risk', industry),
  RAT_OPAQUE_FORM: ({ incorporation_country, legal_form }) =>
    isHigh('legal-forms', `${incorporation_country}|${legal_form}`, 'opacity_bps'),
  RAT_COMPLEX_OWNERSHIP: ({ status, owners_identified, ownership_layers }) =>
    status === 'none' && owners_identified === true && (ownership_layers as number) > 1,
  RAT_OWNERS_UNKNOWN: ({ status, owners_identified }) => status === 'none' && owners_identified === false,
  RAT_PEP: ({ owner_functions }) => all(owner_functions).length > 0,
}

const person = {
  residence_country: 'DE',
  nationalities: ['DE'],
  products: ['salary-account'],
  channel: 'branch',
  annual_turnover: '60000.00',
  years_known: 5,
  source_of_funds: 'salary',
  adverse_media: 'none',
  screening: 'clear',
  pep_categories: [] as string[],
}
const company = {
  incorporation_country: 'DE',
  legal_form: 'gmbh',
  operating_countries: ['DE', 'FR'],
  industry: '01',
  ownership_layers: 1,
  owners_identified: true,
  products: ['domestic-payments'],
  channel: 'branch',
  status: 'none',
  adverse_media: 'none',
  screening: 'clear',
  owner_functions: [] as string[],
}

const keysOf = (list_key: string) => [...entriesOf(list_key).keys()]
const countries = keysOf('jurisdiction-risk')
const next = (index: number) => countries[(index * 7 + 3) % countries.length] as string
const media = ['none', 'unconfirmed', 'confirmed']
const screening = ['clear', 'open', 'true-match']
const at = <T>(values: readonly T[], index: number) => values[index % values.length] as T

const persons: Entry[] = [
  person,
  ...countries.map((residence_country) => ({ ...person, residence_country })),
  ...countries.map((_, index) => ({ ...person, nationalities: ['DE', next(index)] })),
  { ...person, nationalities: [], products: [] },
  ...keysOf('product-risk').map((product) => ({ ...person, products: ['savings', product] })),
  ...keysOf('delivery-channel-risk').map((channel) => ({ ...person, channel })),
  ...keysOf('pep-categories').map((category) => ({ ...person, pep_categories: [category] })),
  ...[...media.keys()].flatMap((m) =>
    screening.map((screened) => ({ ...person, adverse_media: at(media, m), screening: screened })),
  ),
  ...countries.map((residence_country, index) => ({
    ...person,
    residence_country,
    nationalities: [next(index)],
    products: [at(keysOf('product-risk'), index)],
    channel: at(keysOf('delivery-channel-risk'), index),
    annual_turnover: at(['0.00', '250000.00', '3000000.00'], index),
    years_known: index % 5,
    adverse_media: at(media, index),
    screening: at(screening, index + 1),
  })),
]
const companies: Entry[] = [
  company,
  ...countries.map((incorporation_country) => ({ ...company, incorporation_country })),
  ...countries.map((_, index) => ({ ...company, operating_countries: ['DE', next(index)] })),
  { ...company, operating_countries: [], products: [] },
  ...keysOf('industry-risk').map((industry) => ({ ...company, industry })),
  ...[...entriesOf('legal-forms').values()].map(({ country, form }) => ({
    ...company,
    incorporation_country: country,
    legal_form: form,
  })),
  ...keysOf('product-risk').map((product) => ({ ...company, products: ['savings', product] })),
  ...keysOf('delivery-channel-risk').map((channel) => ({ ...company, channel })),
  ...keysOf('pep-categories').map((category) => ({ ...company, owner_functions: [category] })),
  ...['none', 'listed', 'supervised', 'public-body'].flatMap((status) =>
    [true, false].flatMap((owners_identified) =>
      [0, 1, 2, 3, 4, 9].map((ownership_layers) => ({ ...company, status, owners_identified, ownership_layers })),
    ),
  ),
  ...[...media.keys()].flatMap((m) =>
    screening.map((screened) => ({ ...company, adverse_media: at(media, m), screening: screened })),
  ),
]

describe.each([
  ['customer-risk-person', persons, ofPersons],
  ['customer-risk-company', companies, ofCompanies],
] as const)('%s', (key, customers, statements) => {
  const decide = deciderOf(key)

  test('gives a code exactly when its statement holds', () => {
    const wrong = customers.flatMap((inputs) => {
      const given = new Set(decide(inputs).outcome.reason_codes)
      const codes = new Set([...given, ...Object.keys(statements)])
      return [...codes]
        .filter((code) => given.has(code) !== (statements[code]?.(inputs) ?? false))
        .map((code) => ({ code, given: given.has(code), inputs }))
    })
    expect(wrong.slice(0, 5)).toEqual([])
    expect(customers.length).toBeGreaterThan(500)
  })

  test('tests each statement with customers for whom it holds and others for whom it does not', () => {
    for (const [code, holds] of Object.entries(statements)) {
      expect(new Set(customers.map(holds)), code).toEqual(new Set([true, false]))
    }
  })

  test('says every code it gives in words', () => {
    for (const inputs of customers) {
      const { outcome, explanation } = decide(inputs)
      const reasons = toReasons(outcome, explanation)
      expect(reasons.map(({ code }) => code)).toEqual(outcome.reason_codes)
      for (const { title, text } of reasons) expect([title.length > 3, text.length > 10]).toEqual([true, true])
    }
  })
})

const golden: readonly (readonly [string, Entry, string, readonly string[]])[] = [
  ['a salaried resident met at a branch', {}, 'low', []],
  ['a pensioner', { source_of_funds: 'pension', products: ['savings', 'pension'] }, 'low', []],
  ['a student who opened the account by video', { channel: 'video-identification' }, 'low', ['RAT_CHANNEL_REMOTE']],
  ['a saver introduced by a regulated third party', { channel: 'reliance-regulated' }, 'low', []],
  ['a resident with a Russian passport', { nationalities: ['DE', 'RU'] }, 'low', ['RAT_COUNTRY_HIGH']],
  ['a resident of South Africa', { residence_country: 'ZA' }, 'high', ['RAT_THIRD_COUNTRY']],
  ['a resident of Nigeria', { residence_country: 'NG' }, 'high', ['RAT_THIRD_COUNTRY', 'RAT_COUNTRY_HIGH']],
  ['a user of private banking', { products: ['private-banking'] }, 'low', ['RAT_PRODUCT_HIGH']],
  ['a user of a credit card', { products: ['credit-card'] }, 'low', []],
  ['a minister', { pep_categories: ['minister'] }, 'high', ['RAT_PEP']],
  ['somebody in unconfirmed reports', { adverse_media: 'unconfirmed' }, 'low', ['RAT_ADVERSE_MEDIA']],
  ['a listed person', { screening: 'true-match' }, 'prohibited', ['SCR_TRUE_MATCH']],
]
test.each(golden)('%s', (_name, changes, band, reason_codes) => {
  expect(deciderOf('customer-risk-person')({ ...person, ...changes }).outcome).toMatchObject({ band, reason_codes })
})

test('every code of a shipped definition is explained by the list of reason codes', () => {
  const codes = [
    ...namesIn('matrices').map((key) => newest('matrix', key)),
    ...namesIn('rules').map((key) => newest('rule', key)),
  ].flatMap(
    (definition) => JSON.stringify(engine1.compile(definition).definition).match(/(?<="reason_code":")[^"]+/g) ?? [],
  )
  expect(codes.length).toBeGreaterThan(15)
  for (const code of codes) expect(isOn('reason-codes', code), code).toBe(true)
})

test('every action of a shipped definition has an audience of its own', () => {
  const actions = [
    ...namesIn('matrices').map((key) => newest('matrix', key)),
    ...namesIn('rules').map((key) => newest('rule', key)),
  ].flatMap((definition) =>
    definition.family === 'rule'
      ? (definition.required_actions ?? [])
      : definition.triggers.flatMap(({ required_actions = [] }) => required_actions),
  )
  expect(new Set(actions).size).toBeGreaterThan(4)
  for (const action of actions) expect(isOn('action-audiences', action), action).toBe(true)
})
