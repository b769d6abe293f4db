/**
 * Writes the daily counts by band: every missing day up to yesterday, and days that a decision with an earlier valid time has
 * changed. Subjects are read in chunks; all rows are written in the transaction that ends the job.
 */
import type { Tx } from '#kernel/database/tx.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import { closed } from '#kernel/schema.ts'
import { DayCounter, type SavedChanges } from './count-days.ts'
import { addDays, countDays } from './days.ts'
import {
  findClock,
  findEarliestDay,
  findProgress,
  insertDays,
  type ProgressRow,
  readHistories,
  removeDays,
  saveProgress,
} from './queries.ts'

export const PORTFOLIO_DAYS = 'portfolio-days'

/** Days further back are not counted or corrected. */
export const MAX_DAYS = 400
/** Subjects read at once, and chunks between two checkpoints. */
const defaultSizes = { chunk_subjects: 500, step_chunks: 20 }
/** Longer than a transaction that inserts ratings may take, and than the clocks of two machines differ. */
const OVERLAP_MS = 3_600_000

interface Plan {
  readonly read: ProgressRow | null
  /** Null: all days are up to date. */
  readonly days: { readonly first_day: string; readonly last_day: string } | null
  readonly next_rating: string
}

interface Checkpoint {
  readonly plan: Plan
  readonly after: string
  readonly subjects: number
  readonly changes: SavedChanges
}

const getEarlier = (one: string, two: string | null): string => (two !== null && two < one ? two : one)
const getLater = (one: string, two: string): string => (one < two ? two : one)

/** Ids begin with their time: no rating that was inserted at this instant or later has a smaller id. */
function getFirstRatingId(at: string): string {
  const hex = (Math.floor(Date.parse(at)) - OVERLAP_MS).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

async function planDays(tx: Tx): Promise<Plan> {
  const { now, today } = await findClock(tx)
  const read = (await findProgress(tx)) ?? null
  const next_rating = getFirstRatingId(now)
  const last_day = addDays(today, -1)
  const oldest_day = addDays(today, -MAX_DAYS)
  // Days that nobody asked for in time stay missing beyond the limit.
  const missing = read ? addDays(read.last_day, 1) : oldest_day
  const changed = read ? await findEarliestDay(tx, read.next_rating) : null
  const first_day = getLater(getEarlier(missing, changed), oldest_day)
  return { read, days: first_day <= last_day ? { first_day, last_day } : null, next_rating }
}

export const createPortfolioJob = ({ chunk_subjects, step_chunks } = defaultSizes) =>
  defineJob<ReturnType<typeof closed>, Checkpoint>({
    kind: PORTFOLIO_DAYS,
    every_s: 3600,
    summary:
      'Counts active subjects by risk band at the end of each day, and corrects days that later decisions changed.',
    payload: closed({}),
    resumes: 'checkpoint',
    run: async ({ checkpoint, read, step, finish, signal, log }) => {
      const plan = checkpoint?.plan ?? (await read(planDays))
      const { days } = plan
      const counter = days && new DayCounter(countDays(days.first_day, days.last_day), checkpoint?.changes)
      let after = checkpoint?.after ?? null
      let subjects = checkpoint?.subjects ?? 0
      for (let chunks = 1; days && counter; chunks++) {
        signal.throwIfAborted()
        const chunk = await read((tx) => readHistories(tx, days, after, chunk_subjects))
        for (const history of chunk.histories) counter.addSubject(history)
        subjects += chunk.histories.length
        const next = chunk.after
        if (next === null) break
        after = next
        if (chunks % step_chunks === 0) {
          const saved = { plan, after: next, subjects, changes: counter.save() }
          await step(async () => ({ checkpoint: saved, progress: { done: subjects, unit: 'subjects' } }))
        }
      }
      await finish(async (tx) => {
        const written = await writeDays(tx, plan, counter)
        if (!written) log.info({ ...days }, 'daily counts were written by another run; left as they are')
        return { days: written && days ? countDays(days.first_day, days.last_day) : 0, ...days, subjects }
      })
      return null
    },
  })

/** Replaces the planned days, unless another run has written since they were planned. */
async function writeDays(tx: Tx, { read, days, next_rating }: Plan, counter: DayCounter | null): Promise<boolean> {
  const last_day = days?.last_day ?? read?.last_day
  const first_day = getEarlier(days?.first_day ?? (read?.first_day as string), read?.first_day ?? null)
  if (last_day === undefined) return false
  if (!(await saveProgress(tx, read ?? undefined, { first_day, last_day, next_rating }))) return false
  if (days && counter) {
    await removeDays(tx, days)
    await insertDays(tx, days.first_day, counter.getCounts())
  }
  return true
}
