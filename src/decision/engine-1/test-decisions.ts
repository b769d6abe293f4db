/** For tests: the example matrix changed, decided, and its faults in short. */
import type { Decision, Definition, Inputs, Lists, MatrixDefinition } from '../model.ts'
import { engine1 } from './engine.ts'
import type { listOf } from './test-lists.ts'
import { lists, matrix } from './test-matrix.ts'

export const inputs: Inputs = {
  country: 'NA',
  turnover: '20000',
  trades: ['gold', 'arms', 'x'],
  since: '2024-02-29',
  pep: true,
}

export type Made = Extract<Decision, { ok: true }>
export function made(decision: Decision): Made {
  if (!decision.ok) throw new Error(JSON.stringify(decision.findings))
  return decision
}
export const faults = (decision: Decision) =>
  decision.ok ? [] : decision.findings.map(({ code, pointer }) => `${code} ${pointer}`)
export const bindFaults = (definition: Definition, to: Lists) => {
  const result = engine1.compile(definition).bind(to)
  return 'decide' in result ? [] : result.map(({ code, pointer }) => `${code} ${pointer}`)
}
/** The same lists, one of them replaced. */
export const withList = (list: ReturnType<typeof listOf>): Lists => new Map(lists).set(list.list_key, list)
export const changed = (more: Partial<MatrixDefinition>): Definition => ({ ...matrix, ...more })
