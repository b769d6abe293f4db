/** For tests: one rule. */
import type { Definition } from '#decision/model.ts'

export const rule: Extract<Definition, { family: 'rule' }> = {
  family: 'rule',
  inputs: [
    { name: 'amount', title: 'Amount', type: 'integer', minimum: 0 },
    { name: 'country', title: 'Country', type: 'string' },
    { name: 'tags', title: 'Tags', type: 'list', values: ['cash', 'wire', 'crypto'] },
  ],
  table: {
    hit_policy: 'first',
    columns: ['amount', 'country', 'tags'],
    outputs: [{ name: 'severity' }, { name: 'weight' }],
    rows: [
      {
        key: 'large',
        when: ['> 10000', '-', '-'],
        then: ['high', 2.5],
        reason: '{amount} is a large amount.',
        reason_code: 'LARGE',
      },
      { key: 'abroad', when: ['> 1000', 'in list(high-risk)', '"cash", "crypto"'], then: ['low', 1.25] },
    ],
  },
  required_actions: ['review'],
  reason_code: 'MOVEMENT',
  reason: 'A movement of {amount} to {country} stands out.',
}
