import { expect, test } from 'vitest'
import { companyContract, companyPayload, companyRecord, countries } from '#test/support/company-registry.ts'
import { admit, findExampleFindings } from './admit.ts'
import { checkContractText } from './check-contract.ts'
import { fromContractEntries, toContractEntries } from './contract-parts.ts'
import { describeViolation } from './describe-violation.ts'
import { compileContract } from './judge-payload.ts'
import type { Contract } from './model.ts'
import { compileReader } from './read-payload.ts'
import { redactPayload, UNDECLARED } from './redact-payload.ts'

const RECEIVED = '2026-01-20T00:00:00Z'

const admitPayload = (payload: unknown, change: Partial<Contract> = {}, media_type = 'application/json') =>
  admit(companyContract(change), Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)), {
    media_type,
    received_at: RECEIVED,
    lists: countries,
  })

const places = (violations: readonly { pointer: string; code: string; record_index: number | null }[]) =>
  violations.map(({ pointer, code, record_index }) => [code, pointer, record_index])

test('a refused example says in a sentence what is expected', () => {
  expect(describeViolation({ expected: 'must be one of "a", "b"' })).toBe('It must be one of "a", "b".')
  expect(describeViolation({ expected: 'a list of records' })).toBe('Expected: a list of records.')
  expect(describeViolation({ expected: 'The JSON ends too early. Put a digit.' })).toBe(
    'The JSON ends too early. Put a digit.',
  )
})

test('admits a payload that fits and gives its facts in the form of matrix inputs', async () => {
  const admission = await admitPayload(companyPayload([companyRecord(1), companyRecord(7)]))
  expect(admission.violations).toEqual([])
  expect(admission.result).toBe('admitted')
  expect(admission.facts).toEqual([
    {
      record_index: 0,
      facts: {
        country: 'FR',
        status: 'active',
        incorporated_on: '2015-03-01',
        capital: '1001',
        officers: ['Officer 1'],
      },
    },
    {
      record_index: 1,
      facts: {
        country: 'FR',
        status: 'dissolved',
        incorporated_on: '2015-03-01',
        dissolved_on: '2024-06-30',
        capital: '1007',
        officers: ['Officer 7'],
      },
    },
  ])
  expect(admission.provenance).toEqual({ source: 'registry.example', as_of: '2026-01-10T08:00:00Z' })
})

test('refuses bytes, JSON and records in this order, each as the only violation', async () => {
  const good = companyPayload([companyRecord(1)])
  expect(places((await admitPayload(good, { max_bytes: 10 })).violations)).toEqual([['bytes', '', null]])
  expect(places((await admitPayload('{"result": {"items": [1,]}}')).violations)).toEqual([
    ['json', '/result/items/1', null],
  ])
  expect(places((await admitPayload('{"meta": 1, "meta": 2}')).violations)).toEqual([['json', '/meta', null]])
  expect(places((await admitPayload('{"result": {"items": {}}}')).violations)).toEqual([
    ['records', '/result/items', null],
  ])
  expect(places((await admitPayload(good, { max_records: 1 })).violations)).toEqual([])
  const two = companyPayload([companyRecord(1), companyRecord(2)])
  expect(places((await admitPayload(two, { max_records: 1 })).violations)).toEqual([['records', '/result/items', null]])
})

test('quarantines the whole payload with the place, keyword and demand of each violation, and never a value', async () => {
  const secret = 'Mallory Secret'
  const payload = companyPayload([
    companyRecord(1),
    companyRecord(2, { name: '', officers: [{ name: 1234567 }], status: secret }),
  ])
  const admission = await admitPayload(payload)
  expect(admission.result).toBe('quarantined')
  expect(admission.facts).toEqual([])
  expect(places(admission.violations)).toEqual([
    ['too_short', '/name', 1],
    ['not_allowed', '/status', 1],
    ['wrong_type', '/officers/0/name', 1],
  ])
  expect(admission.violations.map(({ keyword }) => keyword)).toEqual(['minLength', 'enum', 'type'])
  expect(JSON.stringify(admission)).not.toMatch(/Mallory|1234567/)
})

test('admits the good records of a payload with bad ones where the contract allows it, and says that it is incomplete', async () => {
  const payload = companyPayload([companyRecord(1), companyRecord(2, { name: '' })])
  const admission = await admitPayload(payload, { partial: 'record' })
  expect(admission).toMatchObject({ result: 'admitted_with_notes', incomplete: true, record_count: 2 })
  expect(admission.facts.map(({ record_index }) => record_index)).toEqual([0])
  const none = await admitPayload(companyPayload([companyRecord(2, { name: '' })]), { partial: 'record' })
  expect(none).toMatchObject({ result: 'quarantined', incomplete: false })
})

test('checks lists, provenance, freshness and checks after the schema', async () => {
  const payload = companyPayload(
    [
      companyRecord(1, { address: { country: 'ZZ' } }),
      companyRecord(7, { dates: { incorporation: '2024-06-30', dissolution: '2015-03-01' } }),
    ],
    { source: '', updated_at: '2025-01-01T00:00:00Z' },
  )
  const admission = await admitPayload(payload)
  expect(places(admission.violations)).toEqual([
    ['not_on_list', '/address/country', 0],
    ['provenance_missing', '/meta/source', null],
    ['stale', '/meta/updated_at', null],
    ['check_failed', '/dates/dissolution', 1],
  ])
})

test('a check is skipped for a record that lacks a tested fact, and one that only notes refuses nothing', async () => {
  const wrong = companyPayload([
    companyRecord(7, { dates: { incorporation: '2024-06-30', dissolution: '2015-03-01' } }),
  ])
  expect((await admitPayload(companyPayload([companyRecord(1, { dates: {} })]))).result).toBe('admitted')
  const [check] = companyContract().checks ?? []
  const noted = await admitPayload(wrong, { checks: [{ ...(check as NonNullable<typeof check>), else: 'note' }] })
  expect(noted.result).toBe('admitted_with_notes')
  expect(noted.notes).toEqual([{ code: 'check_failed:dates-ordered', pointer: '/dates/dissolution', record_index: 0 }])
})

test('notes, refuses or ignores members that the contract does not declare', async () => {
  const payload = companyPayload([
    companyRecord(1, { vat: 'GB1', officers: [{ name: 'A', born: '1970' }] }),
    companyRecord(2, { vat: 'GB2' }),
  ])
  const noted = await admitPayload(payload)
  expect(noted.result).toBe('admitted_with_notes')
  expect(noted.notes.map(({ pointer }) => pointer)).toEqual(['/officers/*/born', '/vat'])
  expect(places((await admitPayload(payload, { unknown_members: 'refuse' })).violations)).toEqual([
    ['unknown_member', '/officers/0/born', 0],
    ['unknown_member', '/vat', 0],
    ['unknown_member', '/vat', 1],
  ])
  expect((await admitPayload(payload, { unknown_members: 'drop' })).result).toBe('admitted')
})

test('lists 100 violations and counts the rest', async () => {
  const records = Array.from({ length: 150 }, (_, index) => companyRecord(index, { name: '' }))
  const { violations, more } = await admitPayload(companyPayload(records))
  expect([violations.length, more]).toEqual([100, 50])
})

test('reads the records of every page of an answer in pages, and refuses it whole where a page has none', async () => {
  const paged: Partial<Contract> = {
    records_at: '/*/result/items',
    provenance: { source: '/0/meta/source', as_of: '/0/meta/updated_at', required: ['source', 'as_of'] },
  }
  const pages = [
    companyPayload([companyRecord(1), companyRecord(2)]),
    companyPayload([]),
    companyPayload([companyRecord(3)]),
  ]
  const found = await admitPayload(pages, paged)
  expect(found).toMatchObject({ result: 'admitted', record_count: 3, provenance: { source: 'registry.example' } })
  for (const payload of [[...pages, { result: {} }], pages[0], '"page"']) {
    expect(await admitPayload(payload, paged)).toMatchObject({
      result: 'quarantined',
      violations: [{ code: 'records', pointer: '/*/result/items' }],
    })
  }
  const shown = redactPayload(companyContract(paged), pages) as typeof pages
  expect(shown[2]).toMatchObject({ meta: { source: UNDECLARED }, result: { items: [{ number: '10000003' }] } })
  expect(shown[0]?.meta.source).toBe('registry.example')
})

test('converts an XML payload to JSON, with the lists that the contract declares as arrays', async () => {
  const xml = `<?xml version="1.0"?><result xmlns:c="urn:x"><c:item id="7"><number>10000001</number><name>Example</name>
    <address><country>FR</country></address><officers><name>Ada</name></officers></c:item></result>`
  const { freshness: _, provenance: _p, ...contract } = companyContract({ records_at: '/result/item' })
  const admission = await admit(contract, Buffer.from(xml), {
    media_type: 'application/xml; charset=utf-8',
    received_at: null,
    lists: countries,
  })
  expect(admission.violations).toEqual([])
  expect(admission.notes.map(({ pointer }) => pointer)).toEqual(['/@id'])
  expect(admission.facts[0]?.facts).toMatchObject({ country: 'FR', officers: ['Ada'] })
  const bomb = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
  expect(places((await admitPayload(bomb, {}, 'text/xml')).violations)).toEqual([['xml', '', null]])
})

test('finds every fault of a contract with its pointer', () => {
  const faults = (change: Record<string, unknown>) =>
    checkContractText({ ...companyContract(), ...change }).map(({ code, pointer }) => `${code} ${pointer}`)
  expect(faults({})).toEqual([])
  expect(faults({ extra: 1 })).toEqual(['member_unknown /extra'])
  expect(faults({ record: { type: 'object', properties: { a: { pattern: '(?=a)' } } } })).toEqual([
    'pattern_refused /record/properties/a/pattern',
  ])
  expect(faults({ record: { type: 'array' } })).toEqual(['schema_not_object /record/type'])
  expect(faults({ facts: [{ name: 'a', at: '/nowhere', type: 'string' }], checks: [] })).toEqual([
    'fact_not_declared /facts/0/at',
  ])
  expect(faults({ facts: [{ name: 'a', at: '/officers/*/name', type: 'string' }], checks: [] })).toEqual([
    'fact_not_single /facts/0/at',
  ])
  expect(faults({ facts: [{ name: 'a', at: '/address', type: 'integer' }], checks: [] })).toEqual([
    'fact_type /facts/0/type',
  ])
  const checking = (when: object[]) => faults({ checks: [{ key: 'k', when, else: 'note' }] })
  expect(checking([{ of: 'nothing', test: '-' }])).toEqual(['fact_undeclared /checks/0/when/0/of'])
  expect(checking([{ of: 'dissolved_on', test: '> 12' }])).toEqual(['test_type /checks/0/when/0/test'])
  expect(checking([{ of: 'dissolved_on', test: '> country' }])).toEqual(['test_type /checks/0/when/0/test'])
  expect(faults({ provenance: { required: ['source'] } })).toEqual([
    'provenance_missing /provenance/required/0',
    'provenance_missing /freshness/measured_from',
  ])
  expect(faults({ personal: [{ at: '/nowhere' }] })).toEqual(['member_not_declared /personal/0/at'])
})

test('an example must be admitted, and a counter-example refused at the stated pointer', async () => {
  const findings = async (contract: Contract) => {
    const reader = compileReader(contract)
    const bound = compileContract(contract).bind(countries)
    if (!('judge' in bound)) throw new Error('not bound')
    const read = async (examples: readonly { payload: unknown }[]) =>
      Promise.all(examples.map(({ payload }) => reader.read(Buffer.from(JSON.stringify(payload)), 'application/json')))
    const found = findExampleFindings(contract, bound, {
      examples: await read(contract.examples),
      counter_examples: await read(contract.counter_examples ?? []),
    })
    return found.map(({ code, pointer }) => `${code} ${pointer}`)
  }
  expect(await findings(companyContract())).toEqual([])
  expect(await findings(companyContract({ examples: [{ payload: {} }] }))).toEqual([
    'example_refused /examples/0/payload',
  ])
  const refused = companyContract().counter_examples ?? []
  const elsewhere = refused.map((example) => ({ ...example, violates: ['/name'] }))
  expect(await findings(companyContract({ counter_examples: elsewhere }))).toEqual([
    'counter_example_admitted /counter_examples/0/violates/0',
  ])
})

test('a contract is stored as parts and rebuilt as it was', () => {
  const contract = companyContract({
    unknown_members: 'refuse',
    examples: [{ payload: { 'e\u0301': ['é', null, -0.5] } }],
  })
  const parts = JSON.parse(JSON.stringify(toContractEntries(contract))) as Record<string, unknown>[]
  expect(fromContractEntries(parts.toReversed())).toEqual(contract)
})
