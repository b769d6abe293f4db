/** A first request for a decision, which succeeds for every tenant as it is. */

export const FIRST_KEYS =
  'The matrix of the examples, customer-risk-person, is there from the start, like customer-risk-company; GET /api/risk-matrices lists ' +
  'all. The example with `inputs` can be sent as it is. The subject of the other one is made up: create one with POST /api/subjects.'

/** What the matrix that every tenant has from the start asks for. */
const inputs = {
  residence_country: 'DE',
  nationalities: ['DE'],
  products: ['salary-account'],
  channel: 'branch',
  annual_turnover: '60000.00',
  years_known: 5,
  source_of_funds: 'salary',
  adverse_media: 'none',
  screening: 'clear',
}

export const FIRST_BODY = {
  summary: 'With inputs, as it is',
  value: { matrix_key: 'customer-risk-person', inputs },
  recorded_summary: 'Of a subject',
}
