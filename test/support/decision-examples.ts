/** For tests: the example matrix changed, decided, and its faults in short. */

import { engine1 } from '#decision/engine-1/engine.ts'
import type { BoundLists, Decision, Definition, Inputs, MatrixDefinition } from '#decision/model.ts'
import type { buildList } from './bound-lists.ts'
import { lists, matrix } from './example-matrix.ts'

export const inputs: Inputs = {
  country: 'NA',
  turnover: '20000',
  trades: ['gold', 'arms', 'x'],
  since: '2024-02-29',
  pep: true,
}

export type SuccessfulDecision = Extract<Decision, { ok: true }>
export function assertDecided(decision: Decision): SuccessfulDecision {
  if (!decision.ok) throw new Error(JSON.stringify(decision.findings))
  return decision
}
export const listFaults = (decision: Decision) =>
  decision.ok ? [] : decision.findings.map(({ code, pointer }) => `${code} ${pointer}`)
export const listBindFaults = (definition: Definition, to: BoundLists) => {
  const result = engine1.compile(definition).bind(to)
  return 'decide' in result ? [] : result.map(({ code, pointer }) => `${code} ${pointer}`)
}
/** The same lists, one of them replaced. */
export const withList = (list: ReturnType<typeof buildList>): BoundLists => new Map(lists).set(list.list_key, list)
export const changeMatrix = (more: Partial<MatrixDefinition>): Definition => ({ ...matrix, ...more })
