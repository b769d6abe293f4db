/** The files of a report: hash, download and preview. */
import { Box, Button, Group, Table, Text } from '@mantine/core'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { formatSize } from '#console/ui/file-drop.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { saveFile } from '#console/ui/save-file.ts'
import { Section } from '#console/ui/section.tsx'
import { PreviewButton } from './report-preview.tsx'
import { isGone, type Report, type ReportFormat, readContent } from './report-queries.ts'

interface ReportFilesProps {
  readonly report: Report
  /** The title of its template. */
  readonly name: string
}

export function ReportFiles({ report, name }: ReportFilesProps) {
  const { report_id, template_key, files } = report
  const download = useApiMutation(
    async (format: ReportFormat) => ({ format, content: await readContent(report_id, format) }),
    {
      invalidates: [],
      onDone: ({ format, content }) => saveFile(`${template_key}-${report_id}.${format}`, content),
    },
  )
  const isReadable = !isGone(report)
  return (
    <Section title="Files">
      <Text size="sm" c="dimmed" mb="sm">
        {isReadable ? 'Every preview and download is recorded.' : 'The content is gone; the hashes stay.'}
      </Text>
      {isReadable && report.state === 'ready' && !report.formats.includes('html') && (
        <Text size="sm" c="dimmed" mb="sm">
          There is no preview: it shows the HTML file, and this report was requested without one.
        </Text>
      )}
      <PlainTable
        label="Files of the report"
        empty={{ title: 'No files yet', about: 'They appear here as they are made.' }}
        head={[
          { name: 'Format' },
          { name: 'Size', from: 'sm' },
          { name: 'SHA-256', from: 'sm' },
          { name: 'Actions', isHidden: true },
        ]}
      >
        {files.map(({ format, sha256, size_bytes }) => (
          <Table.Tr key={format}>
            <Table.Td>
              <Text size="sm">{format.toUpperCase()}</Text>
              {/* The columns that a narrow screen leaves out. */}
              <Box hiddenFrom="sm" className="report-file-facts">
                <Text size="xs" c="dimmed">
                  {formatSize(size_bytes)}
                </Text>
                <FileHash format={format} sha256={sha256} />
              </Box>
            </Table.Td>
            <Table.Td visibleFrom="sm">{formatSize(size_bytes)}</Table.Td>
            <Table.Td visibleFrom="sm">
              <FileHash format={format} sha256={sha256} />
            </Table.Td>
            <Table.Td>
              {isReadable && (
                <Group gap="xs" justify="flex-end">
                  {format === 'html' && <PreviewButton report={report} name={name} />}
                  <Button
                    size="xs"
                    variant="default"
                    loading={download.isRunning}
                    aria-label={`Download ${format.toUpperCase()}`}
                    onClick={() => download.run(format)}
                  >
                    Download
                  </Button>
                </Group>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
      <ProblemNote problem={download.problem} />
    </Section>
  )
}

const FileHash = ({ format, sha256 }: Pick<Report['files'][number], 'format' | 'sha256'>) => (
  <CopyValue value={sha256} name={`the SHA-256 of the ${format.toUpperCase()} file`} />
)
