/** One document: what it is, its content, its hashes, and its custody. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { DocumentContent } from '#console/ui/document/document-content.tsx'
import { documentQuery, hasBytes, type StoredDocument } from '#console/ui/document/document-queries.ts'
import { formatSize } from '#console/ui/file-drop.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { SearchButton } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { SubjectName } from '#console/ui/subject-name.tsx'
import { StateBadge, scanTexts } from './document-badges.tsx'
import { DocumentCustody } from './document-custody.tsx'
import { HeldBadge } from './held-badge.tsx'
import { RestrictDocument } from './restrict-document.tsx'

export default function DocumentPage() {
  const { document_id = '' } = useParams({ strict: false }) as { document_id?: string }
  const may = usePermission()
  const { data: document } = useSuspenseQuery(documentQuery(document_id))
  return (
    <Page
      title={document.title ?? `Document ${document_id.slice(-8)}`}
      mark={
        <Group gap="xs">
          <StateBadge of={document} />
          {may('listHolds') && <HeldBadge document_id={document_id} />}
        </Group>
      }
      trail={
        <PageLink to="/documents" inherit>
          Documents
        </PageLink>
      }
      actions={<DocumentActions document={document} />}
      restriction_id={document.restriction_id}
    >
      <Stack gap="md">
        <Section title="Details">
          <DocumentFacts document={document} />
        </Section>
        {hasBytes(document) && may('getDocumentContent') && (
          <Section title="Content">
            <DocumentContent document={document} />
          </Section>
        )}
        {may('listDocumentCustody') && <DocumentCustody document_id={document_id} />}
      </Stack>
    </Page>
  )
}

function DocumentFacts({ document }: { readonly document: StoredDocument }) {
  const { subject_id, sha256, encrypted_sha256, checked_at, ended_at, ended_by, scan_result } = document
  const scan = scanTexts[document.scan_state]
  return (
    <Facts
      of={[
        ['File', document.file_name],
        ['Category', document.category],
        ['Type', document.media_type],
        ['Size', formatSize(document.size_bytes)],
        subject_id !== null && ['Subject', <SubjectName key="subject" subject_id={subject_id} />],
        [
          'Stored',
          <span key="stored">
            <DateTime at={document.created_at} />, by <Principal of={document.created_by} isAlwaysNamed />
          </span>,
        ],
        ['Malware', scan_result === null ? scan : `${scan}: ${scan_result}`],
        sha256 !== null && ['SHA-256', <CopyValue key="sha256" value={sha256} name="the SHA-256 of the file" />],
        encrypted_sha256 !== null && [
          'SHA-256, encrypted',
          <CopyValue key="encrypted" value={encrypted_sha256} name="the SHA-256 of the encrypted bytes" />,
        ],
        checked_at !== null && ['Last compared', <DateTime key="checked" at={checked_at} />],
        ended_at !== null &&
          ended_by !== null && [
            'Gone since',
            <span key="ended">
              <DateTime at={ended_at} />, by <Principal of={ended_by} isAlwaysNamed />
            </span>,
          ],
        document.end_reason !== null && ['Reason', `“${document.end_reason}”`],
      ]}
    />
  )
}

function DocumentActions({ document }: { readonly document: StoredDocument }) {
  const { document_id, state } = document
  const may = usePermission()
  const [isDeleting, deleting] = useDisclosure(false)
  const [isRestricting, restricting] = useDisclosure(false)
  const verify = useApiMutation(
    () => probity.POST('/api/documents/{document_id}/verify', { params: { path: { document_id } } }),
    {
      invalidates: ['documents'],
      successMessage: ({ is_intact }) => (is_intact ? 'The bytes are unaltered' : 'The bytes have changed'),
    },
  )
  const isDeletable = hasBytes(document) || state === 'failed'
  return (
    <>
      <ProblemNote problem={verify.problem} />
      {hasBytes(document) && may('verifyDocument') && (
        <Button variant="default" loading={verify.isRunning} onClick={() => verify.run(undefined)}>
          Verify
        </Button>
      )}
      {hasBytes(document) && may('createHold') && (
        <SearchButton to="/holds" search={{ object_kind: 'document', object_id: document_id }} variant="default">
          Place a hold
        </SearchButton>
      )}
      {document.restriction_id === null && may('imposeDocumentRestriction') && (
        <Button variant="default" onClick={restricting.open}>
          Restrict
        </Button>
      )}
      {isDeletable && may('deleteDocument') && (
        <Button variant="default" onClick={deleting.open}>
          Delete
        </Button>
      )}
      {isDeleting && <DeleteDialog document_id={document_id} onClose={deleting.close} />}
      {isRestricting && <RestrictDocument document_id={document_id} onClose={restricting.close} />}
    </>
  )
}

function DeleteDialog({ document_id, onClose }: { readonly document_id: string; readonly onClose: () => void }) {
  const navigate = useNavigate()
  const [reason, setReason] = useState('')
  const remove = useApiMutation(
    () => probity.DELETE('/api/documents/{document_id}', { params: { path: { document_id }, query: { reason } } }),
    {
      invalidates: ['documents'],
      successMessage: 'Document deleted',
      onDone: () => navigate({ to: '/documents' }),
    },
  )
  return (
    <FormDialog
      title="Delete the document"
      isOpen
      onClose={onClose}
      onSubmit={() => remove.run(undefined)}
      submit="Delete"
      change={remove}
    >
      <Text size="sm">
        The bytes, the title and the file name are removed. The record of the document and its custody stay.
      </Text>
      <ReasonField isFirst value={reason} onChange={setReason} />
    </FormDialog>
  )
}
