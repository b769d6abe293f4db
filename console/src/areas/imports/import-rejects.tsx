/** The rejected rows of an import, by what is wrong with them, page by page. */
import { Group, UnstyledButton } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '../../session/client.ts'
import { ListTable, usePages } from '../../ui/list.tsx'
import { RejectRow, rejectHead } from '../../ui/reject-table.tsx'
import { Section } from '../../ui/section.tsx'
import { plural } from '../../ui/words.ts'

type Rejected = Schemas['RejectPage']['items'][number]

export function ImportRejects({ one: { import_id, rejects } }: { readonly one: Schemas['Import'] }) {
  const [code, setCode] = useState<string | null>(null)
  const list = usePages<Rejected>(['imports', 'rejects', import_id, code], (cursor, signal) =>
    probity.GET('/api/reference-data/imports/{import_id}/rejects', {
      params: { path: { import_id }, query: { ...cursor, ...(code !== null && { code }), limit: 50 } },
      signal,
    }),
  )
  const page = list.data?.pages[0] as Schemas['RejectPage'] | undefined
  const byCode = new Map<string, number>()
  for (const { code: one, count } of rejects) byCode.set(one, (byCode.get(one) ?? 0) + count)
  return (
    <Section title={plural(page?.total ?? 0, 'reason for rejection', 'reasons for rejection')}>
      <Group gap={6} mb="sm" role="group" aria-label="By reason">
        {[...byCode].map(([one, count]) => (
          <UnstyledButton
            key={one}
            className="chip mono"
            aria-pressed={code === one}
            onClick={() => setCode(code === one ? null : one)}
          >
            {one} <b>{count.toLocaleString('en')}</b>
          </UnstyledButton>
        ))}
        {page?.truncated && <span className="quiet">Fewer rows are kept than were rejected.</span>}
      </Group>
      <ListTable
        label="Rejected rows"
        list={list}
        empty="None."
        head={rejectHead}
        row={(reject) => <RejectRow key={reject.seq} reject={reject} />}
      />
    </Section>
  )
}
