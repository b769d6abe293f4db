/** One report: its files with preview and download, what it was made with, and its verification. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { SubjectName } from '#console/ui/subject-name.tsx'
import { ReportFiles } from './report-files.tsx'
import { ReportAbout } from './report-name.tsx'
import {
  isBeingMade,
  isGone,
  manifestQuery,
  type Report,
  reportQuery,
  templatesQuery,
  toTemplateTitle,
} from './report-queries.ts'
import { ReportVerification } from './report-verification.tsx'

export default function ReportPage() {
  const { report_id = '' } = useParams({ strict: false }) as { report_id?: string }
  const { data: report } = useSuspenseQuery(reportQuery(report_id))
  const {
    data: { items: templates },
  } = useSuspenseQuery(templatesQuery)
  const [isDeleting, deleting] = useDisclosure(false)
  const may = usePermission()
  const canDelete = may('deleteReport') && !isGone(report) && !isBeingMade(report)
  return (
    <Page
      title={toTemplateTitle(templates, report.template_key)}
      about={<ReportAbout report={report} />}
      mark={<StateBadge state={report.state} />}
      trail={
        <PageLink to="/reports" inherit>
          Reports
        </PageLink>
      }
      actions={
        canDelete && (
          <Button variant="default" onClick={deleting.open}>
            Delete
          </Button>
        )
      }
      restriction_id={report.restriction_id}
    >
      <Stack gap="md">
        {report.failure !== null && (
          <Alert color="red" title="The report is not complete" role="alert">
            {report.failure}
          </Alert>
        )}
        {isBeingMade(report) && (
          <Alert color="blue" title="The report is being made" role="status">
            Its files appear here as they are ready.
          </Alert>
        )}
        <ReportFiles report={report} name={toTemplateTitle(templates, report.template_key)} />
        {report.snapshot_sha256 !== null && !isGone(report) && <ReportVerification report={report} />}
        <Section title="Details">
          <ReportFacts report={report} />
        </Section>
        {report.snapshot_sha256 !== null && <ReportManifest report_id={report_id} />}
      </Stack>
      {isDeleting && <DeleteDialog report_id={report_id} onClose={deleting.close} />}
    </Page>
  )
}

function ReportFacts({ report }: { readonly report: Report }) {
  const { subject_id, snapshot_sha256, ended_at, ended_by } = report
  return (
    <Facts
      of={[
        [
          'Requested',
          <span key="requested">
            <DateTime at={report.created_at} />, by <Principal of={report.created_by} isAlwaysNamed />
          </span>,
        ],
        subject_id !== null && ['Subject', <SubjectName key="subject" subject_id={subject_id} />],
        ['Locale and time zone', `${report.locale}, ${report.time_zone}`],
        snapshot_sha256 !== null && [
          'SHA-256 of the snapshot',
          <CopyValue key="snapshot" value={snapshot_sha256} name="the SHA-256 of the snapshot" />,
        ],
        ended_at !== null &&
          ended_by !== null && [
            'Gone since',
            <span key="ended">
              <DateTime at={ended_at} />, by <Principal of={ended_by} isAlwaysNamed />
            </span>,
          ],
        report.end_reason !== null && ['Reason', `“${report.end_reason}”`],
      ]}
    />
  )
}

function ReportManifest({ report_id }: { readonly report_id: string }) {
  const { data: manifest } = useQuery(manifestQuery(report_id))
  if (!manifest) return null
  const { engine, fonts, template, list_versions, receipts, renderer } = manifest
  return (
    <Section title="Made with">
      <Facts
        of={[
          ['Template', `${template.key}, version ${template.version}`],
          [
            'Engine',
            engine === null ? `renderer ${renderer}` : `${engine.name} ${engine.version}, renderer ${renderer}`,
          ],
          fonts.length > 0 && ['Fonts', fonts.map(({ file }) => file).join(', ')],
          [
            'List versions',
            list_versions.map(({ list_key, version }) => `${list_key} ${version}`).join(', ') || 'none',
          ],
          ['Receipts of decisions', String(receipts.length)],
        ]}
      />
    </Section>
  )
}

function DeleteDialog({ report_id, onClose }: { readonly report_id: string; readonly onClose: () => void }) {
  const navigate = useNavigate()
  const [reason, setReason] = useState('')
  const remove = useApiMutation(
    () => probity.DELETE('/api/reports/{report_id}', { params: { path: { report_id }, query: { reason } } }),
    { invalidates: ['reports'], successMessage: 'Report deleted', onDone: () => navigate({ to: '/reports' }) },
  )
  return (
    <FormDialog
      title="Delete the report"
      isOpen
      onClose={onClose}
      onSubmit={() => remove.run(undefined)}
      submit="Delete"
      change={remove}
    >
      <Text size="sm">Snapshot and files are removed. The record of the report, its manifest and its hashes stay.</Text>
      <ReasonField isFirst value={reason} onChange={setReason} />
    </FormDialog>
  )
}
