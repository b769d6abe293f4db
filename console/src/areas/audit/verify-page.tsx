/** Starts a verification of the chain and shows its progress and result. The chosen run is in the page address. */
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { keysQuery } from '#console/ui/checkpoint-keys.ts'
import { useSetFilter } from '#console/ui/filters.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { AuditFrame } from './audit-frame.tsx'
import { Proof } from './proof.tsx'
import { RunProgress } from './run-progress.tsx'
import { Verifications, verificationsKey } from './verifications.tsx'

const verificationQuery = (verification_id: string) =>
  queryOptions({
    queryKey: ['audit', 'verification', verification_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/audit/verifications/{verification_id}', { params: { path: { verification_id } }, signal }),
  })

export default function VerifyPage() {
  const may = usePermission()
  const setRun = useSetFilter()
  const { run } = useSearch({ strict: false }) as { run?: string }
  const start = useApiMutation(() => probity.POST('/api/audit/verify', { body: {} }), {
    invalidates: [],
    onDone: ({ resource }) => setRun('run', resource?.split('/').at(-1) ?? null),
  })
  return (
    <AuditFrame>
      <Stack gap="md">
        <Group justify="space-between" align="flex-start">
          <Text size="sm" maw={640}>
            Verification recomputes the hash chain from the events and checks every authentication code, the end of the
            chain and every signed checkpoint. It finds changes made directly in the database and where they were made.
            It also runs automatically once a day and alerts the operator if it fails.
          </Text>
          {may('createAuditVerification') && (
            <Button loading={start.isRunning} onClick={() => start.run(undefined)}>
              Verify
            </Button>
          )}
        </Group>
        {!may('createAuditVerification') && <Text size="sm">An auditor can start a verification.</Text>}
        <ProblemNote problem={start.problem} />
        {typeof run === 'string' && <VerificationRun key={run} verification_id={run} />}
        <Verifications />
      </Stack>
    </AuditFrame>
  )
}

function VerificationRun({ verification_id }: { readonly verification_id: string }) {
  const queries = useQueryClient()
  const query = verificationQuery(verification_id)
  const { data: verification } = useSuspenseQuery(query)
  return (
    <RunProgress
      job_id={verification.job_id}
      doing="Recomputing all hashes."
      onEnd={() => {
        queries.invalidateQueries({ queryKey: query.queryKey })
        queries.invalidateQueries({ queryKey: verificationsKey })
      }}
    >
      {(job) => <Outcome verification={verification} job={job} />}
    </RunProgress>
  )
}

interface OutcomeProps {
  readonly verification: Schemas['AuditVerification']
  readonly job: Schemas['Job']
}

function Outcome({ verification, job }: OutcomeProps) {
  const { data: keys } = useSuspenseQuery(keysQuery)
  const { report } = verification
  return report && <Proof verification={verification} report={report} job={job} keys={keys} />
}
