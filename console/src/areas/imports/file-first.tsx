/** Imports a file into a new list in one flow: file, how it is read, name of the list, import. */

import { Alert, Anchor, Button, Group, SimpleGrid, Stack, Switch, Table, Text, TextInput } from '@mantine/core'
import { isChangeRequest, type RequestBody, type Schemas } from '@probity/client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { toKey } from '#console/ui/format.ts'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { Section } from '#console/ui/section.tsx'
import { saveTypeDraft } from '#console/ui/type-draft.ts'
import { CandidatePreview, type CandidateProps, useIsUnreadable } from './candidate-preview.tsx'
import {
  type Candidate,
  CandidateChoice,
  type Detection,
  DetectionProgress,
  getCandidateId,
  useDetection,
} from './detection.tsx'
import { getImportId } from './import-request.ts'

type Upload = Schemas['Upload']

export function FileFirst({ upload }: { readonly upload: Upload | null }) {
  const [created_type, setCreatedType] = useState<string | null>(null)
  // A created type changes what the file can be read as.
  const { detection, ...progress } = useDetection(upload?.upload_id ?? null, undefined, created_type)
  return (
    <>
      <DetectionProgress {...progress} />
      {upload && detection && (
        <ReadingStep
          key={`${upload.upload_id} ${created_type}`}
          upload={upload}
          detection={detection}
          onTypeCreated={setCreatedType}
        />
      )}
    </>
  )
}

interface ReadingStepProps {
  readonly upload: Upload
  readonly detection: Detection
  readonly onTypeCreated: (type_key: string) => void
}

function ReadingStep({ upload, detection, onTypeCreated }: ReadingStepProps) {
  const [chosen, setChosen] = useState(detection.candidates[0] ? getCandidateId(detection.candidates[0]) : null)
  const candidate = detection.candidates.find((one) => getCandidateId(one) === chosen)
  return (
    <>
      <Section title="2. What the file holds">
        <Stack gap="md">
          <CandidateChoice detection={detection} value={chosen} onChange={setChosen} />
          {candidate && candidate.type_key === null && (
            <InferredType key={chosen} candidate={candidate} onCreated={onTypeCreated} />
          )}
          {candidate?.type_key && (
            <CandidatePreview upload={upload} candidate={candidate} type_key={candidate.type_key} />
          )}
        </Stack>
      </Section>
      {candidate?.type_key && (
        <NewListStep
          key={chosen}
          upload={upload}
          detection={detection}
          candidate={candidate}
          type_key={candidate.type_key}
        />
      )}
    </>
  )
}

type NewType = RequestBody<'post', '/api/reference-data/types'>

/** The type made of the columns, which can be created at once or edited first. */
function InferredType({ candidate, onCreated }: { candidate: Candidate; onCreated: (type_key: string) => void }) {
  const may = usePermission()
  const navigate = useNavigate()
  const definition = candidate.inferred_type as unknown as NewType
  const [name, setName] = useState({ title: definition.title, type_key: definition.type_key })
  const body = { ...definition, ...name }
  const create = useApiMutation(() => probity.POST('/api/reference-data/types', { body }), {
    invalidates: ['types'],
    successMessage: ({ title }) => `${title} created`,
    onDone: (type) => onCreated(type.type_key),
  })
  const faults = faultsByField(create.problem)
  const properties = (definition.schema as { properties?: Record<string, { type?: string }> }).properties ?? {}
  return (
    <Stack gap="sm">
      <Text size="sm">
        No type has these columns. This type is made of them; check the key (
        {definition.key_pointers.map((pointer) => pointer.slice(1)).join(', ')}) before you create it.
      </Text>
      <PlainTable
        label="Columns of the new type"
        empty={null}
        head={[{ name: 'Column' }, { name: 'Field' }, { name: 'Values' }]}
      >
        {candidate.columns.map(({ column, pointer }) => (
          <Table.Tr key={column}>
            <Table.Td>{column}</Table.Td>
            <Table.Td>{pointer?.slice(1) ?? 'not read'}</Table.Td>
            <Table.Td>{valueWords[properties[pointer?.slice(1) ?? '']?.type ?? ''] ?? '–'}</Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput
          label="Title of the type"
          maxLength={200}
          value={name.title}
          error={faults['title']}
          onChange={(event) => setName({ ...name, title: event.currentTarget.value })}
        />
        <TextInput
          label="Name of the type"
          description="Lower-case letters, digits and hyphens"
          maxLength={100}
          value={name.type_key}
          error={faults['type_key']}
          onChange={(event) => setName({ ...name, type_key: event.currentTarget.value })}
        />
      </SimpleGrid>
      <ProblemNote problem={create.problem} />
      <ApprovalNote request={create.waiting} />
      {may('createDatasetType') ? (
        <Group>
          <Button loading={create.isRunning} onClick={() => create.run(undefined)}>
            Create this type
          </Button>
          <Button
            variant="default"
            onClick={() => {
              saveTypeDraft(body)
              navigate({ to: '/types/new' })
            }}
          >
            Edit it first
          </Button>
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          A policy editor can create it.
        </Text>
      )}
    </Stack>
  )
}

const valueWords: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'yes or no',
  array: 'several texts',
}

/** A key of lower-case letters, digits and hyphens. */
const toListKey = (title: string): string =>
  toKey(title)
    .replace(/^[^a-z]+/, '')
    .slice(0, 60)

type NewListProps = CandidateProps & { readonly detection: Detection }

function NewListStep(props: NewListProps) {
  const { upload, candidate, type_key } = props
  return useIsUnreadable({ upload, candidate, type_key }) ? null : <NewListForm {...props} />
}

/** Names the list, creates it and starts the import. */
function NewListForm({ upload, detection, candidate, type_key }: NewListProps) {
  const may = usePermission()
  const navigate = useNavigate()
  const [title, setTitle] = useState(detection.list_title)
  const [own_key, setKey] = useState<string | null>(null)
  const [leavesOut, setLeavesOut] = useState(false)
  const list_key = own_key ?? (title === detection.list_title ? detection.list_key : toListKey(title))
  const start = useApiMutation(
    async () => {
      const body = { list_key, type_key, title }
      const list = await createOrFindList(body)
      if (isChangeRequest(list)) return list
      return probity.POST('/api/reference-data/imports', {
        body: {
          list_key,
          upload_id: upload.upload_id,
          adapter_key: candidate.adapter_key,
          options: candidate.options,
          strict: !leavesOut,
        },
      })
    },
    { invalidates: ['datasets', 'imports', 'jobs'], onDone: (job) => navigate({ to: `/imports/${getImportId(job)}` }) },
  )
  const faults = faultsByField(start.problem)
  const isNamed = title.trim() !== '' && list_key !== ''
  return (
    <Section title="3. Name the list and import">
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <TextInput
            label="Title of the list"
            description="What people call it"
            required
            maxLength={200}
            value={title}
            error={faults['title']}
            onChange={(event) => setTitle(event.currentTarget.value)}
          />
          <TextInput
            label="Key"
            description="How rules and matrices refer to the list; cannot be changed later"
            required
            maxLength={100}
            value={list_key}
            error={faults['list_key']}
            onChange={(event) => setKey(event.currentTarget.value)}
          />
        </SimpleGrid>
        <TypeLine type_key={type_key} />
        <Switch
          label="Skip invalid rows"
          description="If off, one invalid row stops the import."
          checked={leavesOut}
          onChange={(event) => setLeavesOut(event.currentTarget.checked)}
        />
        {candidate.rejected > 0 && !leavesOut && (
          <Alert color="yellow" role="status">
            Some rows are invalid, so the import will create no version unless they are skipped.
          </Alert>
        )}
        <ProblemNote problem={start.problem} />
        <ApprovalNote request={start.waiting} />
        {may('createDataset') ? (
          <Group>
            <Button disabled={!isNamed} loading={start.isRunning} onClick={() => start.run(undefined)}>
              Create list and import
            </Button>
          </Group>
        ) : (
          <Text size="sm" c="dimmed">
            A policy editor can create the list. To import into an existing list, choose it above.
          </Text>
        )}
      </Stack>
    </Section>
  )
}

const TypeLine = ({ type_key }: { readonly type_key: string }) => (
  <Text size="sm">
    Type:{' '}
    <Anchor href={`/types/${type_key}`} target="_blank" rel="noreferrer">
      {type_key}
    </Anchor>
  </Text>
)

/** A list that was created when an earlier attempt could not start its import is used again. */
async function createOrFindList(body: RequestBody<'post', '/api/reference-data/datasets'>) {
  const path = { list_key: body.list_key }
  return probity.POST('/api/reference-data/datasets', { body }).catch(async (error) => {
    const known = await probity
      .GET('/api/reference-data/datasets/{list_key}', { params: { path, query: { origin: 'own' } } })
      .catch(() => null)
    if (known?.origin === 'own' && known.head_version === 0 && known.type_key === body.type_key) return known
    throw error
  })
}
