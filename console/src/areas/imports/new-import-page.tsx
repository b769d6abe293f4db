/** Imports a file in steps: list, file, adapter and options, preview, start. */
import { Alert, Button, Group, Select, SimpleGrid, Stack, Switch, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FileDrop } from '#console/ui/file-drop.tsx'
import { useSetFilter } from '#console/ui/filters.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { type Dataset, type DatasetType, datasetsQuery, typeQuery } from '#console/ui/registry-queries.ts'
import { Section } from '#console/ui/section.tsx'
import { isSameOptions, useAdapterChoice } from './adapter-choice.ts'
import { AdapterInfo, AdapterSelect, DetectionHint } from './adapter-info.tsx'
import { AdapterOptions, type Options } from './adapter-options.tsx'
import { DeltaMode, FULL_FILE, toDelta } from './delta-mode.tsx'
import { DetectionProgress, useDetection } from './detection.tsx'
import { FileFirst } from './file-first.tsx'
import { type Delta, getImportId, type ImportRequest } from './import-request.ts'
import { Preview } from './preview.tsx'

type Adapter = Schemas['Adapter']
type Upload = Schemas['Upload']

const adaptersQuery = queryOptions({
  queryKey: ['adapters'],
  queryFn: ({ signal }) =>
    probity
      .GET('/api/reference-data/adapters', { params: { query: { limit: 200 } }, signal })
      .then(({ items }) => items),
})

export default function NewImportPage() {
  // The newest version is compared when the import starts, so it is reloaded.
  const { data: datasets } = useSuspenseQuery({ ...datasetsQuery, staleTime: 0 })
  const { list } = useSearch({ strict: false }) as { list?: string }
  const set = useSetFilter()
  const own = datasets.filter(({ origin, state }) => origin === 'own' && state === 'live')
  const dataset = own.find(({ list_key }) => list_key === list)
  // Above what depends on the list: choosing another list keeps the file.
  const [upload, setUpload] = useState<Upload | null>(null)
  return (
    <Page
      title="Import file"
      about="Creates a new version of the list without putting it in force."
      trail={
        <PageLink to="/imports" inherit>
          Imports
        </PageLink>
      }
    >
      <Stack gap="md" maw={980}>
        {own.length > 0 && (
          <Section title="List">
            <Select
              aria-label="List"
              placeholder="A new list"
              description="Leave empty to import the file into a new list."
              searchable
              clearable
              maw={420}
              value={dataset?.list_key ?? null}
              data={own.map(({ list_key, title }) => ({ value: list_key, label: `${title} (${list_key})` }))}
              onChange={(chosen) => set('list', chosen)}
            />
          </Section>
        )}
        <Section title="1. File">
          <FileDrop upload={upload} extensions={[]} onUploaded={setUpload} />
        </Section>
        {dataset ? (
          <AdapterStep key={dataset.list_key} dataset={dataset} upload={upload} />
        ) : (
          <FileFirst key={upload?.upload_id ?? ''} upload={upload} />
        )}
      </Stack>
    </Page>
  )
}

interface AdapterStepProps {
  readonly dataset: Dataset
  readonly upload: Upload | null
}

/** The adapters for this list: those for its type, and general ones. What was detected is used until a person chooses. */
function AdapterStep({ dataset, upload }: AdapterStepProps) {
  const { data: all } = useSuspenseQuery(adaptersQuery)
  // Read with the page: waiting for it when the upload ends would close an open choice.
  const { data: type } = useSuspenseQuery(typeQuery(dataset.type_key))
  const fitting = all.filter(({ target_type }) => target_type === null || target_type === dataset.type_key)
  const { detection, ...progress } = useDetection(upload?.upload_id ?? null, dataset.list_key)
  const best = detection?.candidates[0]
  const { adapter, options, rich, chosen, ...choice } = useAdapterChoice(fitting, best)
  const [mode, setMode] = useState(FULL_FILE)
  const delta = toDelta(mode, dataset.head_version)
  return (
    <>
      <Section title="2. Adapter and options">
        <Stack gap="sm">
          <DetectionProgress {...progress} />
          <DeltaMode dataset={dataset} value={mode} onChange={setMode} />
          <AdapterSelect
            adapters={fitting}
            value={adapter?.adapter_key ?? null}
            isDetected={detection !== null || progress.problem !== null}
            onChange={choice.choose}
          />
          {/* What a plugin reads is not detected. */}
          {detection && !adapter?.plugin && (
            <DetectionHint
              detection={detection}
              isUsed={!best || (best.adapter_key === adapter?.adapter_key && isSameOptions(best.options, chosen))}
              onUse={choice.useCandidate}
            />
          )}
          {adapter && <AdapterInfo adapter={adapter} />}
          {adapter && adapter.plugin === null && (
            <details open={hasRequired(adapter)}>
              <summary>
                <Text span size="sm">
                  Options
                </Text>
              </summary>
              <AdapterOptions
                key={adapter.adapter_key}
                schema={adapter.options}
                value={options}
                rich={rich}
                onChange={choice.changeOptions}
                onRich={choice.changeRich}
              />
            </details>
          )}
        </Stack>
      </Section>
      {adapter && upload && chosen && (
        <PreviewStep
          key={`${adapter.adapter_key} ${upload.upload_id} ${JSON.stringify([chosen, delta])}`}
          dataset={dataset}
          type={type}
          adapter={adapter}
          upload={upload}
          options={chosen}
          delta={delta}
        />
      )}
    </>
  )
}

/** Options are open if one of them is required. */
const hasRequired = ({ options }: Adapter): boolean =>
  ((options as { required?: readonly string[] }).required ?? []).length > 0

interface StartStepProps {
  readonly dataset: Dataset
  readonly adapter: Adapter
  readonly upload: Upload
  readonly options: Options
  readonly delta: Delta | null
}

interface PreviewStepProps extends StartStepProps {
  readonly type: DatasetType
}

function PreviewStep({ dataset, type, adapter, upload, options, delta }: PreviewStepProps) {
  const [preview, setPreview] = useState<Schemas['Preview'] | null>(null)
  const runPreview = useApiMutation(
    () =>
      probity.POST('/api/reference-data/adapters/{adapter_key}/preview', {
        params: { path: { adapter_key: adapter.adapter_key } },
        body: {
          upload_id: upload.upload_id,
          type_key: dataset.type_key,
          limit: 10,
          ...(Object.keys(options).length > 0 && { options }),
          ...(delta && { delta: { list_key: dataset.list_key, ...delta } }),
        },
      }),
    { invalidates: [], onDone: setPreview },
  )
  return (
    <Section
      title="3. Preview and import"
      actions={
        <Button size="xs" variant="light" loading={runPreview.isRunning} onClick={() => runPreview.run(undefined)}>
          {preview === null ? 'Preview' : 'Preview again'}
        </Button>
      }
    >
      <Stack gap="md">
        <ProblemNote problem={runPreview.problem} />
        {preview === null && !runPreview.problem && (
          <Text size="sm" c="dimmed">
            Check the first rows and rejected rows before importing.
          </Text>
        )}
        {preview && <Preview preview={preview} type={type} />}
        <StartStep dataset={dataset} adapter={adapter} upload={upload} options={options} delta={delta} />
      </Stack>
    </Section>
  )
}

function StartStep({ dataset, adapter, upload, options, delta }: StartStepProps) {
  const navigate = useNavigate()
  const [how, setHow] = useState({ label: '', note: '', leavesOut: false, skipsSame: true })
  const order: ImportRequest = {
    list_key: dataset.list_key,
    upload_id: upload.upload_id,
    adapter_key: adapter.adapter_key,
    ...(Object.keys(options).length > 0 && { options }),
    strict: !how.leavesOut,
    on_unchanged: how.skipsSame ? 'skip' : 'publish',
    expected_head: dataset.head_version,
    ...(delta && { delta }),
    ...(how.label && { label: how.label }),
    ...(how.note && { note: how.note }),
  }
  const start = useApiMutation(() => probity.POST('/api/reference-data/imports', { body: order }), {
    invalidates: ['imports', 'jobs'],
    onDone: (job) => navigate({ to: `/imports/${getImportId(job)}` }),
  })
  const faults = faultsByField(start.problem)
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput
          label="Label of the new version"
          placeholder="2026-q1"
          maxLength={100}
          error={faults['label']}
          value={how.label}
          onChange={(event) => setHow({ ...how, label: event.currentTarget.value })}
        />
        <TextInput
          label="Note"
          maxLength={2000}
          value={how.note}
          onChange={(event) => setHow({ ...how, note: event.currentTarget.value })}
        />
      </SimpleGrid>
      <Switch
        label="Skip invalid rows"
        description="If off, one invalid row stops the import."
        checked={how.leavesOut}
        onChange={(event) => setHow({ ...how, leavesOut: event.currentTarget.checked })}
      />
      <Switch
        label="Create no version if nothing changed"
        checked={how.skipsSame}
        onChange={(event) => setHow({ ...how, skipsSame: event.currentTarget.checked })}
      />
      {how.leavesOut && (
        <Alert color="yellow" role="status">
          Rejected rows are not part of the version. They are listed with the import.
        </Alert>
      )}
      <ProblemNote problem={start.problem} />
      <Group>
        <Button loading={start.isRunning} onClick={() => start.run(undefined)}>
          Start import
        </Button>
      </Group>
    </Stack>
  )
}
