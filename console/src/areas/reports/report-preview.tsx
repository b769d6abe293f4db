/** The HTML file of a report in a frame in which nothing runs. Each preview is recorded as a read of the report. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ReadDialog } from '#console/ui/dialog.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { isGone, type Report, readContent } from './report-queries.ts'

/** Nothing where the report has no HTML file. */
export function PreviewButton({ report, name }: { readonly report: Report; readonly name: string }) {
  const { report_id, files } = report
  const [page, setPage] = useState<string | null>(null)
  const show = useApiMutation(async () => (await readContent(report_id, 'html')).text(), {
    invalidates: [],
    onDone: setPage,
  })
  if (isGone(report) || !files.some(({ format }) => format === 'html')) return null
  return (
    <>
      <Button
        size="xs"
        variant="default"
        loading={show.isRunning}
        aria-label={`Preview ${name}`}
        onClick={() => show.run(undefined)}
      >
        Preview
      </Button>
      <ProblemNote problem={show.problem} />
      {page !== null && (
        <ReadDialog title={`Preview: ${name}`} onClose={() => setPage(null)} size="xl">
          <iframe title="Preview of the report" sandbox="" srcDoc={page} className="report-preview" />
        </ReadDialog>
      )}
    </>
  )
}
