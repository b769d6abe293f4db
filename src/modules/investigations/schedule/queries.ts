/** SQL of subjects that are due for a case. */
import type { Tx } from '#kernel/database/tx.ts'

/**
 * Active subjects without a case of the playbook in that time, oldest first. The job sees no restricted case: one never keeps a subject from
 * being looked at.
 */
export const listDueSubjects = (
  tx: Tx,
  due: {
    readonly playbook_key: string
    readonly subject_type: string
    readonly segment: string | null
    readonly band: string | null
    readonly every_days: number
    /** Ids of subjects that are left out. */
    readonly except: readonly string[]
  },
  count: number,
) =>
  tx.query<{ subject_id: string }>(
    `select s.subject_id from app.subject s
       left join app.subject_risk r on r.tenant_id = s.tenant_id and r.subject_id = s.subject_id
      where s.tenant_id = $1 and s.state = 'active' and s.subject_type = $2 and ($3::text is null or s.segment = $3)
        and ($4::text is null or case when r.override_until > now() then r.override_band else r.rated_band end = $4)
        and s.created_at < now() - $5::int * interval '1 day'
        and not exists (select 1 from app.investigation i where i.tenant_id = s.tenant_id and i.subject_id = s.subject_id and i.playbook_key = $6
                           and i.state <> 'merged' and (i.state in ('open', 'proposed') or i.created_at > now() - $5::int * interval '1 day'))
        and not s.subject_id = any ($8::uuid[])
      order by s.subject_id limit $7`,
    [tx.tenant_id, due.subject_type, due.segment, due.band, due.every_days, due.playbook_key, count, due.except],
  )
