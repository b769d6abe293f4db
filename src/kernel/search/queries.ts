/** SQL of searching names. Modules join their own rows to what it finds. */

/** One word of a query may match so many words of names at most; the rest is not looked at. */
const MAX_MATCHES_PER_WORD = 5000

/**
 * A common table expression `named (tenant_id, object_id)`: objects of the tenant $1 and shared ones, of kind $2, that have every word
 * of the text $3 or a word that begins with it.
 */
export const namedObjects = `term as (select word from unnest(app.name_words($3)) as u (word)),
  named as (
    select h.tenant_id, h.object_id
      from (select t.word, w.tenant_id, w.object_id
              from term t cross join lateral (
                select w.tenant_id, w.object_id from app.name_word w
                 where w.tenant_id in ($1, (select app.system_tenant())) and w.kind = $2
                   and w.word >= t.word and w.word < t.word || U&'\\+10FFFF' limit ${MAX_MATCHES_PER_WORD}) w) h
     group by h.tenant_id, h.object_id having count(distinct h.word) = (select count(*) from term))`
