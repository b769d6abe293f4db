// Wrong on purpose: see docs/plugins.md for what "plugin check" says about it.

export function factor(inputs) {
  if (inputs.opened_on === '') return { score_bps: 4000, reason_code: 'UNKNOWN' }
  const age = Date.now() - Date.parse(inputs.opened_on)
  return age < 365 * 24 * 3600 * 1000
    ? { score_bps: 8000, reason_code: 'RECENT' }
    : { score_bps: 1000, reason_code: 'OLD' }
}
