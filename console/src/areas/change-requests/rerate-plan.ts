/** Which customers an approved change rates differently, and how they can be rated again. Pure. */
import type { Schemas } from '@probity/client'

type Result = NonNullable<Schemas['ImpactRun']['result']>
type Sample = Result['samples'][number]

/** What the plan needs of the result of an impact analysis. */
interface ChangedResults {
  readonly transitions: readonly Pick<Result['transitions'][number], 'family' | 'key' | 'from' | 'to' | 'decisions'>[]
  readonly samples: readonly (Pick<Sample, 'family' | 'key' | 'subject_id'> & {
    readonly before: Pick<Sample['before'], 'result'>
    readonly after: Pick<Sample['after'], 'result'>
  })[]
  readonly population: Pick<Result['population'], 'complete'>
}

/** The items of one batch. */
const MAX_ITEMS = 1000

export interface RerateGroup {
  readonly family: 'matrix' | 'rule'
  readonly key: string
  /** All customers whose result changes, also those that the analysis counts without listing. */
  readonly count: number
  /** Null: not all of them are listed, so all customers are rated again. */
  readonly subject_ids: readonly string[] | null
}

/** One group per matrix or rule, the largest first. */
export function planRerating({ transitions, samples, population }: ChangedResults): RerateGroup[] {
  const counts = new Map<string, { family: 'matrix' | 'rule'; key: string; count: number }>()
  for (const { family, key, from, to, decisions } of transitions) {
    if (from === to || decisions === 0) continue
    const id = `${family} ${key}`
    counts.set(id, { family, key, count: (counts.get(id)?.count ?? 0) + decisions })
  }
  return [...counts.values()]
    .map((group) => {
      const listed = samples
        .filter((one) => one.family === group.family && one.key === group.key && one.before.result !== one.after.result)
        .map(({ subject_id }) => subject_id)
      const isWhole = population.complete && listed.length === group.count && listed.length <= MAX_ITEMS
      return { ...group, subject_ids: isWhole ? listed : null }
    })
    .sort((one, other) => other.count - one.count)
}

/** Recognises the batches that were started from a change request. */
export const toRerateNote = (cr_id: string): string => `Re-rating after change request ${cr_id.slice(-8)}`
