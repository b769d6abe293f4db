/** Small matrices and tables for the tests of the analysis. */

import { analyseDefinition } from '#decision/analysis/analyse.ts'
import { engine1 } from '#decision/engine-1/engine.ts'
import type { BoundLists, DecisionTable, Definition, Factor, Finding, Input } from '#decision/model.ts'
import { lists } from './example-matrix.ts'

export type Matrix = Extract<Definition, { family: 'matrix' }>

export const buildMatrix = (
  inputs: readonly Input[],
  factors: readonly Factor[],
  more: Partial<Matrix> = {},
): Matrix => ({
  family: 'matrix',
  inputs,
  factors,
  aggregation: 'max',
  bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
  triggers: [],
  ...more,
})
export const analyseExample = (definition: Definition, to: BoundLists = lists): Finding[] =>
  analyseDefinition(engine1.compile(definition), to)
export const summarizeFindings = (findings: readonly Finding[]): string[] =>
  findings.map(({ code, pointer }) => `${code} ${pointer}`)
export const age: Input = { name: 'age', title: 'Age', type: 'integer', minimum: 0, maximum: 150 }
export const kind: Input = { name: 'kind', title: 'Kind', type: 'enum', values: ['a', 'b'] }
export const buildTableFactor = (
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  more: Partial<DecisionTable> = {},
): Factor => ({
  key: 'table',
  title: 'Table',
  form: 'table',
  table: {
    hit_policy: 'unique',
    columns,
    outputs: [{ name: 'score_bps' }],
    rows: rows.map((when, n) => ({ key: `r${n}`, when, then: [n * 100] })),
    ...more,
  },
})
