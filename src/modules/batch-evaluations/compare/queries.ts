/** SQL of comparing two batches. Items are matched by subject; the last item of a subject counts. */
import type { Tx } from '#kernel/database/tx.ts'
import type { ItemRow } from '../decide/item-results.ts'

/** Items without a subject or external id cannot be matched. */
const side = (name: string, n: number) =>
  `${name} as (select distinct on (key) coalesce(subject_id::text, external_id_hash, external_id) collate "C" as key, seq, subject_id,
     external_id, state, band, score_bps, hit, inputs, content from app.batch_item
    where tenant_id = $1 and batch_id = $${n} and num_nonnulls(subject_id, external_id_hash, external_id) > 0 order by key, seq desc)`
const sides = `with ${side('a', 2)}, ${side('b', 3)}`
const differs = '(a.state, a.band, a.score_bps, a.hit) is distinct from (b.state, b.band, b.score_bps, b.hit)'

export interface PairTally {
  readonly in_first: boolean
  readonly in_second: boolean
  readonly different: boolean
  readonly from: string | null
  readonly to: string | null
  readonly from_hit: boolean | null
  readonly to_hit: boolean | null
  readonly count: number
}

export const tallyPairs = (tx: Tx, batch_id: string, other_batch_id: string) =>
  tx.query<PairTally>(
    `${sides} select a.key is not null as in_first, b.key is not null as in_second, ${differs} as different,
            a.band as from, b.band as to, a.hit as from_hit, b.hit as to_hit, count(*) as count
       from a full join b on a.key = b.key group by 1, 2, 3, 4, 5, 6, 7`,
    [tx.tenant_id, batch_id, other_batch_id],
  )

export type PairResult = Pick<ItemRow, 'state' | 'band' | 'score_bps' | 'hit'>
type PairSide = PairResult & Pick<ItemRow, 'inputs'>
export interface Pair {
  readonly key: string
  readonly subject_id: string | null
  readonly external_id: string | null
  readonly seq: number
  readonly other_seq: number
  readonly before: PairSide
  readonly after: PairSide
}

/** One side of a pair as it is stored. */
export interface StoredSide extends PairResult {
  readonly seq: number
  readonly subject_id: string | null
  readonly external_id: string | null
  readonly inputs: ItemRow['inputs']
}

export interface StoredPair {
  readonly key: string
  readonly before: StoredSide
  readonly before_content: Buffer | null
  readonly after: StoredSide
  readonly after_content: Buffer | null
}

const half = (name: string) =>
  `jsonb_build_object('seq', ${name}.seq, 'subject_id', ${name}.subject_id, 'external_id', ${name}.external_id, 'state', ${name}.state,
     'band', ${name}.band, 'score_bps', ${name}.score_bps, 'hit', ${name}.hit, 'inputs', ${name}.inputs)`

export type BatchPair = readonly [batch_id: string, other_batch_id: string]

/** Matched items whose outcomes differ. */
export const listPairs = (tx: Tx, [batch_id, other_batch_id]: BatchPair, after: string | null, count: number) =>
  tx.query<StoredPair>(
    `${sides} select a.key, ${half('a')} as before, a.content as before_content, ${half('b')} as after, b.content as after_content
       from a join b on a.key = b.key where ${differs} and ($4::text is null or a.key > $4) order by a.key limit $5`,
    [tx.tenant_id, batch_id, other_batch_id, after, count],
  )
