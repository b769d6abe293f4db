/** Scores, limits of bands and weights: whole points of 10,000, as decisions store them. Pure. */

/** The unit that types of lists give to such fields. */
const STORED_UNIT = 'basis points'

export const MAX_POINTS = 10_000

/** 3000 → `3,000`. A contribution to a score may have decimals: 525.04 → `525`. */
export const formatPoints = (points: number): string => points.toLocaleString('en', { maximumFractionDigits: 1 })

export const isPoints = (unit: string | undefined): boolean => unit === STORED_UNIT

export const formatUnit = (unit: string): string => (isPoints(unit) ? `points of ${formatPoints(MAX_POINTS)}` : unit)

/** A value of a field with this unit, or undefined where it is no number of points. */
export const formatValueInPoints = (value: unknown, unit: string | undefined): string | undefined =>
  typeof value === 'number' && isPoints(unit) ? formatPoints(value) : undefined
