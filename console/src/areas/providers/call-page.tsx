/** One call: its state, every attempt, what came back and what a person may decide about it. */
import '../../ui/registry.css'
import './providers.css'
import { Alert, Button, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { isUnfinished, jobQuery, useJobUpdates } from '#console/ui/follow-job.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { CallStateBadge, ModeBadge } from '#console/ui/provider/badges.tsx'
import { callQuery } from '#console/ui/provider/provider-queries.ts'
import {
  callStateColors,
  describeCallState,
  describeFault,
  isOpenCall,
  promiseNames,
  promiseTexts,
  sumCosts,
} from '#console/ui/provider/provider-texts.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { SubjectName } from '#console/ui/subject-name.tsx'
import { CallAnswer } from './call-answer.tsx'
import { Attempts } from './call-attempts.tsx'
import { CallRequest } from './call-request.tsx'
import { SettleCall } from './settle-call.tsx'

type Call = Schemas['ProviderCall']

export default function CallPage() {
  const { call_id = '' } = useParams({ strict: false }) as { call_id?: string }
  const { data: call } = useSuspenseQuery(callQuery(call_id))
  const queries = useQueryClient()
  return (
    <Page
      title={call.capability}
      mark={<CallStateBadge state={call.state} source={call.answer?.source ?? null} />}
      about={
        <>
          Asked of{' '}
          <PageLink to={`/providers/${call.provider_key}`} inherit>
            {call.provider_key}
          </PageLink>{' '}
          <RelativeTime at={call.created_at} /> by <Principal of={call.created_by} />.
        </>
      }
      trail={
        <>
          <PageLink to="/providers" inherit>
            Providers
          </PageLink>{' '}
          /{' '}
          <PageLink to="/providers/calls" inherit>
            Calls
          </PageLink>
        </>
      }
      actions={
        isOpenCall(call) && (
          <Button
            variant="default"
            onClick={() => queries.invalidateQueries({ queryKey: callQuery(call_id).queryKey })}
          >
            Refresh
          </Button>
        )
      }
      restriction_id={call.restriction_id}
    >
      <Stack gap="md">
        <StateNote call={call} />
        {isBeingChecked(call) && <CallProgress call={call} />}
        {call.state === 'outcome_unknown' && <SettleCall call={call} />}
        <div className="call-columns">
          <Stack gap="md" miw={0}>
            <CallRequest key={call.call_id} call_id={call.call_id} />
            <Attempts call={call} />
            <CallAnswer call={call} />
          </Stack>
          <CallFacts call={call} />
        </div>
      </Stack>
    </Page>
  )
}

function StateNote({ call }: { readonly call: Call }) {
  if (call.state === 'answered' || call.state === 'outcome_unknown') return null
  return (
    <Alert color={callStateColors[call.state]} role="status">
      <Text size="sm" component="div">
        {describeCallState(call.state, call.answer?.source ?? null)}
        {call.fault !== null && ` ${describeFault(call.fault)}`}
        {isOpenCall(call) && <CallProgress call={call} />}
      </Text>
    </Alert>
  )
}

/** The answer is stored before its contract judges it. */
const isBeingChecked = ({ answer, contract_key, admission_id }: Call): boolean =>
  answer?.result === 'found' && contract_key !== null && admission_id === null

/** Follows the job that makes the call, and reads the call again when the job moves on. */
function CallProgress({ call }: { readonly call: Call }) {
  const may = usePermission()
  const enabled = call.job_id !== null && may('getJob')
  const { data: job } = useQuery({ ...jobQuery(call.job_id ?? ''), enabled, throwOnError: false })
  return job ? <FollowedJob call={call} job={job} /> : null
}

function FollowedJob({ call, job }: { readonly call: Call; readonly job: Schemas['Job'] }) {
  const queries = useQueryClient()
  useJobUpdates(job)
  const { call_id } = call
  // An attempt of the job, or the time it waits for, changes what the page shows.
  const step = `${job.state} ${job.attempts} ${job.run_at}`
  useEffect(() => {
    if (step !== '') queries.invalidateQueries({ queryKey: callQuery(call_id).queryKey })
  }, [queries, call_id, step])
  if (!isUnfinished(job)) return null
  const isDeferred = job.state === 'queued' && job.deferred_since !== null
  return (
    <div>
      {isDeferred ? (
        <>
          Put off until <DateTime at={job.run_at} />; nothing needs to be done.
        </>
      ) : job.state === 'running' ? (
        'Asking the provider now.'
      ) : (
        'Waiting for a free worker.'
      )}
    </div>
  )
}

function CallFacts({ call }: { readonly call: Call }) {
  const may = usePermission()
  return (
    <Section title="Details">
      <Facts
        of={[
          ['About', <SubjectName key="subject" subject_id={call.subject_id} />],
          call.subject_id !== null &&
            may('listEvaluations') && [
              'Decisions',
              <SearchLink key="decisions" to="/evaluations" search={{ subject: call.subject_id }} inherit>
                All about this subject
              </SearchLink>,
            ],
          [
            'Promise',
            <span key="promise" title={promiseTexts[call.promise]}>
              {promiseNames[call.promise]}
            </span>,
          ],
          ['Mode', <ModeBadge key="mode" mode={call.mode} isTest={call.environment === 'test'} />],
          ['Spend', sumCosts(call.attempts_made.map(({ cost }) => cost)) ?? 'nothing'],
          ['Provider version', String(call.provider_version)],
          [
            'Source contract',
            call.contract_key && (
              <PageLink to={`/source-contracts/${call.contract_key}`} inherit>
                {call.contract_key}
              </PageLink>
            ),
          ],
          [
            'Repeats',
            call.repeats_call_id && (
              <PageLink to={`/providers/calls/${call.repeats_call_id}`} inherit>
                an earlier call
              </PageLink>
            ),
          ],
          [
            'Repeated by',
            call.repeated_by_call_id && (
              <PageLink to={`/providers/calls/${call.repeated_by_call_id}`} inherit>
                a later call
              </PageLink>
            ),
          ],
          call.job_id !== null &&
            may('getJob') && [
              'Job',
              <PageLink key="job" to={`/jobs/${call.job_id}`} inherit>
                Open
              </PageLink>,
            ],
          [
            'Request',
            call.request && (
              <span className="mono">
                {call.request.method} {call.request.url}
              </span>
            ),
          ],
          ['Call', <CopyValue key="id" value={call.call_id} name="the call id" />],
        ]}
      />
    </Section>
  )
}
