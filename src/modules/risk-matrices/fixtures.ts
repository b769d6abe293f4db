/** Test fixtures of the risk-matrices router: one valid call per operation. */
import { type Fixtures, listReasonedOperations, type TextsInEvents } from '#test/support/operation-fixture.ts'
import { smallMatrix } from '#test/support/small-definitions.ts'
import { buildDefinitionFixtures } from './definition-fixtures.ts'

export const textsInEvents: TextsInEvents = [...listReasonedOperations('RiskMatrix'), 'publishRiskMatrixDraft']

export const fixtures: Fixtures = buildDefinitionFixtures({
  path: '/risk-matrices',
  param: 'matrix_key',
  key: 'retail-risk',
  title: 'Retail customer risk',
  noun: 'RiskMatrix',
  plural: 'RiskMatrices',
  text: smallMatrix,
  // Another country than the one that the overlay of other fixtures changes.
  inputs: { country: 'FR', pep: false },
  expected: { band: 'low' },
  shared: 'customer-risk-person',
})
