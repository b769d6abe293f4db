/** Texts of templates: reasons as readers need them, what changed between two ratings, axes of charts, and names of files. */
import { expect, test } from 'vitest'
import type { ReportChart } from '#kernel/report-template.ts'
import { writeParagraph } from '#modules/investigations/index.ts'
import { renderChart } from '../render/chart-svg.ts'
import { describeVerification } from '../render/verification-section.ts'
import { createReportFormat } from '../report-format.ts'
import { toFileName } from '../routes.ts'
import { hashTemplate, type Manifest, type Snapshot } from '../snapshot.ts'
import { decisionExplanation } from './decision-explanation.ts'
import { type ComparedDecision, describeChange } from './dossier/rating-changes.ts'
import { subjectDossier } from './dossier/subject-dossier.ts'
import { showEntryKey, showEntryValue } from './entry-texts.ts'
import { toReadable } from './reason-text.ts'
import { describeBatchOrder } from './requesters.ts'
import { showInput, showValue } from './value-texts.ts'

const format = createReportFormat('en-GB', 'UTC')

test.for([
  ['Residence in DE is rated 1500 by jurisdiction-risk.', 'Residence in DE is rated 15.00% by jurisdiction-risk.'],
  ['Rated 1500 of other things, rated 99.', 'Rated 1500 of other things, rated 99.'],
  [
    'Usual. By the lists: Turnover [100,000.00 (matrix-thresholds v1, a|b)..1,000,000.00 (matrix-thresholds v1, a|c)), Years ≥ 2 (matrix-thresholds v1, a|d).',
    'Usual. Limits of the lists: Turnover from 100,000.00 to below 1,000,000.00, Years ≥ 2.',
  ],
  ['By the lists: Country ≥ 6,000 (risk-bands v2, high).', 'Limits of the lists: Country ≥ 60.00% (high).'],
  ['Amount (5 (t v1, x)..9 (t v1, y)].', 'Amount above 5 to 9.'],
] as const)('a reason is readable: %s', ([reason, readable]) => {
  expect(toReadable(reason, format, [1500])).toBe(readable)
})

const factor = (key: string, contribution_bps: string, read: object = {}) => ({
  ...{ key, title: `Factor ${key}`, contribution_bps, weight_bps: 1000, read: read as Record<string, unknown> },
})
const decision = (more: Partial<ComparedDecision>): ComparedDecision => ({
  ...{ version: 1, score_bps: 100, factors: [], triggers: [], ...more },
})

test('the change of a rating names triggers, factors by size, and the version of the matrix', () => {
  const before = decision({
    factors: [factor('a', '10.0000', { x: ['DE'] }), factor('b', '5.0000'), factor('gone', '1.0000')],
    triggers: [{ key: 'old', title: 'Old trigger' }],
  })
  const after = decision({
    version: 2,
    factors: [factor('b', '5.0000'), factor('a', '7.5000', { x: ['FR'] }), factor('new', '30.0000')],
    triggers: [{ key: 'pep', title: 'Politically exposed' }],
  })
  expect(describeChange(before, after, format, (value) => showValue(value))).toEqual([
    'Trigger now: Politically exposed.',
    'Trigger no longer: Old trigger.',
    'Factors: Factor new +0.30%, a new factor; Factor a −0.03%, was DE, is FR; Factor gone −0.01%, no factor any more.',
    'By matrix version 2 instead of 1.',
  ])
  expect(describeChange(before, before, format, (value) => showValue(value))).toEqual([])
})

test('a line over time has each date once, at its place, and the unit of its texts', () => {
  const days = ['2025-11-23', '2026-08-20', '2026-11-18', '2026-11-18']
  const chart: ReportChart = {
    ...{ kind: 'chart', type: 'line', title: 'Score' },
    labels: days,
    positions: days.map((day, at) => Date.parse(day) / 1000 + at),
    series: [{ title: 'Score', values: [1375, 2425, 2425, 2425], texts: ['13.75%', '24.25%', '24.25%', '24.25%'] }],
    ticks: [
      { value: 0, text: '0%' },
      { value: 2500, text: '25%' },
    ],
  }
  const { svg, alt } = renderChart(chart)
  const labels = [...svg.matchAll(/<text x="(\d+)" y="210"[^>]*>([^<]+)</g)].map(([, x, text]) => [Number(x), text])
  expect(labels).toEqual([
    [50, '2025-11-23'],
    [537, '2026-08-20'],
    [700, '2026-11-18'],
  ])
  expect(alt).toBe('Score. 2025-11-23: 13.75%; 2026-08-20: 24.25%; 2026-11-18: 24.25%; 2026-11-18: 24.25%.')
})

test('a file is named after its template, what it is about in safe characters, and its id', () => {
  const report = { template_key: 'subject-dossier', report_id: '0190d7a0' }
  expect(toFileName(report, 'P-00329', 'pdf')).toBe('subject-dossier-P-00329-0190d7a0.pdf')
  expect(toFileName(report, '../é "x";\r\n', 'csv')).toBe('subject-dossier-x-0190d7a0.csv')
  expect(toFileName(report, 'x'.repeat(500), 'csv')).toHaveLength(15 + 1 + 60 + 1 + 8 + 4)
  expect(toFileName(report, undefined, 'json')).toBe('subject-dossier-0190d7a0.json')
})

test('how to verify states address, commands and receipts; a report of an earlier renderer is described as it was', () => {
  const snapshot = { report_id: 'r1', service_url: 'https://probity.example', created_at: '2026-11-18T05:57:00Z' }
  const decisions = [{ evaluation_id: 'd1', receipt_id: 'c1', receipt_sha256: 'h1' }]
  const manifest: Manifest = {
    ...{ renderer: 3, template: { key: 'subject-dossier', version: 3, sha256: 't1' }, engine: null, fonts: [] },
    ...{ locale: 'en-GB', time_zone: 'UTC', parameters: {}, receipts: ['c1'], decisions, list_versions: [] },
    ...{ snapshot_sha256: 's1', created_at: snapshot.created_at },
  }
  const describe = (renderer: number, service_url: string | null = snapshot.service_url, more: object = {}) =>
    JSON.stringify(
      describeVerification({
        snapshot: { ...snapshot, service_url } as Snapshot,
        manifest: { ...manifest, renderer, ...more },
      }),
    )
  for (const text of [
    'https://probity.example/reports/r1',
    'https://probity.example/api/$@',
    'get reports/r1/verify -X POST',
    'npx probity verify certificate certificate.json --key PUBLIC_KEY',
    '["d1","c1","h1"]',
  ])
    expect(describe(3).replaceAll('\\"', '"')).toContain(text)
  expect(describe(3, null)).toContain('ADDRESS/api/')
  expect(describe(2)).toContain('"title":"Receipts of decisions"')
  expect(describe(2)).not.toMatch(/probity\.example|Commands|d1/)
  expect(describe(3)).not.toContain('Layout SHA-256')
  // Two decisions on the same versions have the same receipt hash, and another hash of their own.
  const two = [
    { ...decisions[0], document_sha256: 'x1' },
    { ...decisions[0], evaluation_id: 'd2', document_sha256: 'x2' },
  ]
  const now = describe(5, null, { decisions: two })
  for (const [id, hash] of Object.entries({ d1: 'x1', d2: 'x2' }))
    expect(now).toContain(
      `["Decision","${id}"],["SHA-256 of the decision document","${hash}"],["Receipt","c1"],["SHA-256 of the receipt","h1"]`,
    )
  expect(now).toContain('it identifies this one decision')
  expect(describe(4, null, { decisions: two })).not.toMatch(/x1|identifies/)
  // Nothing is said of decisions where there are none.
  expect(describe(5, null, { decisions: [] })).not.toMatch(/decision/i)
  expect(describe(4, null, { decisions: [] })).toContain('It rests on no decision that is stored on its own.')
})

test('the hash of a template is its own: another template, version or parameter gives another', () => {
  const hashes = [
    subjectDossier,
    decisionExplanation,
    { ...subjectDossier, version: subjectDossier.version + 1 },
    { ...subjectDossier, parameters: decisionExplanation.parameters },
  ].map(hashTemplate)
  expect(new Set(hashes).size).toBe(4)
})

test.for([
  [
    { list_key: 'l', key: 'm|large', field: 'amount_minor', value: 10_000_000 },
    { title: 'Large from', currency: 'EUR', minor_unit: 2 },
    ['Large from (m|large)', 'amount: 100,000.00 EUR'],
  ],
  [
    { list_key: 'l', key: 'x', field: 'single_below_minor', value: 5 },
    { currency: 'KWD', minor_unit: 3 },
    ['x', 'single below: 0.005 KWD'],
  ],
  [
    { list_key: 'l', key: 'x', field: 'amount_minor', value: 7 },
    { currency: 'JPY', minor_unit: 0 },
    ['x', 'amount: 7 JPY'],
  ],
  [{ list_key: 'l', key: 'x', field: 'amount_minor', value: 7 }, {}, ['x', 'amount minor: 7']],
  [
    { list_key: 'l', key: 'RS', field: 'score_bps', value: 4500 },
    { title: 'Serbia' },
    ['Serbia (RS)', 'score: 45.00%'],
  ],
  [{ list_key: 'l', key: 'RS', field: null, value: false }, {}, ['RS', 'not on the list']],
] as const)('an entry that was read is written for readers: %j', ([entry, text, [key, value]]) => {
  expect([showEntryKey(entry, text), showEntryValue(entry, text, format)]).toEqual([key, value])
})

test('a batch is ordered by a person, a schedule or the service', () => {
  const row = { batch_id: 'b', created_by: 'user:1', schedule_name: 'Nightly', schedule_set_by: 'user:2' }
  const describe = (more: Partial<Omit<typeof row, 'schedule_name'>> & { schedule_name?: string | null }) =>
    describeBatchOrder({ jobs: { 'job:7': 'user:1' }, batches: { b: { ...row, ...more } } }, people, 'b')
  const people = { 'user:1': 'Anna', 'user:2': 'Ben' }
  expect(describe({})).toBe('in a batch ordered by Anna')
  expect(describe({ created_by: 'job:9' })).toBe('in a batch of the schedule “Nightly”, set by Ben')
  expect(describe({ created_by: 'job:7', schedule_name: null })).toBe('in a batch ordered by Anna')
  expect(describe({ created_by: 'job:9', schedule_name: null })).toBe('in a batch ordered by the service')
})

test('a paragraph says that it is an assessment, also where it begins with a label of its own', () => {
  const write = (kind: string, text: string) => writeParagraph({ kind, text })
  expect(write('fact', 'Conclusion: none.')).toBe('Conclusion: none.')
  expect(write('assessment', 'It fits.')).toBe('Assessment: It fits.')
  expect(write('assessment', 'Conclusion: it fits.')).toBe('Conclusion (assessment): it fits.')
})

test.for([
  ['180000.00', { scale: 2, unit: 'EUR' }, '180,000.00 EUR'],
  ['12345678901234567890.5', { scale: 2 }, '12,345,678,901,234,567,890.50'],
  ['about 5', { scale: 2, unit: 'EUR' }, 'about 5'],
  [12, { unit: 'years' }, '12 years'],
  [1979, {}, '1979'],
  [['private-banking', 'own'], { titles: { 'private-banking': 'Private banking' } }, 'Private banking, own'],
  [[], { titles: {} }, 'none'],
  ['private-banking', undefined, 'private-banking'],
] as const)('a value is written for readers: %s', ([value, text, expected]) => {
  expect(showInput(value, text, format)).toBe(expected)
})
