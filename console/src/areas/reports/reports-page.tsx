/** Reports, newest first, and the schedules that make them. */
import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { NewReport } from './new-report.tsx'
import { type Report, type ReportTemplate, reportStates, templatesQuery, toTemplateTitle } from './report-queries.ts'
import { ReportSchedules } from './report-schedules.tsx'

export default function ReportsPage() {
  const may = usePermission()
  const { subject_id, investigation_id, request } = useSearch({ strict: false }) as {
    subject_id?: string
    investigation_id?: string
    request?: string
  }
  const [isAdding, adding] = useDisclosure(request !== undefined)
  const {
    data: { items: templates },
  } = useSuspenseQuery(templatesQuery)
  const state = useFilter('state', reportStates)
  const template_key = useFilter(
    'template_key',
    templates.map(({ key }) => key),
  )
  const filters = {
    ...(state !== undefined && { state }),
    ...(template_key !== undefined && { template_key }),
    ...(subject_id !== undefined && { subject_id }),
  }
  const list = usePages<Report>(['reports', 'list', filters], (cursor, signal) =>
    probity.GET('/api/reports', { params: { query: { ...cursor, limit: 50, ...filters } }, signal }),
  )
  const add = may('createReport') && <Button onClick={adding.open}>Request a report</Button>
  return (
    <Page
      title="Reports"
      about="Dossiers, explanations and overviews as HTML, PDF, CSV and JSON. Each is made from a stored snapshot and can be made again, byte for byte."
      actions={add}
    >
      <Stack gap="lg">
        <div>
          <Group gap="xs" mb="sm">
            <Filter name="template_key" label="Kind" values={templates.map(({ key }) => key)} everything="Any kind" />
            <Filter name="state" label="State" values={reportStates} everything="Any state" />
          </Group>
          <ListTable
            label="Reports"
            list={list}
            empty={{
              title: 'No reports',
              about: 'A report that somebody requested, or that a schedule made, appears here.',
              filters: ['state', 'template_key', 'subject_id'],
              action: add,
            }}
            head={[
              { name: 'Report' },
              { name: 'State' },
              { name: 'Formats', from: 'sm' },
              { name: 'SHA-256 of the snapshot', from: 'md' },
              { name: 'Requested by', from: 'md' },
              { name: 'Requested', from: 'sm' },
            ]}
            row={(report) => <ReportRow key={report.report_id} report={report} templates={templates} />}
          />
        </div>
        {may('listReportSchedules') && <ReportSchedules templates={templates} />}
      </Stack>
      {isAdding && (
        <NewReport
          templates={templates}
          onClose={adding.close}
          {...(request !== undefined && { first: request })}
          values={{
            ...(subject_id !== undefined && { subject_id }),
            ...(investigation_id !== undefined && { investigation_id }),
          }}
        />
      )}
    </Page>
  )
}

interface ReportRowProps {
  readonly report: Report
  readonly templates: readonly ReportTemplate[]
}

function ReportRow({ report, templates }: ReportRowProps) {
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to={`/reports/${report.report_id}`} fw={500} size="sm">
          {toTemplateTitle(templates, report.template_key)} {report.report_id.slice(-8)}
        </PageLink>
        <RestrictionMark restriction_id={report.restriction_id} />
      </Table.Td>
      <Table.Td>
        <StateBadge state={report.state} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{report.files.map(({ format }) => format.toUpperCase()).join(', ')}</Table.Td>
      <Table.Td visibleFrom="md">
        <Text span size="xs" className="mono">
          {report.snapshot_sha256?.slice(0, 16) ?? '–'}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Principal of={report.created_by} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={report.created_at} />
      </Table.Td>
    </Table.Tr>
  )
}
