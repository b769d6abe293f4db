/** What answers say about who did something, where that was a job. */

/** A job that the reader cannot see, or that was removed since. */
export const UNNAMED_JOB = 'job:service'

const NAMES_JOB = '^job:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

/**
 * The actor in a column of `table`, its alias in the query. A job may belong to a case that was restricted since: what it left outside
 * the case names it only to those who see the job.
 */
export const shownActor = (table: string, column: string): string => {
  const actor = `${table}.${column}`
  const id = `case when ${actor} ~ '${NAMES_JOB}' then substr(${actor}, 5)::uuid end`
  // Not `exists`, which may be planned as a scan of all jobs.
  const shown = `(select shown.job_id from app.job shown where shown.tenant_id = ${table}.tenant_id and shown.job_id = ${id})`
  return `case when ${actor} ~ '${NAMES_JOB}' and ${shown} is null then '${UNNAMED_JOB}' else ${actor} end`
}

const job = new RegExp(NAMES_JOB)
/** For what is the same for every reader. */
export const withoutJob = (actor: string): string => (job.test(actor) ? UNNAMED_JOB : actor)
