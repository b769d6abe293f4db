/** Compares evidence with the hashes that were stored when it was attached. Each comparison is recorded, so people start it. */
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { formatCount } from '#console/ui/format.ts'
import type { Evidence } from './investigation-queries.ts'

export type CheckResult = Schemas['EvidenceCheck']['result']

export const checkTexts: Readonly<Record<CheckResult, string>> = {
  unchanged: 'Unchanged since it was attached',
  changed: 'Changed since it was attached',
  gone: 'It was deleted or erased, so it cannot be compared',
}

export const checkMarks: Readonly<Record<CheckResult, { readonly text: string; readonly color: string }>> = {
  unchanged: { text: 'verified', color: 'teal' },
  changed: { text: 'changed since', color: 'red' },
  gone: { text: 'gone', color: 'orange' },
}

type Checks = Readonly<Record<string, CheckResult>>

function describe(results: readonly CheckResult[]): string {
  const faulty = results.filter((result) => result !== 'unchanged').length
  if (results.length === 1) return checkTexts[results[0] ?? 'unchanged']
  if (faulty === 0) return `${formatCount(results.length, 'item')} verified, all unchanged`
  return `${formatCount(faulty, 'item')} of ${results.length} changed or gone`
}

export function useEvidenceChecks() {
  const [found, setFound] = useState<Checks>({})
  const verify = useApiMutation(
    async (items: readonly Evidence[]) => {
      const results: CheckResult[] = []
      for (const { evidence_id } of items) {
        const { result } = await probity.POST('/api/evidence/{evidence_id}/verify', {
          params: { path: { evidence_id } },
        })
        results.push(result)
        setFound((before) => ({ ...before, [evidence_id]: result }))
      }
      return { results }
    },
    { invalidates: [], successMessage: ({ results }) => describe(results) },
  )
  return { found, verify: verify.run, isRunning: verify.isRunning, problem: verify.problem }
}
