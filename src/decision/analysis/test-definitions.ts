/** Small matrices and tables for the tests of the analysis. */
import { engine1 } from '../engine-1/engine.ts'
import { lists } from '../engine-1/test-matrix.ts'
import type { Definition, Factor, Finding, Input, Lists, Table } from '../model.ts'
import { analyse } from './analyse.ts'

export type Matrix = Extract<Definition, { family: 'matrix' }>

export const made = (inputs: readonly Input[], factors: readonly Factor[], more: Partial<Matrix> = {}): Matrix => ({
  family: 'matrix',
  inputs,
  factors,
  aggregation: 'max',
  bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
  triggers: [],
  ...more,
})
export const found = (definition: Definition, to: Lists = lists): Finding[] => analyse(engine1.compile(definition), to)
export const brief = (findings: readonly Finding[]): string[] =>
  findings.map(({ code, pointer }) => `${code} ${pointer}`)
export const age: Input = { name: 'age', title: 'Age', type: 'integer', minimum: 0, maximum: 150 }
export const kind: Input = { name: 'kind', title: 'Kind', type: 'enum', values: ['a', 'b'] }
export const tableOf = (
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  more: Partial<Table> = {},
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
