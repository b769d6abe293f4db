/** The sample file of the guided start: risk bands of a fictitious bank. Pure. */

export const SAMPLE_LIST = { list_key: 'risk-bands', type_key: 'risk-band', title: 'Risk bands' } as const
export const SAMPLE_FILE_NAME = 'risk-bands.csv'

export interface RiskBand {
  readonly band: string
  readonly title: string
  readonly from_bps: number
  readonly to_bps: number
  readonly review_every_months: number
  readonly due_diligence: string
}

export const sampleBands: readonly RiskBand[] = [
  {
    band: 'low',
    title: 'Low',
    from_bps: 0,
    to_bps: 2999,
    review_every_months: 36,
    due_diligence: 'simplified',
  },
  {
    band: 'medium',
    title: 'Medium',
    from_bps: 3000,
    to_bps: 5499,
    review_every_months: 18,
    due_diligence: 'standard',
  },
  {
    band: 'high',
    title: 'High',
    from_bps: 5500,
    to_bps: 8999,
    review_every_months: 12,
    due_diligence: 'enhanced',
  },
  {
    band: 'prohibited',
    title: 'Prohibited',
    from_bps: 9000,
    to_bps: 10000,
    review_every_months: 1,
    due_diligence: 'refuse',
  },
]

const columns = ['band', 'title', 'from_bps', 'to_bps', 'review_every_months', 'due_diligence'] as const

/** The sample as a CSV file with the field names of its type. */
export const toSampleCsv = (bands: readonly RiskBand[] = sampleBands): string =>
  [columns.join(','), ...bands.map((band) => columns.map((name) => band[name]).join(','))]
    .map((line) => `${line}\r\n`)
    .join('')

/** The two highest scores that a band boundary separates stay whole: each band keeps at least one score. */
export const getThresholdRange = (bands: readonly RiskBand[], band: string): { min: number; max: number } | null => {
  const place = bands.findIndex((one) => one.band === band)
  const below = bands[place - 1]
  const own = bands[place]
  return below && own ? { min: below.from_bps + 1, max: own.to_bps } : null
}

/** Moves the lower boundary of a band, and with it the upper boundary of the band below. */
export function moveThreshold(bands: readonly RiskBand[], band: string, from_bps: number): RiskBand[] {
  const place = bands.findIndex((one) => one.band === band)
  return bands.map((one, at) => {
    if (at === place) return { ...one, from_bps }
    return at === place - 1 ? { ...one, to_bps: from_bps - 1 } : one
  })
}
