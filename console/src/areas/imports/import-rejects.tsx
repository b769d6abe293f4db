/** The rejected rows of an import, grouped by reason. */
import { Button, Group, UnstyledButton } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { formatCount } from '#console/ui/format.ts'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { readFile } from '#console/ui/read-file.ts'
import { RejectRow, rejectHead } from '#console/ui/reject-table.tsx'
import { saveFile } from '#console/ui/save-file.ts'
import { Section } from '#console/ui/section.tsx'

type Rejected = Schemas['RejectPage']['items'][number]

const REJECTS = '/api/reference-data/imports/{import_id}/rejects'

const readAll = (import_id: string): Promise<Blob> =>
  readFile(
    probity.raw.GET(`${REJECTS}/export`, {
      params: { path: { import_id } },
      headers: { accept: 'application/x-ndjson' },
      parseAs: 'blob',
    }),
  )

export function ImportRejects({ one }: { readonly one: Schemas['Import'] }) {
  const { import_id, list_key, rejects, finished_at } = one
  const [code, setCode] = useState<string | null>(null)
  const list = usePages<Rejected>(['imports', 'rejects', import_id, finished_at, code], (cursor, signal) =>
    probity.GET(REJECTS, {
      params: { path: { import_id }, query: { ...cursor, ...(code !== null && { code }), limit: 50 } },
      signal,
    }),
  )
  const download = useApiMutation(() => readAll(import_id), {
    invalidates: [],
    onDone: (content) => saveFile(`${list_key}-rejects.ndjson`, content),
  })
  const page = list.data?.pages[0] as Schemas['RejectPage'] | undefined
  const byCode = new Map<string, number>()
  for (const { code: kind, count } of rejects) byCode.set(kind, (byCode.get(kind) ?? 0) + count)
  return (
    <Section
      title={formatCount(page?.total ?? 0, 'reason for rejection', 'reasons for rejection')}
      actions={
        finished_at !== null && (
          <Button size="xs" variant="default" loading={download.isRunning} onClick={() => download.run(undefined)}>
            Download rejected rows
          </Button>
        )
      }
    >
      <ProblemNote problem={download.problem} />
      <Group gap={6} mb="sm" role="group" aria-label="Rejections by reason">
        {[...byCode].map(([kind, count]) => (
          <UnstyledButton
            key={kind}
            className="chip mono"
            aria-pressed={code === kind}
            onClick={() => setCode(code === kind ? null : kind)}
          >
            {kind} <b>{count.toLocaleString('en')}</b>
          </UnstyledButton>
        ))}
        {page?.truncated && <span className="quiet">Not all rejected rows are stored.</span>}
      </Group>
      <ListTable
        label="Rejected rows"
        list={list}
        empty={{
          title: 'No rejected rows',
          about: 'Rows that do not fit the type of the list appear here with the reason.',
          filters: ['code'],
        }}
        head={rejectHead}
        row={(reject) => <RejectRow key={reject.seq} reject={reject} />}
      />
    </Section>
  )
}
