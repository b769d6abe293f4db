/** Reads the case again whenever its gathering job reports progress. */
import { isProblem } from '@probity/client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { probity } from '#console/session/client.ts'
import type { Investigation } from './investigation-queries.ts'

export function useFollowedGathering({ investigation_id, gathering, gathering_job_id }: Investigation): void {
  const queries = useQueryClient()
  const job_id = gathering === 'running' ? gathering_job_id : null
  useEffect(() => {
    if (job_id === null) return
    const left = new AbortController()
    const refresh = () => {
      queries.invalidateQueries({ queryKey: ['investigations', 'one', investigation_id] })
      queries.invalidateQueries({ queryKey: ['evidence', 'investigation', investigation_id] })
      // Its skeleton names the evidence.
      queries.invalidateQueries({ queryKey: ['investigations', 'narrative', investigation_id] })
    }
    probity.jobs
      .wait(job_id, { onProgress: refresh, signal: left.signal })
      .then(refresh)
      .catch((error) => {
        // The steps say what failed; after a lost connection the interval of the query goes on.
        if (!isProblem(error) && !left.signal.aborted) throw error
        if (!left.signal.aborted) refresh()
      })
    return () => left.abort()
  }, [queries, investigation_id, job_id])
}
