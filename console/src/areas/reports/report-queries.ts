/** Reports as the API returns them, their templates, and their files. */
import type { Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { readFile } from '#console/ui/read-file.ts'

export type Report = Schemas['Report']
export type ReportTemplate = Schemas['ReportTemplate']
export type ReportSchedule = Schemas['ReportSchedule']
export type ReportFormat = Report['formats'][number]

export const reportFormats = ['html', 'pdf', 'csv', 'json'] as const
export const reportStates = ['collecting', 'rendering', 'ready', 'failed', 'deleted', 'erased'] as const

export const isBeingMade = ({ state }: Pick<Report, 'state'>): boolean =>
  state === 'collecting' || state === 'rendering'
export const isGone = ({ state }: Pick<Report, 'state'>): boolean => state === 'deleted' || state === 'erased'

export const reportQuery = (report_id: string) =>
  queryOptions({
    queryKey: ['reports', 'one', report_id],
    queryFn: ({ signal }) => probity.GET('/api/reports/{report_id}', { params: { path: { report_id } }, signal }),
    refetchInterval: ({ state: { data } }) => (data && isBeingMade(data) ? 1000 : false),
  })

export const templatesQuery = queryOptions({
  queryKey: ['reports', 'templates'],
  queryFn: ({ signal }) => probity.GET('/api/reports/templates', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})

/** What this installation can do. */
export const capabilitiesQuery = queryOptions({
  queryKey: ['capabilities'],
  queryFn: ({ signal }) => probity.GET('/api/capabilities', { signal }),
  staleTime: 300_000,
})

export const manifestQuery = (report_id: string) =>
  queryOptions({
    queryKey: ['reports', 'manifest', report_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/reports/{report_id}/manifest', { params: { path: { report_id } }, signal }),
  })

/** Each call is recorded as a read of the report. */
export const readContent = (report_id: string, format: ReportFormat): Promise<Blob> =>
  readFile(
    probity.raw.GET('/api/reports/{report_id}/content', {
      params: { path: { report_id }, query: { format } },
      headers: { accept: '*/*' },
      parseAs: 'blob',
    }),
  )

export const toTemplateTitle = (templates: readonly ReportTemplate[], key: string): string =>
  templates.find((template) => template.key === key)?.title ?? key

/** `/reports/{id}` of the job that makes it. */
export const toReportId = (resource: string | null): string => (resource ?? '').split('/').at(-1) ?? ''
