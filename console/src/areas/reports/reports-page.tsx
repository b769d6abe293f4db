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
import { omitUndefined } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { NewReport } from './new-report.tsx'
import { ReportAbout } from './report-name.tsx'
import type { ParametersSchema } from './report-parameters.tsx'
import { PreviewButton } from './report-preview.tsx'
import { type Report, type ReportTemplate, reportStates, templatesQuery, toTemplateTitle } from './report-queries.ts'
import { ReportSchedules } from './report-schedules.tsx'
import { VerifiedMark, VerifyButton } from './report-verification.tsx'

/** What a page that leads here has chosen already. */
type ReportSearch = Readonly<Partial<Record<'request' | 'subject_id' | 'investigation_id' | 'restriction_id', string>>>

/** The one that is named; otherwise that of the case, or of its subject. */
function findTemplate(templates: readonly ReportTemplate[], search: ReportSearch): ReportTemplate | undefined {
  const takes = (name: keyof ReportSearch) =>
    search[name] === undefined ? undefined : templates.find(({ parameters }) => hasParameter(parameters, name))
  return templates.find(({ key }) => key === search.request) ?? takes('investigation_id') ?? takes('subject_id')
}

const hasParameter = (schema: ReportTemplate['parameters'], name: string): boolean =>
  name in ((schema as ParametersSchema).properties ?? {})

export default function ReportsPage() {
  const may = usePermission()
  const search = useSearch({ strict: false }) as ReportSearch
  const { subject_id, investigation_id, request } = search
  const [isAdding, adding] = useDisclosure(request !== undefined)
  const [isScheduling, scheduling] = useDisclosure(false)
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
      about="Dossiers, explanations and overviews as HTML, PDF, CSV and JSON. Each is made from a stored snapshot and can be reproduced byte for byte."
      actions={add}
    >
      <Stack gap="lg">
        <div>
          <Group gap="xs" mb="sm" align="flex-end">
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
              { name: 'Requested', from: 'sm' },
              { name: 'Verified', from: 'md' },
              { name: 'Actions', isHidden: true, from: 'sm' },
            ]}
            row={(report) => <ReportRow key={report.report_id} report={report} templates={templates} />}
          />
        </div>
        {may('listReportSchedules') && (
          <ReportSchedules
            templates={templates}
            add={
              may('createReportSchedule') && (
                <Button size="xs" variant="default" onClick={scheduling.open}>
                  Schedule a report
                </Button>
              )
            }
          />
        )}
      </Stack>
      {isAdding && (
        <NewReport
          templates={templates}
          onClose={adding.close}
          {...omitUndefined({
            first: findTemplate(templates, search)?.key,
            subject_id,
            investigation_id,
            restriction_id: search.restriction_id,
          })}
        />
      )}
      {isScheduling && <NewReport templates={templates} isRepeated onClose={scheduling.close} />}
    </Page>
  )
}

interface ReportRowProps {
  readonly report: Report
  readonly templates: readonly ReportTemplate[]
}

function ReportRow({ report, templates }: ReportRowProps) {
  const name = toTemplateTitle(templates, report.template_key)
  return (
    <Table.Tr>
      <Table.Td>
        {/* Two links, one above the other: each line is as high as a target has to be. */}
        <PageLink to={`/reports/${report.report_id}`} fw={500} size="sm" lh="24px" display="inline-block">
          {name}
        </PageLink>
        <RestrictionMark restriction_id={report.restriction_id} />
        <Text size="xs" component="div" lh="24px">
          <ReportAbout report={report} />
        </Text>
        {/* The columns that a phone leaves out. */}
        <Group gap="xs" mt={6} hiddenFrom="sm">
          <PreviewButton report={report} name={name} />
          <VerifyButton report={report} name={name} />
          {report.verified_at !== null && <VerifiedMark report={report} />}
        </Group>
      </Table.Td>
      <Table.Td>
        <StateBadge state={report.state} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{report.files.map(({ format }) => format.toUpperCase()).join(', ')}</Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={report.created_at} />
        <Text size="xs" c="dimmed" component="div">
          <Principal of={report.created_by} />
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="md">
        <VerifiedMark report={report} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <PreviewButton report={report} name={name} />
          <VerifyButton report={report} name={name} />
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}
