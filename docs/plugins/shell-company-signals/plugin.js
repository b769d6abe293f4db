// Signals that a company may exist on paper only. Each signal adds to the score; the configuration says how much.

export function factor(inputs, lists, config) {
  const signals = []
  if (inputs.employees === 0) signals.push('NO_EMPLOYEES')
  if (inputs.address_companies >= config.many_companies) signals.push('SHARED_ADDRESS')
  if (inputs.age_months < config.young_months) signals.push('NEWLY_FORMED')

  // A list look-up: null when the list has no entry for the country.
  const country = lists.get('countries', inputs.country)
  if (country === null) signals.push('COUNTRY_UNKNOWN')

  const score = signals.length * config.score_per_signal_bps
  return {
    score_bps: Math.min(score, 10000),
    reason_code: signals.length === 0 ? 'NO_SIGNAL' : signals[0],
    values: { signals },
  }
}
