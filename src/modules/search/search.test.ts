/** Search over all kinds of objects: what is found, in which order, for whom, and with which odd queries. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Role, roles } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { parseSearch } from './parse-query.ts'
import { listReadableSources, runSearch } from './run-search.ts'

interface Item {
  readonly id: string
  readonly list_key?: string
  readonly title: string
  readonly subtitle: string
  readonly matched: string
  readonly restriction_id: string | null
}
interface Result {
  readonly searched_names: boolean
  readonly kinds: readonly { readonly kind: string }[]
  readonly groups: readonly { readonly kind: string; readonly items: readonly Item[]; readonly has_more: boolean }[]
}

let w: TestApp
let t: ExampleTenant
let other: ExampleTenant

async function search(q: string, more = '', of = t, roles?: readonly Role[]): Promise<Result> {
  const reply = await w.call(`GET /search?q=${encodeURIComponent(q)}${more}`, { token: await of.token(roles) })
  expect(reply.status, JSON.stringify(reply.json)).toBe(200)
  return reply.json
}
const itemsOf = (result: Result, kind: string): readonly Item[] =>
  result.groups.find((group) => group.kind === kind)?.items ?? []
const find = async (q: string, kind: string): Promise<readonly Item[]> => itemsOf(await search(q), kind)
const titles = async (q: string, kind: string) => (await find(q, kind)).map(({ title }) => title)

const newSubject = (name: string, external_id: string | null = null, of = t) =>
  of.make('POST /subjects', { body: { subject_type: 'person', name, ...(external_id && { external_id }) } })

const personInputs = {
  residence_country: 'DE',
  nationalities: ['DE'],
  products: ['salary-account'],
  channel: 'branch',
  annual_turnover: '60000.00',
  years_known: 5,
  source_of_funds: 'salary',
  adverse_media: 'none',
  screening: 'clear',
}

beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
  other = await ExampleTenant.create(w)
  await newSubject('Anna-Maria Schmidt', 'C-102')
  await newSubject('Anna Schmidt', 'C-103')
  await newSubject('Annabell Schmidtke', 'C-1030')
  await newSubject('José Müller')
  await newSubject('王小明')
  await newSubject('100% Real_Estate \\ Ltd')
  await newSubject('Anna Schmidt', 'C-102', other)
  await t.make('POST /users', { body: { name: 'Zoë Quill', email: 'zoe.quill@example.com', roles: ['analyst'] } })
})
afterAll(() => w.close())

describe('subjects', () => {
  test('are found by words in any order, whole names first, without case and accents', async () => {
    expect(await titles('schmidt ANNA', 'subject')).toEqual([
      'Anna-Maria Schmidt',
      'Anna Schmidt',
      'Annabell Schmidtke',
    ])
    const byName = await find('anna schmidt', 'subject')
    expect(byName.map(({ title, matched }) => [title, matched])).toEqual([
      ['Anna Schmidt', 'name'],
      ['Anna-Maria Schmidt', 'words'],
      ['Annabell Schmidtke', 'words'],
    ])
    expect(await titles('jose muller', 'subject')).toEqual(['José Müller'])
    expect(await titles('josé mül'.normalize('NFD'), 'subject')).toEqual(['José Müller'])
    expect(await titles('王小', 'subject')).toEqual(['王小明'])
  })

  test('are found by external id before longer ids, in either case, with a subtitle for people', async () => {
    const found = await find('c-103', 'subject')
    expect(found.map(({ title, matched }) => [title, matched])).toEqual([
      ['Anna Schmidt', 'key'],
      ['Annabell Schmidtke', 'prefix'],
    ])
    expect(found[0]?.subtitle).toBe('Person, external id C-103, not rated')
  })

  test('are found by id and by its first digits', async () => {
    const { subject_id } = await newSubject('Found By Id')
    // Time and counter: ids that another test has made for a later time begin with the same millisecond.
    const beginning = subject_id.slice(0, 28)
    for (const q of [subject_id, subject_id.toUpperCase(), subject_id.replaceAll('-', ''), beginning]) {
      expect((await find(q, 'subject')).find(({ id }) => id === subject_id)).toMatchObject({ matched: 'id' })
    }
    expect(await find(uuidv7(), 'subject')).toEqual([])
  })

  test('of another tenant are never found', async () => {
    expect(await titles('C-102', 'subject')).toEqual(['Anna-Maria Schmidt'])
    expect((await search('Anna-Maria', '', other)).groups).toEqual([])
  })
})

test('finds lists, matrices, rules and types by title and key, also shared ones', async () => {
  expect(await find('customer-risk-person', 'matrix')).toMatchObject([
    {
      id: 'customer-risk-person',
      matched: 'key',
      subtitle: expect.stringMatching(/^Matrix, key .*version \d+ in force/),
    },
  ])
  expect((await find('countries', 'list'))[0]).toMatchObject({ id: 'countries', matched: 'key' })
  expect((await find('sanctioned par', 'type')).map(({ id }) => id)).toContain('sanctioned-party')
})

test('finds the own list with the key of a shared one, whatever of the shared one matches', async () => {
  const own = await ExampleTenant.create(w)
  const [shared] = itemsOf(await search('risk-bands', '', own), 'list')
  expect(shared).toMatchObject({ id: 'risk-bands', subtitle: expect.stringMatching(/shared$/) })
  const { type_key } = await own.make('GET /reference-data/datasets/risk-bands')
  await own.make('POST /reference-data/datasets', {
    body: { list_key: 'risk-bands', type_key, title: 'Our own scale' },
  })
  for (const q of ['risk-bands', 'RISK_BANDS', 'risk bands', 'our own scale']) {
    const found = itemsOf(await search(q, '&kinds=list', own), 'list').filter(({ id }) => id === 'risk-bands')
    expect(found, q).toMatchObject([{ title: 'Our own scale', subtitle: expect.not.stringContaining('shared') }])
  }
})

test('finds entries of lists in force by key and by name, with their list', async () => {
  const found = await find('switzerland', 'entry')
  expect(found.length).toBeGreaterThan(0)
  expect(found[0]?.list_key).toBeDefined()
  const byKey = (await search('CH', '&kinds=entry&limit=50')).groups[0]?.items ?? []
  expect(byKey.filter(({ matched }) => matched === 'key').every(({ id }) => id === 'CH')).toBe(true)
  expect(byKey.some(({ matched }) => matched === 'key')).toBe(true)
})

test('finds people by name and email address, and a new name replaces the old one', async () => {
  const [user] = await find('zoe quill', 'user')
  expect(user).toMatchObject({ title: 'Zoë Quill', matched: 'name' })
  expect((await find('zoe.quill@example.com', 'user'))[0]).toMatchObject({ matched: 'key' })
  await t.make(`PATCH /users/${user?.id}`, { body: { name: 'Zoë Feather' } })
  expect(await titles('feather', 'user')).toEqual(['Zoë Feather'])
  expect((await find('zoe quill', 'user')).map(({ matched }) => matched)).toEqual(['words'])
})

test('finds a decision by its id, its receipt and its subject', async () => {
  const subject = await newSubject('Paula Decided', 'D-7')
  const { evaluation_id, receipt } = await t.make('POST /evaluations', {
    body: { matrix_key: 'customer-risk-person', subject_id: subject.subject_id, inputs: personInputs },
  })
  for (const [q, matched] of [
    [evaluation_id, 'id'],
    [receipt.receipt_id, 'key'],
  ] as const) {
    expect((await find(q, 'evaluation')).find(({ id }) => id === evaluation_id)).toMatchObject({ matched })
  }
  for (const q of ['D-7', 'paula']) {
    expect(await find(q, 'evaluation')).toMatchObject([
      { id: evaluation_id, title: 'Paula Decided', subtitle: expect.stringMatching(/^Decision of .* rated low$/) },
    ])
  }
  expect((await find('D-7', 'subject'))[0]?.subtitle).toBe('Person, external id D-7, rated low')
})

test('finds jobs by id and by kind', async () => {
  const job_id = await t.job()
  expect((await find(job_id, 'job'))[0]).toMatchObject({ id: job_id, matched: 'id' })
})

describe('what a caller may not read is not searched', () => {
  test('a role without the read operation gets neither the kind nor its hits', async () => {
    const asViewer = await search('zoe', '', t, ['viewer'])
    expect(asViewer.kinds.map(({ kind }) => kind)).not.toContain('user')
    expect(itemsOf(asViewer, 'user')).toEqual([])
    const asAdmin = await search('anna', '', t, ['tenant_admin'])
    expect(asAdmin.kinds.map(({ kind }) => kind)).not.toContain('subject')
    expect(itemsOf(asAdmin, 'subject')).toEqual([])
    expect(itemsOf(asAdmin, 'evaluation')).toEqual([])
  })

  test('kinds narrows the search, and unknown kinds give nothing', async () => {
    const only = await search('anna', '&kinds=subject')
    expect(only.groups.map(({ kind }) => kind)).toEqual(['subject'])
    expect((await search('anna', '&kinds=spaceship')).groups).toEqual([])
  })
})

test('limits each group and says that there is more', async () => {
  const [group] = (await search('anna', '&kinds=subject&limit=2')).groups
  expect(group).toMatchObject({ has_more: true })
  expect(group?.items).toHaveLength(2)
  expect((await search('anna schmidt', '&kinds=subject&limit=3')).groups).toMatchObject([{ has_more: false }])
})

describe('work in the database', () => {
  /** Searches with every role, and gives the statements of each round trip. */
  const recordBatches = (tx: Tx, q: string): Promise<string[][]> => {
    const { kernel } = w
    const batches: string[][] = []
    const queryAll: Tx['queryAll'] = (statements) => {
      batches.push(statements.map(({ text }) => text))
      return tx.queryAll(statements)
    }
    const token = { token_id: uuidv7(), issuer: 'test', issued_at_s: 0, expires_at_s: 0 }
    const actor = { ...token, principal: t.caller, tenant_id: t.tenant_id, roles, name: null }
    const { caches, routes } = kernel
    const request = { tx: { ...tx, queryAll }, terms: parseSearch(q), count: 5, actor, caches, routes }
    return runSearch(listReadableSources(kernel, roles), request).then(() => batches)
  }

  test('searches the names of all kinds with one statement, and two words in two round trips', async () => {
    await search('anna schmidt')
    const batches = await t.write((tx) => recordBatches(tx, 'anna schmidt'))
    expect(batches).toHaveLength(2)
    expect(batches.flat().filter((text) => text.includes('app.name_word '))).toHaveLength(1)
  })

  test('plans no statement for the words of one search', async () => {
    const countPlans = (tx: Tx) =>
      tx.find<{ custom: number; generic: number }>(
        `select coalesce(sum(custom_plans), 0)::bigint as custom, coalesce(sum(generic_plans), 0)::bigint as generic
           from pg_prepared_statements where statement ~ 'app.(subject|name)_word'`,
      )
    const [before, after] = await t.write(async (tx) => [
      await countPlans(tx),
      await recordBatches(tx, 'anna schmidt').then(() => countPlans(tx)),
    ])
    expect(after?.custom).toBe(before?.custom)
    expect(after?.generic).toBe((before?.generic ?? 0) + 2)
  })
})

test('alerts are found by words of their titles', async () => {
  const facts = { source: 'desk', dedup_key: 'desk:structuring', priority: 'high' }
  const { alert_id } = await t.make('POST /alerts', { body: { ...facts, title: 'Structured cash deposits in Lugano' } })
  const found = await find('lugano structured', 'alert')
  expect(found).toMatchObject([{ id: alert_id, matched: 'words' }])
  expect(await find('lugano transfers', 'alert')).toEqual([])
  expect(itemsOf(await search('lugano structured', '', other), 'alert')).toEqual([])
})

test('says by which restriction an alert is hidden from others while it is in force', async () => {
  const officer = await w.person(t.tenant_id, ['compliance_officer'])
  const send = async (path: string, body: object = {}) => (await w.call(path, { token: officer.token, body })).json
  const { restriction_id } = await send('POST /restrictions', { purpose: 'Case 31' })
  const { alert_id } = await t.make('POST /alerts', {
    body: { source: 'desk', dedup_key: 'desk:veiled', priority: 'high', title: 'Veiled transfers', restriction_id },
    token: officer.token,
  })
  const found = itemsOf((await w.call('GET /search?q=veiled', { token: officer.token })).json, 'alert')
  expect(found).toMatchObject([{ id: alert_id, restriction_id }])
})

test('alerts are found by the number that is shown for them', async () => {
  const { alert_id } = await t.make('POST /alerts', {
    body: { source: 'desk', dedup_key: 'desk:numbered', priority: 'high', title: 'Numbered' },
  })
  const number = alert_id.slice(-8)
  for (const q of [number, number.toUpperCase(), `Alert ${number}`])
    expect(await find(q, 'alert'), q).toMatchObject([{ id: alert_id, matched: 'id' }])
  expect(itemsOf(await search(number, '', other), 'alert')).toEqual([])
})

test('investigations are found by their reference without hyphens and by its beginning', async () => {
  const { subject_id } = await newSubject('Referenced Person')
  const body = { subject_id, playbook_key: 'edd-person', title: 'Referenced' }
  const { investigation_id, reference } = await t.make('POST /investigations', { body })
  const [beginning] = /^INV-.{4}/.exec(reference) ?? ['']
  for (const q of [reference.replaceAll('-', ''), reference.toLowerCase(), beginning, `${beginning}-`])
    expect(await find(q, 'investigation'), q).toMatchObject([{ id: investigation_id, matched: 'key' }])
})

test.each([
  ['INV90ZWNE8K', 'INV-90ZW-NE8K', 'INV-90ZW-NE8K'],
  ['inv-90zw', 'INV-90ZW-0000', 'INV-90ZW-ZZZZ'],
  ['inv90zw', 'INV-90ZW-0000', 'INV-90ZW-ZZZZ'],
  ['INV-90ZW-N', 'INV-90ZW-N000', 'INV-90ZW-NZZZ'],
])('reads %s as the beginning of a reference', (q, from, to) => {
  expect(parseSearch(q).reference).toEqual({ from, to })
})

test.each(['Invest', 'INV', 'INV-', 'C-102', 'INV-90ZW-NE8K9', 'Anna Schmidt'])(
  'does not read %s as a reference',
  (q) => {
    expect(parseSearch(q).reference).toBeNull()
  },
)

describe('investigations', () => {
  test('are found by words of their titles, and by the name, external id and id of their subjects', async () => {
    const { subject_id } = await newSubject('Kronwald Holzhandel', 'KW-90002')
    const body = { subject_id, playbook_key: 'edd-person', title: 'Loans repaid early in Bregenz' }
    const { investigation_id, reference } = await t.make('POST /investigations', { body })
    const found = { id: investigation_id, title: `${reference} Loans repaid early in Bregenz`, restriction_id: null }
    for (const [q, matched] of [
      ['bregenz loans', 'words'],
      ['Kronwald', 'prefix'],
      ['holzhandel kronwald', 'words'],
      ['kw-90002', 'key'],
      [subject_id, 'id'],
      [reference, 'key'],
    ] as const)
      expect(await find(q, 'investigation'), q).toMatchObject([{ ...found, matched }])
    expect(await find('bregenz transfers', 'investigation')).toEqual([])
    for (const q of ['bregenz loans', 'kronwald', 'kw-90002'])
      expect(itemsOf(await search(q, '', other), 'investigation'), q).toEqual([])
  })

  test('that are restricted are found by no word for a person without access', async () => {
    const [officer, analyst] = await Promise.all([
      w.person(t.tenant_id, ['compliance_officer']),
      w.person(t.tenant_id, ['analyst']),
    ])
    const { subject_id } = await newSubject('Wendelin Verborgen', 'VB-1')
    const body = { subject_id, playbook_key: 'edd-person', title: 'Suspected smuggling', is_restricted: true }
    const opened = await w.call('POST /investigations', { token: officer.token, body })
    const { investigation_id, reference } = opened.json
    const restriction_id = expect.any(String)
    const findAs = async ({ token }: { readonly token: string }, q: string) =>
      itemsOf((await w.call(`GET /search?q=${encodeURIComponent(q)}`, { token })).json, 'investigation')
    for (const q of ['suspected smuggling', 'wendelin', 'verborgen wendelin', 'VB-1', subject_id, reference]) {
      expect(await findAs(officer, q), q).toMatchObject([{ id: investigation_id, restriction_id }])
      expect(await findAs(analyst, q), q).toEqual([])
    }
  })
})

describe('odd queries', () => {
  const status = async (q: string) =>
    (await w.call(`GET /search?q=${encodeURIComponent(q)}`, { token: await t.token() })).status

  test('empty, too long or with U+0000 is refused', async () => {
    expect(await Promise.all([status(''), status('x'.repeat(500)), status('a\0b')])).toEqual([422, 422, 422])
  })

  test('one letter searches no names, one ideograph does', async () => {
    expect(await search('a')).toMatchObject({ searched_names: false })
    for (const q of ['a', 'c', 'a%', 'a_']) expect((await search(q)).groups, q).toEqual([])
    expect(await titles('王', 'subject')).toEqual(['王小明'])
  })

  test('wildcards are ordinary characters', async () => {
    for (const q of ['%', '_', '\\', '%%', '__']) expect((await search(q)).groups, q).toEqual([])
    expect(await titles('100% real_estate', 'subject')).toEqual(['100% Real_Estate \\ Ltd'])
  })

  test('control characters, spaces only, emoji and unpaired marks find nothing and fail nothing', async () => {
    for (const q of ['\u0001\u0002', '   ', '\u200b\u200e', '🦊🦊', '\u0301\u0301', '--', `'; drop table x; --`]) {
      expect((await search(q)).groups, JSON.stringify(q)).toEqual([])
    }
    expect(await search('anna\u0007\u200b  schmidt')).toEqual(await search('anna schmidt'))
  })

  test('many words and a very long word are bounded', async () => {
    expect((await search(Array.from({ length: 45 }, (_, n) => `q${n}`).join(' '))).groups).toEqual([])
    expect((await search('y'.repeat(200))).groups).toEqual([])
  })
})

test.each([
  ['0190d7a0', '0190d7a0-0000-0000-0000-000000000000', '0190d7a0-ffff-ffff-ffff-ffffffffffff'],
  ['0190D7A0-5b1c', '0190d7a0-5b1c-0000-0000-000000000000', '0190d7a0-5b1c-ffff-ffff-ffffffffffff'],
])('reads %s as the beginning of an id', (q, from, to) => {
  expect(parseSearch(q).id).toEqual({ from, to })
})

test.each(['0190d7a', 'deadbeeg', 'C-102', `${uuidv7()}0`])('does not read %s as an id', (q) => {
  expect(parseSearch(q).id).toBeNull()
})
