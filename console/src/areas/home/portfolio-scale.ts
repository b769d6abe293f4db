/** Scales, ticks and outlines of the portfolio chart. */

interface BandCount {
  readonly band: string
  readonly subjects: number
}
interface Day {
  readonly on: string
  readonly bands: readonly BandCount[]
}

/** Round values from 0 up to at least `most`, four or five steps at most, whole numbers only. */
export function pickTicks(most: number): number[] {
  const rough = Math.max(1, most / 4)
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(1, ([1, 2, 5, 10].find((factor) => factor * power >= rough) as number) * power)
  return Array.from({ length: Math.ceil(Math.max(1, most) / step) + 1 }, (_, place) => place * step)
}

/** Evenly spread places of days, the first and the last among them. */
export function pickDateTicks(days: number, most: number): number[] {
  const count = Math.max(2, Math.min(days, most, 7))
  const places = Array.from({ length: count }, (_, place) => Math.round((place * (days - 1)) / (count - 1)))
  return [...new Set(places)]
}

/** At most 13 days for a table, ending with the last. */
export function pickTableDays<D extends Day>(days: readonly D[]): D[] {
  const every = Math.max(1, Math.ceil((days.length - 1) / 12))
  return days.filter((_, place) => (days.length - 1 - place) % every === 0)
}

interface Scale {
  x(place: number): number
  y(count: number): number
}

/** One closed outline for each band, stacked from the first band upwards. */
export function buildAreas(days: readonly Day[], bands: readonly string[], { x, y }: Scale) {
  const below = days.map(() => 0)
  return bands.map((band) => {
    const from = [...below]
    for (const [place, day] of days.entries()) {
      below[place] = (from[place] ?? 0) + (day.bands.find((count) => count.band === band)?.subjects ?? 0)
    }
    const upper = below.map((count, place) => `${round(x(place))} ${round(y(count))}`)
    const lower = from.map((count, place) => `${round(x(place))} ${round(y(count))}`).reverse()
    return { band, path: `M${[...upper, ...lower].join('L')}Z` }
  })
}

const round = (value: number): number => Math.round(value * 10) / 10
