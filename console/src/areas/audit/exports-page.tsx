/** Exports of the audit record for a period, created by a job and downloaded as a file that can be verified offline. */
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { keysQuery } from '#console/ui/checkpoint-keys.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { formatSize } from '#console/ui/file-drop.tsx'
import { useSetFilter } from '#console/ui/filters.tsx'
import { formatCount } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { readFile } from '#console/ui/read-file.ts'
import { saveFile, toFileTimestamp } from '#console/ui/save-file.ts'
import { Facts, Section } from '#console/ui/section.tsx'
import { AuditFrame } from './audit-frame.tsx'
import { toQuery } from './event-filters.tsx'
import { RunProgress } from './run-progress.tsx'

type Export = Schemas['AuditExport']

const exportQuery = (export_id: string) =>
  queryOptions({
    queryKey: ['audit', 'export', export_id],
    queryFn: ({ signal }) => probity.GET('/api/audit/exports/{export_id}', { params: { path: { export_id } }, signal }),
  })

export default function ExportsPage() {
  const setRun = useSetFilter()
  const { run } = useSearch({ strict: false }) as { run?: string }
  const [range, setRange] = useState({ from_at: '', until_at: '' })
  const start = useApiMutation(
    ({ from_at, until_at }: typeof range) =>
      probity.POST('/api/audit/exports', {
        body: toQuery({ ...(from_at && { from_at }), ...(until_at && { until_at }) }),
      }),
    { invalidates: [], onDone: ({ resource }) => setRun('run', resource?.split('/').at(-1) ?? null) },
  )
  const field = (name: keyof typeof range) => ({
    type: 'datetime-local',
    value: range[name],
    onChange: (event: { currentTarget: HTMLInputElement }) => setRange({ ...range, [name]: event.currentTarget.value }),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    start.run(range)
  }
  return (
    <AuditFrame>
      <Stack gap="md" maw={820}>
        <Text size="sm">
          An export contains the events of the period with their hashes, the checkpoints and a signed end. Anyone with
          the file and the public key can verify that it is complete and unaltered.
        </Text>
        <form onSubmit={submit}>
          <Group align="flex-end" gap="sm">
            <TextInput label="From (default: first event)" {...field('from_at')} />
            <TextInput label="Until (default: now)" {...field('until_at')} />
            <Button type="submit" loading={start.isRunning}>
              Export
            </Button>
          </Group>
        </form>
        <ProblemNote problem={start.problem} />
        {typeof run === 'string' && <ExportRun key={run} export_id={run} />}
      </Stack>
    </AuditFrame>
  )
}

function ExportRun({ export_id }: { readonly export_id: string }) {
  const queries = useQueryClient()
  const query = exportQuery(export_id)
  const { data: made } = useSuspenseQuery(query)
  return (
    <RunProgress
      job_id={made.job_id}
      doing="Writing the export file."
      onEnd={() => queries.invalidateQueries({ queryKey: query.queryKey })}
    >
      {() => made.content !== null && <ExportFile made={made} />}
    </RunProgress>
  )
}

function ExportFile({ made }: { readonly made: Export }) {
  const { data: keys } = useSuspenseQuery(keysQuery)
  const name = `audit-${toFileTimestamp(made.created_at)}.ndjson`
  const download = useApiMutation(() => readContent(made.export_id), {
    invalidates: [],
    onDone: (content) => saveFile(name, content),
  })
  return (
    <Section
      title="Export file"
      actions={
        <Button loading={download.isRunning} onClick={() => download.run(undefined)}>
          Download
        </Button>
      }
    >
      <Alert color="teal" icon={<Icon name="check" />} role="status" mb="sm">
        The export is ready: {formatCount(made.events ?? 0, 'event')}, {formatSize(made.size_bytes ?? 0)}.
      </Alert>
      <Stack mb="xs">
        <ProblemNote problem={download.problem} />
      </Stack>
      <Facts
        of={[
          ['SHA-256', made.sha256 && <CopyValue value={made.sha256} name="the file hash" />],
          ['Signature key', <CopyValue key="key" value={keys.public_key} name="the public key" />],
          [
            'Verify with',
            <CopyValue
              key="command"
              value={`npx probity verify audit ${name} --key ${keys.public_key}`}
              name="the command"
            />,
          ],
        ]}
      />
    </Section>
  )
}

const readContent = (export_id: string): Promise<Blob> =>
  readFile(
    probity.raw.GET('/api/audit/exports/{export_id}/content', {
      params: { path: { export_id } },
      headers: { accept: 'application/x-ndjson' },
      parseAs: 'blob',
    }),
  )
