/** Wire contract of the jobs router. The job itself is described in the kernel, because every router that starts jobs returns it. */
import { jobStates } from '#kernel/job/queries.ts'
import { JobView } from '#kernel/job/schema.ts'
import { closed, Id, integer, oneOf, pageOf, pageQuery, Slug, Type } from '#kernel/schema.ts'

export const JobPage = pageOf(JobView)
export const JobParams = closed({ job_id: Id() })
export const JobListQuery = closed({
  ...pageQuery,
  kind: Type.Optional(Slug()),
  state: Type.Optional(oneOf(jobStates)),
})
export const JobWait = closed({
  wait: Type.Optional(
    integer(0, 8, { default: 0, description: 'Seconds to wait for a change of state before answering.' }),
  ),
})
