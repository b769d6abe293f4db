/** One erasure: request, confirmation by a second person, progress and certificate. */
import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { ConfirmDialog } from '#console/ui/dialog.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { saveJson } from '#console/ui/save-file.ts'
import { Facts, Section } from '#console/ui/section.tsx'
import { useSubjectName } from '#console/ui/subject-name.ts'
import { ErasedRecords } from './erased-records.tsx'
import { ErasureClasses, RetentionWarning } from './erasure-classes.tsx'
import { getErasureName } from './erasure-name.ts'
import { ErasureBadge } from './erasures-page.tsx'

type Erasure = Schemas['Erasure']

export default function ErasurePage() {
  const { erasure_id = '' } = useParams({ strict: false }) as { erasure_id?: string }
  const { data: erasure } = useSuspenseQuery({
    queryKey: ['erasures', 'one', erasure_id],
    queryFn: ({ signal }) => probity.GET('/api/erasures/{erasure_id}', { params: { path: { erasure_id } }, signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'executing' ? 2000 : false),
  })
  return (
    <Page
      title={getErasureName(erasure_id)}
      mark={<ErasureBadge state={erasure.state} />}
      trail={
        <PageLink to="/erasures" inherit>
          Erasures
        </PageLink>
      }
      actions={
        <>
          {erasure.state === 'requested' && <Decision erasure={erasure} />}
          {erasure.state === 'done' && <CertificateButton erasure_id={erasure_id} />}
        </>
      }
      width="text"
    >
      <Stack gap="md">
        <ErasureFacts erasure={erasure} />
        {erasure.state === 'requested' && <CurrentPreview subject_id={erasure.subject_id} />}
        {erasure.state === 'done' && <ErasedRecords erasure_id={erasure_id} />}
      </Stack>
    </Page>
  )
}

function ErasureFacts({ erasure }: { readonly erasure: Erasure }) {
  const may = usePermission()
  const name = useSubjectName(erasure.subject_id)
  const { confirmed_at, confirmed_by, done_at, job_id } = erasure
  return (
    <Section title="Details">
      <Facts
        of={[
          [
            'Subject',
            may('getSubject') ? (
              <PageLink key="subject" to={`/subjects/${erasure.subject_id}`} inherit>
                {/* A name that was read before is no longer shown. */}
                {(erasure.state === 'executing' || erasure.state === 'done' ? undefined : name) ?? 'Open'}
              </PageLink>
            ) : null,
          ],
          ['Subject id', <CopyValue key="id" value={erasure.subject_id} name="the subject id" />],
          erasure.reason !== null && ['Reason', `“${erasure.reason}”`],
          erasure.origin === 'ledger' && ['Origin', 'Repeated after an older state was restored'],
          [
            'Requested',
            <span key="requested">
              <DateTime at={erasure.requested_at} />, by <Principal of={erasure.requested_by} isAlwaysNamed />
            </span>,
          ],
          confirmed_at !== null &&
            confirmed_by !== null && [
              'Confirmed',
              <span key="confirmed">
                <DateTime at={confirmed_at} />, by <Principal of={confirmed_by} isAlwaysNamed />
              </span>,
            ],
          erasure.warnings !== null &&
            erasure.warnings.length > 0 && [
              'Retention',
              erasure.warnings.includes('no_jurisdiction')
                ? 'No period was applied: the tenant named no jurisdiction when it was confirmed'
                : 'No period was applied: the list had none for the jurisdictions when it was confirmed',
            ],
          done_at !== null && ['Done', <DateTime key="done" at={done_at} />],
          job_id !== null &&
            may('getJob') && [
              'Job',
              <PageLink key="job" to={`/jobs/${job_id}`} inherit>
                Open
              </PageLink>,
            ],
        ]}
      />
    </Section>
  )
}

/** As it is now: a hold may have been placed since the request. */
function useCurrentPreview(subject_id: string) {
  const may = usePermission()
  const { data } = useQuery({
    queryKey: ['erasures', 'preview', subject_id],
    queryFn: ({ signal }) =>
      probity.POST('/api/subjects/{subject_id}/erasure-preview', { params: { path: { subject_id } }, signal }),
    enabled: may('previewErasure'),
    throwOnError: false,
  })
  return data
}

function CurrentPreview({ subject_id }: { readonly subject_id: string }) {
  const data = useCurrentPreview(subject_id)
  if (data === undefined) return null
  return (
    <Section title="What would be erased">
      <ErasureClasses preview={data} />
    </Section>
  )
}

function Decision({ erasure: { erasure_id, subject_id, requested_by } }: { readonly erasure: Erasure }) {
  const me = useMe()
  const may = usePermission()
  const [isAsking, asking] = useDisclosure(false)
  const preview = useCurrentPreview(subject_id)
  const name = useSubjectName(subject_id)
  const params = { path: { erasure_id } }
  const confirm = useApiMutation(() => probity.POST('/api/erasures/{erasure_id}/confirm', { params }), {
    invalidates: ['erasures', 'subjects'],
    successMessage: 'Confirmed: the erasure has begun',
    onDone: asking.close,
  })
  const withdraw = useApiMutation(() => probity.POST('/api/erasures/{erasure_id}/withdraw', { params }), {
    invalidates: ['erasures'],
    successMessage: 'Withdrawn',
  })
  if (!may('confirmErasure')) return null
  const isOwn = requested_by === me.principal
  return (
    <>
      {isOwn && (
        <Text size="sm" c="dimmed">
          You requested it, so another person must confirm.
        </Text>
      )}
      <Button variant="default" loading={withdraw.isRunning} onClick={() => withdraw.run(undefined)}>
        Withdraw
      </Button>
      {!isOwn && (
        <Button color="red" onClick={asking.open}>
          Confirm the erasure
        </Button>
      )}
      <ProblemNote problem={withdraw.problem} />
      <ConfirmDialog
        title="Erase for good?"
        isOpen={isAsking}
        onClose={asking.close}
        onConfirm={() => confirm.run(undefined)}
        confirm="Erase"
        change={confirm}
        isDangerous
      >
        <Stack gap="sm">
          {preview !== undefined && <RetentionWarning preview={preview} />}
          <span>
            What is stored about {name === undefined ? 'the subject' : <b>{name}</b>} becomes unreadable, also in
            backups that are restored later. It cannot be undone.
          </span>
        </Stack>
      </ConfirmDialog>
    </>
  )
}

function CertificateButton({ erasure_id }: { readonly erasure_id: string }) {
  const download = useApiMutation(
    () => probity.GET('/api/erasures/{erasure_id}/certificate', { params: { path: { erasure_id } } }),
    {
      invalidates: [],
      onDone: (certificate) => saveJson(`erasure-${erasure_id}.json`, certificate),
    },
  )
  return (
    <>
      <Button loading={download.isRunning} onClick={() => download.run(undefined)}>
        Download the certificate
      </Button>
      <ProblemNote problem={download.problem} />
    </>
  )
}
