/** The thread gives the same results as a direct call; what exceeds its limits is never reported as proved. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { age, buildMatrix, buildTableFactor, kind } from '#test/support/analysis-definitions.ts'
import { buildList } from '#test/support/bound-lists.ts'
import { bindOrThrow, lists, matrix } from '#test/support/example-matrix.ts'
import { engine1 } from '../engine-1/engine.ts'
import type { BoundList, BoundLists, Definition, Factor, Input, Inputs } from '../model.ts'
import { analyseDefinition } from './analyse.ts'
import { buildAnalysisRequest } from './analysis-request.ts'
import { type AnalysisRunner, createAnalysisRunner } from './analysis-runner.ts'
import { DEFINITION, toListName } from './analysis-task.ts'
import { findMinimalChanges, NOT_SEARCHED } from './minimal-changes.ts'
import { estimateCombinations } from './size-estimate.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'analyst-'))
const script = path.join(folder, 'analysis-worker.mjs')
let analyst: AnalysisRunner

beforeAll(() =>
  build({
    entryPoints: [path.join(import.meta.dirname, 'analysis-worker.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  }),
)
afterEach(() => analyst?.close())
afterAll(() => rmSync(folder, { recursive: true }))

const order = (definition: Definition, to: BoundLists = lists) => buildAnalysisRequest(engine1.compile(definition), to)

const numbers = (count: number): Input[] =>
  Array.from({ length: count }, (_, n) => ({ ...age, name: `n${n}`, maximum: 9 }))
const digits = (count: number): Definition => {
  const inputs = numbers(count)
  const rows = Array.from({ length: 10 }, (_, n) => inputs.map(() => `${n}`))
  return buildMatrix(inputs, [
    buildTableFactor(
      inputs.map(({ name }) => name),
      rows,
    ),
  ])
}
const lookup: Factor = {
  key: 'country',
  title: 'Country',
  form: 'lookup',
  list_key: 'jurisdiction-risk',
  inputs: ['country'],
  field: 'score_bps',
  on_missing: 'fail',
}
const country: Input = { name: 'country', title: 'Country', type: 'enum', values: ['DE', 'XX'] }
const large: BoundLists = new Map([
  ...lists,
  ['jurisdiction-risk', { ...(lists.get('jurisdiction-risk') as BoundList), all: null }],
])
const named: Factor = {
  key: 'named',
  title: 'Named',
  form: 'score_map',
  input: 'kind',
  scores: { a: { list_key: 'jurisdiction-risk', key: 'DE', field: 'score_bps' }, b: 0 },
  on_missing: 'fail',
}

describe('analysis', () => {
  test.each<[string, Definition, BoundLists]>([
    ['a sound matrix', matrix, lists],
    [
      'a gap and overlaps',
      buildMatrix(
        [age, kind],
        [
          buildTableFactor(
            ['age', 'kind'],
            [
              ['< 18', '"a"'],
              ['> 17', '-'],
              ['> 90', '"b"'],
            ],
          ),
        ],
      ),
      lists,
    ],
    ['a value that is not on a list', buildMatrix([country], [lookup]), lists],
    ['a list that is not held whole', buildMatrix([country], [lookup]), large],
    ['an entry named of a list that is not held whole', buildMatrix([kind], [named]), large],
    ['a list that does not fit', buildMatrix([country], [{ ...lookup, field: 'country' }]), lists],
    ['more columns than are gone through', digits(13), lists],
    ['a hundred thousand combinations', digits(5), lists],
  ])('%s: gives the same findings as a direct call', async (_name, definition, to) => {
    analyst = createAnalysisRunner({ script })
    const { findings, is_cut_short } = await analyst.analyse(order(definition, to), 'a')
    expect(findings).toEqual(analyseDefinition(engine1.compile(definition), to))
    expect(is_cut_short).toBe(false)
  })
})

const given: Inputs = {
  country: 'DE',
  turnover: '5000.00',
  channel: 'online',
  trades: [],
  since: '2020-01-01',
  pep: false,
}

describe('search for changes', () => {
  test.each([undefined, 'medium', 'unheard-of'])(
    'towards %s: gives the same changes as a direct call',
    async (band) => {
      analyst = createAnalysisRunner({ script })
      const here = findMinimalChanges({ bound: bindOrThrow(matrix), compiled: engine1.compile(matrix), lists }, given, {
        band,
      })
      expect(JSON.stringify(await analyst.search(order(matrix), { inputs: given, band }, 'a'))).toBe(
        JSON.stringify(here),
      )
    },
  )

  test('keeps an absent input absent', async () => {
    analyst = createAnalysisRunner({ script })
    const { since: _, ...fewer } = given
    const here = findMinimalChanges({ bound: bindOrThrow(matrix), compiled: engine1.compile(matrix), lists }, fewer)
    expect(await analyst.search(order(matrix), { inputs: fewer }, 'a')).toEqual(here)
  })
})

describe('attribution', () => {
  const risky = buildList('jurisdiction-risk', { DE: { score_bps: 9000 }, CH: { score_bps: 1000 } })
  const scored = buildMatrix([country], [lookup])
  const doubled = buildMatrix([country], [lookup, { ...lookup, key: 'again' }], { aggregation: 'sum' })

  test('names the list that changes the outcome, and a definition that contributes', async () => {
    analyst = createAnalysisRunner({ script })
    const young = buildAnalysisRequest(engine1.compile(doubled), new Map([['jurisdiction-risk', risky]]))
    const names = [DEFINITION, toListName('jurisdiction-risk')]
    const found = await analyst.attribute({ names, old: order(scored), young, inputs: { country: 'DE' } }, 'a')
    const reported = found.alone.map(({ name, outcome, whole }) => [name, outcome.outcome?.reason_codes, whole])
    expect(reported).toEqual([
      [DEFINITION, [], false],
      [toListName('jurisdiction-risk'), [], false],
    ])
    expect(found).toMatchObject({ joint: [], untried: [] })
  })
})

describe('limits', () => {
  /** Sends the ready message and nothing else. */
  const silent = path.join(folder, 'silent.mjs')
  const hungry = path.join(folder, 'hungry.mjs')
  beforeAll(() => {
    const begin = `import { parentPort } from 'node:worker_threads'; parentPort.postMessage({ op: 'ready' });`
    writeFileSync(silent, `${begin} parentPort.on('message', () => { for (;;); })`)
    writeFileSync(
      hungry,
      `${begin} parentPort.on('message', () => { const kept = []; for (let n = 0; ; n++) kept.push({ n }) })`,
    )
  })

  test('time: reports that the proof took too long', async () => {
    analyst = createAnalysisRunner({ script: silent, time_limit_ms: 50 })
    expect(await analyst.analyse(order(matrix), 'a')).toEqual({
      findings: [
        {
          code: 'not_analysable',
          pointer: '',
          message:
            'This cannot be proved complete: it took longer than 0.05 s. Test fewer inputs together, or smaller lists.',
          severity: 'error',
        },
      ],
      is_cut_short: true,
    })
  })

  test('time of a search and of an attribution: reports what was not tried', async () => {
    analyst = createAnalysisRunner({ script: silent, time_limit_ms: 50 })
    expect(await analyst.search(order(matrix), { inputs: given }, 'a')).toEqual(NOT_SEARCHED)
    const both = { old: order(matrix), young: order(matrix), inputs: given }
    const found = await analyst.attribute({ names: [DEFINITION], ...both }, 'a')
    expect(found).toEqual({ alone: [], joint: [], untried: [DEFINITION] })
  })

  test('memory: reports that the proof needed too much', async () => {
    analyst = createAnalysisRunner({ script: hungry, heap_limit_mib: 16 })
    const { findings, is_cut_short } = await analyst.analyse(order(matrix), 'a')
    expect([findings[0]?.code, is_cut_short]).toEqual(['not_analysable', true])
    expect(findings[0]?.message).toContain('more than 16 MiB of memory')
  })

  test('throws when the thread cannot start', async () => {
    analyst = createAnalysisRunner({ script: path.join(folder, 'missing.mjs') })
    await expect(analyst.analyse(order(matrix), 'a')).rejects.toMatchObject({ reason: 'not_started' })
  })
})

describe('size estimate', () => {
  test('is computed without enumeration and never too small', () => {
    expect(estimateCombinations(digits(1), lists)).toBeLessThan(100)
    expect(estimateCombinations(digits(6), lists)).toBeGreaterThanOrEqual(1_000_000)
    expect(estimateCombinations(buildMatrix([country], [lookup]), lists)).toBeLessThan(100)
    const values = Array.from({ length: 10 }, (_, n) => `v${n}`)
    const items: Input = { name: 'items', title: 'Items', type: 'list', values }
    const each = values.map((value) => [`"${value}"`])
    expect(
      estimateCombinations(buildMatrix([items], [buildTableFactor(['items'], each)]), lists),
    ).toBeGreaterThanOrEqual(2 ** 10)
    const own: Input = { name: 'country', title: 'Country', type: 'string', one_of: { list_key: 'jurisdiction-risk' } }
    expect(estimateCombinations(buildMatrix([own], [lookup]), large)).toBe(Number.POSITIVE_INFINITY)
  })

  test('includes the inputs of a tested score, and sums that may exceed the maximum', () => {
    const [inner] = (digits(4) as { factors: readonly Factor[] }).factors as [Factor]
    const outer = { ...buildTableFactor(['factor.table'], [['< 5'], ['>= 5']]), key: 'outer' }
    const both = buildMatrix(numbers(4), [inner, outer])
    expect(estimateCombinations(both, lists)).toBeGreaterThanOrEqual(20_000)
    const scores = (key: string, input: string, most: number): Factor => ({
      key,
      title: key,
      form: 'score_map',
      input,
      scores: { a: most, b: 0 },
      on_missing: 'fail',
    })
    const kinds = Array.from({ length: 12 }, (_, n): Input => ({ ...kind, name: `k${n}` }))
    const sums = (most: number) =>
      buildMatrix(
        kinds,
        kinds.map(({ name }) => scores(name, name, most)),
        { aggregation: 'sum' },
      )
    expect(estimateCombinations(sums(800), lists)).toBeLessThan(100)
    expect(estimateCombinations(sums(9000), lists)).toBeGreaterThanOrEqual(2 ** 12)
  })
})
