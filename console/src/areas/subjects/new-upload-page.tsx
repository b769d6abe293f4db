/** Uploads a file of subjects. The format is detected from the file name. */
import { Button, Code, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { useDeclaredInputs } from '#console/ui/decision/subject-matrices.ts'
import { FileDrop } from '#console/ui/file-drop.tsx'
import { toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { readColumns, sortColumns } from './file-columns.ts'

type Format = 'csv' | 'ndjson'

/** Enough for the names of all columns. */
const MAX_HEAD_BYTES = 65_536

const examples: Readonly<Record<Format, string>> = {
  csv: 'external_id,subject_type,name,segment,residence_country\nC-1,person,Ada Lovelace,retail,DE',
  ndjson: '{"external_id":"C-1","subject_type":"person","name":"Ada Lovelace","attributes":{"residence_country":"DE"}}',
}

export default function NewUploadPage() {
  const navigate = useNavigate()
  const [upload, setUpload] = useState<Schemas['Upload'] | null>(null)
  const [format, setFormat] = useState<Format>('csv')
  const [columns, setColumns] = useState<readonly string[]>([])
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
          onFile={async (file) => {
            setFormat(/\.(ndjson|jsonl)$/i.test(file.name) ? 'ndjson' : 'csv')
            setColumns(readColumns(await file.slice(0, MAX_HEAD_BYTES).text()))
          }}
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
              ? 'The first line names the columns. Every other column is an attribute for matrices and rules, named as their input, as in a file for a batch; attributes.residence_country is read as well.'
              : 'One JSON object per line. Attributes used by matrices and rules are in attributes.'}
          </Text>
        </Section>
        {upload !== null && format === 'csv' && <Columns columns={columns} />}
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

/** How the columns are read, before anything is stored. */
function Columns({ columns }: { readonly columns: readonly string[] }) {
  const { record, attributes, missing } = sortColumns(columns)
  const ofPersons = useDeclaredInputs('person')
  const ofCompanies = useDeclaredInputs('company')
  const declared = ofPersons && ofCompanies ? [...ofPersons, ...ofCompanies].map(({ name }) => name) : []
  const unread = declared.length === 0 ? [] : attributes.filter((name) => !declared.includes(name))
  return (
    <Section title="How the columns are read">
      <Facts
        of={[
          ['Record', record.map(toWords).join(', ') || 'none'],
          ['Attributes', attributes.join(', ') || 'none'],
          unread.length > 0 && ['Read by no matrix in force', unread.join(', ')],
        ]}
      />
      {missing.length > 0 && (
        <Text size="sm" c="red" role="alert">
          {`The file has no column ${missing.join(' and no column ')}: every row would be refused.`}
        </Text>
      )}
    </Section>
  )
}
