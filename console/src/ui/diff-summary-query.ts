/** The summary of a large difference, which a job on the server computes once. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { probity } from '#console/session/client.ts'
import type { OwnedVersion } from './origin.ts'
import { differenceQuery } from './registry-queries.ts'

interface SummaryRequest {
  readonly list_key: string
  readonly from: OwnedVersion
  readonly to: OwnedVersion
  readonly is_counted: boolean
}

/** Starts the summary job of a large difference once, and reloads the summary when it is done. */
export function useDiffSummary({ list_key, from, to, is_counted }: SummaryRequest): void {
  const client = useQueryClient()
  useEffect(() => {
    if (is_counted) return
    const left = new AbortController()
    const count = async () => {
      const job = await probity.POST('/api/reference-data/datasets/{list_key}/diff-summaries', {
        params: { path: { list_key } },
        // The summary between an own and a shared version is always computed with the request.
        body: { origin: to.origin, from: String(from.version), to: String(to.version) },
        signal: left.signal,
      })
      await probity.jobs.wait(job.job_id, { signal: left.signal })
      await client.invalidateQueries({ queryKey: differenceQuery(list_key, from, to).queryKey })
    }
    // Without the summary the page still shows every difference.
    count().catch(() => {})
    return () => left.abort()
  }, [client, list_key, from.version, from.origin, to.version, to.origin, is_counted])
}
