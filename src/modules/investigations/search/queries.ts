/** SQL of the search of investigations. */
import { eitherInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { IdRange, ReferenceRange } from '#kernel/search/source.ts'
import type { InvestigationRow } from '../queries.ts'

/** The newest cases, whose titles are compared. */
const SEARCHED_TITLES = 2000

export type FoundInvestigation = Pick<
  InvestigationRow,
  'investigation_id' | 'reference' | 'title' | 'state' | 'subject_id' | 'subject_name'
> & { readonly restriction_id: string | null }

const columns = `i.investigation_id, i.reference, i.title, i.state, i.subject_id, s.name as subject_name, ${eitherInForce('i')}`
const withSubject = 'join app.subject s on s.tenant_id = i.tenant_id and s.subject_id = i.subject_id'

interface CaseTerms {
  readonly id: IdRange | null
  readonly reference: ReferenceRange | null
  readonly words: readonly string[]
}

/** Ids and references that begin with what was typed, and every one of the words in the title. */
export const listFoundInvestigations = (tx: Tx, { id, reference, words }: CaseTerms, count: number) =>
  tx.query<FoundInvestigation & { readonly matched: 'id' | 'key' | 'words' }>(
    `select ${columns}, f.matched
       from (select investigation_id, 'id' as matched, 1 as place from app.investigation
              where tenant_id = $1 and investigation_id between $2::uuid and $3::uuid
             union all
             select investigation_id, 'key', 2 from app.investigation where tenant_id = $1 and reference between $4 and $7
             union all
             select t.investigation_id, 'words', 3
               from (select investigation_id, title from app.investigation
                      where tenant_id = $1 and cardinality($6::text[]) > 0 order by investigation_id desc limit ${SEARCHED_TITLES}) t
              where not exists (select 1 from unnest($6::text[]) as w (word) where strpos(lower(t.title), lower(w.word)) = 0)) f
       join app.investigation i on i.tenant_id = $1 and i.investigation_id = f.investigation_id
       ${withSubject}
      order by f.place, i.investigation_id desc limit $5`,
    [tx.tenant_id, id?.from ?? null, id?.to ?? null, reference?.from ?? null, count, words, reference?.to ?? null],
  )

/** Whether there are older cases, whose titles are not compared. */
export const hasMoreTitles = async (tx: Tx): Promise<boolean> =>
  (await tx.find(
    `select 1 as found from app.investigation where tenant_id = $1
      order by investigation_id desc offset ${SEARCHED_TITLES} limit 1`,
    [tx.tenant_id],
  )) !== undefined

/** The newest cases about each of the subjects, in the order of the subjects. */
export const listInvestigationsOfSubjects = (tx: Tx, subject_ids: readonly string[], per_subject: number) =>
  tx.query<FoundInvestigation>(
    `select ${columns}
       from unnest($2::uuid[]) with ordinality as w (subject_id, place)
      cross join lateral (
        select * from app.investigation c where c.tenant_id = $1 and c.subject_id = w.subject_id
         order by c.investigation_id desc limit $3) i
       ${withSubject}
      order by w.place, i.investigation_id desc`,
    [tx.tenant_id, subject_ids, per_subject],
  )
