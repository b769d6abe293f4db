/** The decision document has the same bytes for the same decision and salt, and other bytes otherwise. */
import { expect, test } from 'vitest'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { bindOrThrow, lists, matrix } from '#test/support/example-matrix.ts'
import {
  buildDecisionDocument,
  type DecisionFacts,
  findFormatFault,
  getSalt,
  hashDocument,
  toComparableContent,
} from './document.ts'
import { chooseEngine, engines, getEngine } from './engines.ts'
import { createSalt, isSalt } from './salt.ts'

const inputs = { country: 'NA', turnover: '20000', trades: ['gold', 'arms', 'x'], since: '2024-02-29', pep: true }
const decision = bindOrThrow(matrix).decide(inputs)
if (!decision.ok) throw new Error('the example is decided')
const { outcome, explanation, used } = decision

const salt = createSalt()
const facts: DecisionFacts = {
  family: 'matrix',
  key: 'customer-risk',
  version: 3,
  content_hash: 'c'.repeat(64),
  engine: chooseEngine(matrix),
  inputs,
  valid_at: null,
  lists: [...lists.values()].map((list) => ({ ...list, via: 'shared' })),
  used,
  outcome,
  explanation,
}

test('contains canonical text, its hash and no other members', () => {
  const { text, hash, content } = buildDecisionDocument(facts, salt)
  expect(text).toBe(canonicalJson(JSON.parse(text)))
  expect(JSON.parse(text)).toEqual(content)
  expect(hash).toBe(hashDocument(text))
  expect(hash).toMatch(/^[0-9a-f]{64}$/)
  expect(Object.keys(content.lists[0] ?? {}).sort()).toEqual([
    'content_hash',
    'list_key',
    'overlay_hash',
    'version',
    'via',
  ])
  expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-|T\d\d:\d\d/)
})

test('does not depend on the order of inputs and lists', () => {
  const reversed = { ...facts, lists: [...facts.lists].reverse(), used: [...facts.used].reverse() }
  expect(buildDecisionDocument(Object.fromEntries(Object.entries(reversed).reverse()) as never, salt).text).toBe(
    buildDecisionDocument(facts, salt).text,
  )
})

test.each<[string, Partial<DecisionFacts>]>([
  ['inputs', { inputs: { ...inputs, pep: false } }],
  ['valid_at', { valid_at: '2024-01-01T00:00:00Z' }],
  ['version', { version: 4 }],
  ['content', { content_hash: 'd'.repeat(64) }],
  ['engine', { engine: 2 }],
  ['a list', { lists: facts.lists.map((list, n) => (n === 0 ? { ...list, overlay_hash: 'e'.repeat(64) } : list)) }],
  ['an entry', { used: used.map((entry, n) => (n === 0 ? { ...entry, hash: 'f'.repeat(64) } : entry)) }],
  ['a reason', { explanation: { ...explanation, summary: [] } }],
])('differs for another %s', (_, change) => {
  expect(buildDecisionDocument({ ...facts, ...change }, salt).hash).not.toBe(buildDecisionDocument(facts, salt).hash)
})

test('has another hash with another salt, and comparable content', () => {
  const [one, two] = [buildDecisionDocument(facts, createSalt()), buildDecisionDocument(facts, createSalt())]
  expect(one.hash).not.toBe(two.hash)
  expect(toComparableContent(one.content)).toEqual(toComparableContent(two.content))
  expect(buildDecisionDocument(facts, getSalt(one.content)).text).toBe(one.text)
  expect(one.content).toMatchObject({ format: 'probity-decision/2', evidence: [], plugins: [] })
})

test('is written in format 1 without a salt, and can be compared with format 2', () => {
  const { content, text } = buildDecisionDocument(facts, null)
  expect(JSON.parse(text)).toMatchObject({ format: 'probity-decision/1' })
  expect(Object.keys(JSON.parse(text))).not.toEqual(expect.arrayContaining(['salt']))
  expect(getSalt(content)).toBeNull()
  expect(toComparableContent(content)).toEqual(toComparableContent(buildDecisionDocument(facts, salt).content))
})

test('salts have at least 128 bits and do not repeat across refills of the pool', () => {
  const salts = Array.from({ length: 2000 }, createSalt)
  expect(new Set(salts).size).toBe(salts.length)
  expect(salts.every((each) => isSalt(each) && Buffer.from(each, 'base64url').length >= 16)).toBe(true)
})

test.each([
  [{ format: 'probity-decision/1' }, null],
  [{ format: 'probity-decision/2', salt }, null],
  [{ format: 'probity-decision/2', salt: 'short' }, 'The document has no salt.'],
  [{ format: 'probity-decision/3' }, 'This release does not know documents of the format "probity-decision/3".'],
])('reports formats that cannot be replayed: %j', (document, fault) => {
  expect(findFormatFault(document)).toBe(fault)
})

test('finds every engine by its number', () => {
  for (const [number, { engine }] of engines) expect(engine).toBe(number)
  expect(() => getEngine(0)).toThrow(RangeError)
})
