/** Definitions as clients send them: a small matrix, a small rule, and a rule the analysis cannot decide on. They use seeded lists. */
/** Two inputs, one factor and one trigger. */
export const smallMatrix = () => ({
  inputs: [
    { name: 'country', title: 'Country', type: 'enum', one_of: { list_key: 'jurisdiction-risk' } },
    { name: 'pep', title: 'Politically exposed', type: 'boolean' },
  ],
  factors: [
    {
      key: 'country',
      title: 'Country',
      form: 'lookup',
      list_key: 'jurisdiction-risk',
      inputs: ['country'],
      field: 'score_bps',
      on_missing: 'fail',
    },
  ],
  aggregation: 'max',
  bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
  triggers: [
    {
      key: 'pep',
      title: 'Politically exposed',
      when: [{ of: 'pep', test: 'true' }],
      floor_band: 'high',
      required_actions: ['enhanced-due-diligence'],
      reason_code: 'RAT_PEP',
      reason: 'The customer is politically exposed.',
    },
  ],
})

export const smallRule = () => ({
  inputs: [
    { name: 'country', title: 'Country', type: 'enum', one_of: { list_key: 'jurisdiction-risk' } },
    { name: 'amount', title: 'Amount', type: 'decimal', scale: 2, minimum: '0', maximum: '1000000' },
  ],
  table: {
    hit_policy: 'first',
    columns: ['country', 'amount'],
    outputs: [{ name: 'severity' }],
    rows: [
      {
        key: 'risky',
        when: ['in list(eu-high-risk-third-countries)', '>= 1000.00'],
        then: ['high'],
        reason: '{amount} with {country}.',
      },
    ],
  },
  required_actions: ['open-alert'],
  reason_code: 'TM_HIGH_RISK_COUNTRY',
  reason: 'Money moves to a country of high risk.',
})

/** A table with too many columns for the analysis to decide whether it is complete. */
export const unprovableRule = () => {
  const columns = Array.from({ length: 14 }, (_, n) => `a${n}`)
  const rows = columns.map((key, n) => ({ key, when: columns.map((_, m) => (m === n ? '> 5' : '-')), then: ['hit'] }))
  return {
    inputs: columns.map((name) => ({ name, title: name, type: 'integer', minimum: 0, maximum: 10 })),
    table: { hit_policy: 'first', columns, outputs: [{ name: 'severity' }], rows },
    reason_code: 'TM_LARGE_CASH',
    reason: 'Large.',
  }
}
