/** Previews the erasure of a subject by class, and requests it. */
import { Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { isProblem } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { useSetFilter } from '#console/ui/filters.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { Section } from '#console/ui/section.tsx'
import { SubjectPicker } from '#console/ui/subject-picker.tsx'
import { ErasureClasses } from './erasure-classes.tsx'

export default function NewErasurePage() {
  const may = usePermission()
  const set = useSetFilter()
  const [isAsking, asking] = useDisclosure(false)
  // The id of the subject, never its name: addresses stay in the history of the browser.
  const { subject } = useSearch({ strict: false }) as { subject?: string }
  const subject_id = subject ?? null
  const { data: preview, error } = useQuery({
    queryKey: ['erasures', 'preview', subject_id],
    queryFn: ({ signal }) =>
      probity.POST('/api/subjects/{subject_id}/erasure-preview', {
        params: { path: { subject_id: subject_id ?? '' } },
        signal,
      }),
    enabled: subject_id !== null,
    throwOnError: false,
  })
  return (
    <Page
      title="Preview an erasure"
      about="A preview erases nothing."
      trail={
        <PageLink to="/erasures" inherit>
          Erasures
        </PageLink>
      }
      width="text"
    >
      <Stack gap="md">
        <SubjectPicker label="Subject" subject_id={subject_id} onChange={(id) => set('subject', id)} />
        <ProblemNote problem={isProblem(error) ? error : null} />
        {preview && (
          <Section
            title="What would be erased"
            actions={
              may('createErasure') &&
              preview.can_erase && (
                <Button size="xs" color="red" onClick={asking.open}>
                  Request the erasure
                </Button>
              )
            }
          >
            <ErasureClasses preview={preview} />
          </Section>
        )}
      </Stack>
      {isAsking && subject_id !== null && <RequestDialog subject_id={subject_id} onClose={asking.close} />}
    </Page>
  )
}

function RequestDialog({ subject_id, onClose }: { readonly subject_id: string; readonly onClose: () => void }) {
  const navigate = useNavigate()
  const [reason, setReason] = useState('')
  const request = useApiMutation(
    () => probity.POST('/api/subjects/{subject_id}/erase', { params: { path: { subject_id } }, body: { reason } }),
    {
      invalidates: ['erasures'],
      successMessage: 'Requested: another person must confirm',
      onDone: ({ erasure_id }) => navigate({ to: `/erasures/${erasure_id}` }),
    },
  )
  return (
    <FormDialog
      title="Request the erasure"
      isOpen
      onClose={onClose}
      onSubmit={() => request.run(undefined)}
      submit="Request"
      change={request}
    >
      <Text size="sm">Nothing is erased until another person confirms. After that it cannot be undone.</Text>
      <ReasonField isFirst value={reason} onChange={setReason} />
    </FormDialog>
  )
}
