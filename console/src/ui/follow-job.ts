/** Long-polls a job while it is unfinished and its page is open. */
import { isProblem, type Schemas } from '@probity/client'
import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { probity } from '#console/session/client.ts'

type Job = Schemas['Job']

export const isUnfinished = ({ state }: { readonly state: Job['state'] }): boolean =>
  state === 'queued' || state === 'running'

export const jobQuery = (job_id: string) =>
  queryOptions({
    queryKey: ['jobs', job_id],
    queryFn: ({ signal }) => probity.GET('/api/jobs/{job_id}', { params: { path: { job_id } }, signal }),
    // A fallback if the long-poll below breaks off.
    refetchInterval: ({ state }) => (state.data && isUnfinished(state.data) ? 5000 : false),
  })

/** Long-polls while the job is unfinished and the page is open. */
export function useJobUpdates(job: Job): void {
  const queries = useQueryClient()
  const follows = isUnfinished(job)
  const { job_id } = job
  useEffect(() => {
    if (!follows) return
    const left = new AbortController()
    const onProgress = (next: Job) => queries.setQueryData(jobQuery(job_id).queryKey, next)
    probity.jobs.wait(job_id, { onProgress, signal: left.signal }).catch((error) => {
      // The page already shows how the job ended; after a lost connection the interval above continues.
      if (!isProblem(error) && !left.signal.aborted) throw error
    })
    return () => left.abort()
  }, [queries, job_id, follows])
}
