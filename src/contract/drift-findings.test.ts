import { expect, test } from 'vitest'
import { createWindows, every, seededDrifts, setMember } from '#test/support/drift-samples.ts'
import { createSampleRecord } from '#test/support/sample-payloads.ts'
import { findDrift } from './drift-findings.ts'
import { estimateDistinct, PayloadSketch } from './sketch.ts'

const WINDOW = 400
const { random, add, collect } = createWindows(2026)
const baseline = collect(WINDOW)

test.for(seededDrifts)('finds %s at %s within one window', ([kind, pointer, item, change]) => {
  const findings = findDrift(baseline, collect(WINDOW, change))
  expect(findings.map((finding) => [finding.kind, finding.pointer, finding.item])).toEqual([[kind, pointer, item]])
})

test('finds a falling share of nulls', () => {
  const nulls = collect(WINDOW, setMember('parent', null, every(2)))
  expect(findDrift(nulls, baseline).map(({ kind, pointer }) => [kind, pointer])).toEqual([
    ['null_share_down', '/parent'],
  ])
})

test('names the first payload that shows it', () => {
  const changed = collect(
    WINDOW,
    setMember('status', 'liquidated', (index) => index >= 300),
  )
  expect(findDrift(baseline, changed)[0]?.first_payload_id).toBe('payload-0300')
})

test('finds nothing in 50 windows of the same distribution', () => {
  for (let window = 0; window < 50; window++) expect(findDrift(baseline, collect(100))).toEqual([])
})

test('keeps no value of personal or undeclared members', () => {
  const sketch = collect(50, setMember('vat_number', 'SECRET-VAT'))
  expect(JSON.stringify(sketch)).not.toMatch(/SECRET-VAT|Person \d|@example/)
  const email = sketch.pointers.find(({ pointer }) => pointer === '/officers/*/email')
  expect(email).toMatchObject({ personal: true, top: null, registers: null, records: 50 })
})

test('continues an earlier sketch, and estimates distinct values', () => {
  const records = Array.from({ length: 400 }, () => createSampleRecord(random))
  const addRange = (sketch: PayloadSketch, from: number, to: number) => {
    records.slice(from, to).forEach((record, index) => {
      add(sketch, record, `p${from + index}`)
    })
    return sketch
  }
  const whole = addRange(new PayloadSketch(), 0, 400).toSummary()
  const half = addRange(new PayloadSketch(), 0, 200).toSummary()
  const halves = addRange(new PayloadSketch(JSON.parse(JSON.stringify(half))), 200, 400)
  const simple = ({ pointers }: typeof whole) => pointers.map(({ top: _, ...rest }) => rest)
  expect(simple(halves.toSummary())).toEqual(simple(whole))
  const ids = whole.pointers.find(({ pointer }) => pointer === '/id') as (typeof whole.pointers)[number]
  expect(Math.abs((estimateDistinct(ids) as number) - 400)).toBeLessThan(80)
})
