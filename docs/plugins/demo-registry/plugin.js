// The host sends the request and keeps the evidence; this module only says what to ask and what the answer means.

const STATES = { A: 'active', D: 'dissolved', L: 'liquidation' }

export function request(input) {
  return {
    method: 'GET',
    url: `https://registry.example/v1/companies/${input.number}`,
    headers: { accept: 'application/json' },
  }
}

export function parse(response) {
  const { company, seat } = response.body
  const state = STATES[company.status]
  if (state === undefined) throw new Error(`The register answered the unknown status ${company.status}`)
  return { number: company.no, name: company.title, state, country: seat.toUpperCase() }
}
