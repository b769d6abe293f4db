/** Test fixtures of the rules router: one valid call per operation. */
import { uuidv7 } from '#kernel/uuid.ts'
import { buildDefinitionFixtures } from '#modules/risk-matrices/definition-fixtures.ts'
import { type Fixtures, listReasonedOperations, noInput, type TextsInEvents } from '#test/support/operation-fixture.ts'
import { smallRule } from '#test/support/small-definitions.ts'

const goRulesDocument = {
  nodes: [
    {
      id: 'table',
      type: 'decisionTableNode',
      name: 'Large amount',
      content: {
        hitPolicy: 'first',
        inputs: [{ id: 'i', name: 'Amount', field: 'amount' }],
        outputs: [{ id: 'o', name: 'Severity', field: 'severity' }],
        rules: [{ _id: 'r', i: '>= 1000', o: '"high"' }],
      },
    },
  ],
  edges: [],
}

export const textsInEvents: TextsInEvents = [...listReasonedOperations('Rule'), 'publishRuleDraft']

export const fixtures: Fixtures = {
  ...buildDefinitionFixtures({
    path: '/rules',
    param: 'rule_key',
    key: 'large-payment',
    title: 'Large payment',
    noun: 'Rule',
    plural: 'Rules',
    text: smallRule,
    inputs: { country: 'FR', amount: '5.00' },
    expected: { hit: false },
    shared: 'dormant-account',
  }),
  listRuleFunctions: noInput,
  listTypologies: noInput,
  importRules: () => ({
    body: { format: 'gorules', text: JSON.stringify(goRulesDocument), key_prefix: `imported-${uuidv7().slice(-12)}-` },
  }),
  getRulePerformance: async (t) => {
    const rule_key = `large-amount-${uuidv7().slice(-12)}`
    await t.make('POST /rules', { body: { rule_key, title: 'Performing', definition: smallRule() } })
    return { params: { rule_key }, query: { positive_band: 'high', cost_per_hit: '1000' } }
  },
}
