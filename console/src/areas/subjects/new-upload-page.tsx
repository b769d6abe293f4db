/** Uploads a file of subjects. The format is detected from the file name. */
import { Button, Code, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FileDrop } from '#console/ui/file-drop.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'

type Format = 'csv' | 'ndjson'

const examples: Readonly<Record<Format, string>> = {
  csv: 'external_id,subject_type,name,segment,attributes.residence_country\nC-1,person,Ada Lovelace,retail,DE',
  ndjson: '{"external_id":"C-1","subject_type":"person","name":"Ada Lovelace","attributes":{"residence_country":"DE"}}',
}

export default function NewUploadPage() {
  const navigate = useNavigate()
  const [upload, setUpload] = useState<Schemas['Upload'] | null>(null)
  const [format, setFormat] = useState<Format>('csv')
  const start = useApiMutation(
    () => probity.POST('/api/subjects/bulk', { body: { upload_id: upload?.upload_id ?? '', format } }),
    {
      invalidates: ['subjects', 'jobs'],
      onDone: ({ resource }) => navigate({ to: (resource ?? '').replace('/api/subjects/bulk', '/subjects/upload') }),
    },
  )
  return (
    <Page
      title="Upload subjects"
      about="Each row creates a subject or updates the one with the same external id. Invalid rows are rejected and listed; valid rows are applied."
      trail={
        <PageLink to="/subjects" inherit>
          Subjects
        </PageLink>
      }
      width="text"
    >
      <Stack gap="md">
        <FileDrop
          upload={upload}
          extensions={['.csv', '.ndjson']}
          label="File with one subject per row"
          onFile={({ name }) => setFormat(/\.(ndjson|jsonl)$/i.test(name) ? 'ndjson' : 'csv')}
          onUploaded={setUpload}
        />
        <Section
          title="Row format"
          actions={
            <SegmentedControl
              size="xs"
              aria-label="File format"
              value={format}
              onChange={(chosen) => setFormat(chosen as Format)}
              data={[
                { value: 'csv', label: 'CSV' },
                { value: 'ndjson', label: 'NDJSON' },
              ]}
            />
          }
        >
          <Code block tabIndex={0} role="region" aria-label="Example file">
            {examples[format]}
          </Code>
          <Text size="xs" c="dimmed" mt="xs">
            {format === 'csv'
              ? 'The first line names the columns. Attributes used by matrices and rules are in columns named attributes.…'
              : 'One JSON object per line. Attributes used by matrices and rules are in attributes.'}
          </Text>
        </Section>
        <ProblemNote problem={start.problem} />
        <Group>
          <Button disabled={upload === null} loading={start.isRunning} onClick={() => start.run(undefined)}>
            Upload
          </Button>
        </Group>
      </Stack>
    </Page>
  )
}
