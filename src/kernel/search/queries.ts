/** SQL of searching names. Modules read the rows of what it finds. */
import type { Tx } from '../database/tx.ts'

/** One word of a query may match so many words of names at most; the rest is not looked at. */
const MAX_MATCHES_PER_WORD = 5000

export interface NamedObjectRow {
  readonly kind: string
  /** The tenant, or the system tenant for a shared object. */
  readonly tenant_id: string
  readonly object_id: string
}

/**
 * Objects of the kinds that have every word of the text, or a word that begins with it: the tenant's own, which come first, and shared
 * ones. At most `count` of each kind.
 */
export const listNamedObjects = (tx: Tx, kinds: readonly string[], text: string, count: number) =>
  tx.query<NamedObjectRow>(
    `with term as materialized (select word from unnest(app.name_words($3)) as u (word)),
     named as (
       select h.kind, h.tenant_id, h.object_id, row_number() over (partition by h.kind order by h.tenant_id = $1 desc, h.object_id) as place
         from (select k.kind, t.word, w.tenant_id, w.object_id
                 from unnest($2::text[]) as k (kind) cross join term t cross join lateral (
                   select w.tenant_id, w.object_id from app.name_word w
                    where w.tenant_id in ($1, (select app.system_tenant())) and w.kind = k.kind
                      and w.word >= t.word and w.word < t.word || U&'\\+10FFFF' limit ${MAX_MATCHES_PER_WORD}) w) h
        group by h.kind, h.tenant_id, h.object_id having count(distinct h.word) = (select count(*) from term))
     select kind, tenant_id, object_id from named where place <= $4 order by kind, place`,
    [tx.tenant_id, kinds, text, count],
  )
