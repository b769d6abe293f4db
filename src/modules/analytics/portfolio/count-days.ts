/**
 * Counts, for each day, how many subjects are in which band when the day ends. Histories of subjects are added one after the
 * other as changes per day; the running sum over the days gives the counts. Days are numbers from the first counted day.
 */

/** The key under which the rating in force is counted, whichever matrix gave it. */
export const ALL_MATRICES = ''

export interface RatingEvent {
  /** 0 for everything before the first counted day ends. */
  readonly day: number
  /** Null: an override, or the end of one. */
  readonly matrix_key: string | null
  /** Null: an override ended. */
  readonly band: string | null
  /** Of an override: the day in which it expires. */
  readonly until_day: number | null
}

export interface SubjectHistory {
  /** The day in which the relationship ended. */
  readonly offboarded_day: number | null
  /** In order of valid time. */
  readonly events: readonly RatingEvent[]
}

export interface DayCount {
  readonly day: number
  readonly matrix_key: string
  readonly band: string
  readonly subjects: number
}

/** A series of one matrix and band: the change of each day that has one. */
export type SavedChanges = readonly (readonly [
  matrix_key: string,
  band: string,
  changes: (readonly [number, number])[],
])[]

export class DayCounter {
  readonly #days: number
  /** By matrix and band. */
  readonly #changes = new Map<string, Map<string, Map<number, number>>>()

  constructor(days: number, saved: SavedChanges = []) {
    this.#days = days
    for (const [matrix_key, band, changes] of saved) {
      for (const [day, change] of changes) this.#add(matrix_key, band, day, change)
    }
  }

  addSubject(history: SubjectHistory): void {
    let before = new Map<string, string>()
    for (const day of this.#listChangeDays(history)) {
      const after = getBands(history, day)
      for (const [matrix_key, band] of before) {
        if (after.get(matrix_key) !== band) this.#add(matrix_key, band, day, -1)
      }
      for (const [matrix_key, band] of after) {
        if (before.get(matrix_key) !== band) this.#add(matrix_key, band, day, 1)
      }
      before = after
    }
  }

  /** Days on which the bands of the subject may change, in order. */
  #listChangeDays({ offboarded_day, events }: SubjectHistory): number[] {
    const days = events.flatMap(({ day, until_day }) => (until_day === null ? [day] : [day, until_day]))
    if (offboarded_day !== null) days.push(offboarded_day)
    return [...new Set(days)].filter((day) => day >= 0 && day < this.#days).sort((a, b) => a - b)
  }

  #add(matrix_key: string, band: string, day: number, change: number): void {
    const bands = this.#changes.get(matrix_key) ?? new Map<string, Map<number, number>>()
    this.#changes.set(matrix_key, bands)
    const days = bands.get(band) ?? new Map<number, number>()
    bands.set(band, days)
    days.set(day, (days.get(day) ?? 0) + change)
  }

  save(): SavedChanges {
    return [...this.#changes].flatMap(([matrix_key, bands]) =>
      [...bands].map(([band, changes]) => [matrix_key, band, [...changes]] as const),
    )
  }

  /** Bands with at least one subject, of every day. */
  getCounts(): DayCount[] {
    const counts: DayCount[] = []
    for (const [matrix_key, bands] of this.#changes) {
      for (const [band, changes] of bands) {
        let subjects = 0
        for (let day = 0; day < this.#days; day++) {
          subjects += changes.get(day) ?? 0
          if (subjects > 0) counts.push({ day, matrix_key, band, subjects })
        }
      }
    }
    return counts
  }
}

/**
 * The bands of a subject when the day ends: of each matrix that rated it, and of the rating in force. An override in force takes
 * precedence over every rating, until the day in which it expires.
 */
function getBands({ offboarded_day, events }: SubjectHistory, day: number): Map<string, string> {
  const bands = new Map<string, string>()
  if (offboarded_day !== null && offboarded_day <= day) return bands
  let override: RatingEvent | undefined
  for (const event of events) {
    if (event.day > day) break
    if (event.matrix_key === null) override = event
    else if (event.band !== null) bands.set(event.matrix_key, event.band).set(ALL_MATRICES, event.band)
  }
  if (override?.band == null || (override.until_day ?? 0) <= day) return bands
  for (const matrix_key of [...bands.keys(), ALL_MATRICES]) bands.set(matrix_key, override.band)
  return bands
}
