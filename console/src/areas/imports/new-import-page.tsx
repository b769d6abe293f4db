/** Imports a file in steps: list, file, adapter and options, preview, start. */
import { Alert, Button, Code, Group, Select, SimpleGrid, Stack, Switch, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FileDrop } from '#console/ui/file-drop.tsx'
import { useSetFilter } from '#console/ui/filters.tsx'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { faultsByField } from '#console/ui/problem-texts.ts'
import { type Dataset, type DatasetType, datasetsQuery, typeQuery } from '#console/ui/registry-queries.ts'
import { Section } from '#console/ui/section.tsx'
import { AdapterOptions, mergeOptions, type Options } from './adapter-options.tsx'
import { DeltaMode, FULL_FILE, toDelta } from './delta-mode.tsx'
import { type Candidate, DetectionProgress, useDetection } from './detection.tsx'
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
  const [file_name, setFileName] = useState<string | null>(null)
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
          <FileDrop upload={upload} extensions={[]} onFile={(file) => setFileName(file.name)} onUploaded={setUpload} />
        </Section>
        {dataset ? (
          <AdapterStep key={dataset.list_key} dataset={dataset} file_name={file_name} upload={upload} />
        ) : (
          <FileFirst key={upload?.upload_id ?? ''} upload={upload} />
        )}
      </Stack>
    </Page>
  )
}

interface AdapterStepProps {
  readonly dataset: Dataset
  readonly file_name: string | null
  readonly upload: Upload | null
}

/** By the ending of the file name: a general adapter first, because it reads exports of this system. */
function guessAdapter(adapters: readonly Adapter[], file_name: string | null): Adapter | undefined {
  const name = file_name?.toLowerCase() ?? ''
  // Code of the tenant is chosen by a person.
  const reads = ({ file_extensions, plugin }: Adapter) =>
    plugin === null && file_extensions.some((one) => name.endsWith(`.${one}`))
  return adapters.find((one) => one.target_type === null && reads(one)) ?? adapters.find(reads)
}

/** The adapters for this list: those for its type, and general ones. */
function AdapterStep({ dataset, file_name, upload }: AdapterStepProps) {
  const { data: all } = useSuspenseQuery(adaptersQuery)
  // Read with the page: waiting for it when the upload ends would close an open choice.
  const { data: type } = useSuspenseQuery(typeQuery(dataset.type_key))
  const fitting = all.filter(({ target_type }) => target_type === null || target_type === dataset.type_key)
  const [chosen_key, setChosenKey] = useState<string | null>(null)
  const [options, setOptions] = useState<Options>({})
  const [rich, setRich] = useState('')
  const [mode, setMode] = useState(FULL_FILE)
  const delta = toDelta(mode, dataset.head_version)
  const adapter = fitting.find((one) => one.adapter_key === chosen_key) ?? guessAdapter(fitting, file_name)
  const adapter_key = adapter?.adapter_key ?? null
  const chosen = mergeOptions(options, rich)
  const { detection, ...progress } = useDetection(upload?.upload_id ?? null, dataset.list_key)
  const best = detection?.candidates[0]
  function choose(key: string | null) {
    setChosenKey(key)
    setOptions({})
    setRich('')
  }
  /** Options belong to the adapter that they were entered for, also when another file is chosen. */
  function changeOptions(value: Options) {
    setChosenKey(adapter_key)
    setOptions(value)
  }
  function changeRich(value: string) {
    setChosenKey(adapter_key)
    setRich(value)
  }
  function useCandidate(candidate: Candidate) {
    setChosenKey(candidate.adapter_key)
    setOptions({})
    setRich(Object.keys(candidate.options).length === 0 ? '' : JSON.stringify(candidate.options, null, 2))
  }
  return (
    <>
      <Section title="2. Adapter and options">
        <Stack gap="sm">
          <DetectionProgress {...progress} />
          <DeltaMode dataset={dataset} value={mode} onChange={setMode} />
          <Select
            label="Adapter"
            placeholder="Detected from the file name"
            searchable
            maw={420}
            value={adapter_key}
            data={fitting.map((one) => ({
              value: one.adapter_key,
              label: one.plugin === null ? one.title : `${one.title} (plugin)`,
            }))}
            onChange={choose}
          />
          {/* What a plugin reads is not detected. */}
          {detection && !adapter?.plugin && (
            <DetectionHint
              detection={detection}
              isUsed={!best || (best.adapter_key === adapter_key && isSameOptions(best.options, chosen))}
              onUse={useCandidate}
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
                onChange={changeOptions}
                onRich={changeRich}
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

const isSameOptions = (options: Options, chosen: Options | null): boolean =>
  JSON.stringify(options) === JSON.stringify(chosen ?? {})

interface DetectionHintProps {
  readonly detection: Schemas['Detection']
  readonly isUsed: boolean
  readonly onUse: (candidate: Candidate) => void
}

/** What the file looks like, and the way to read it that fits best. */
function DetectionHint({ detection: { candidates, looks_like, advice }, isUsed, onUse }: DetectionHintProps) {
  const [best] = candidates
  if (!best) {
    return (
      <Alert color="orange" role="status">
        The file looks like {looks_like}. {advice ?? 'No adapter for this type reads it.'}
      </Alert>
    )
  }
  return (
    <Alert color={isUsed ? 'teal' : 'cyan'} role="status">
      <Text size="sm">{best.reason}</Text>
      {!isUsed && (
        <Button size="xs" mt="xs" variant="light" onClick={() => onUse(best)}>
          Use {best.title} with the detected options
        </Button>
      )}
    </Alert>
  )
}

/** Options are open if one of them is required. */
const hasRequired = ({ options }: Adapter): boolean =>
  ((options as { required?: readonly string[] }).required ?? []).length > 0

function AdapterInfo({ adapter }: { readonly adapter: Adapter }) {
  return (
    <Stack gap={6}>
      <Text size="sm">
        {adapter.description} {adapter.publisher && <span className="quiet">Published by {adapter.publisher}.</span>}
      </Text>
      {adapter.plugin !== null && (
        <Text size="sm">
          Read by the plugin{' '}
          <PageLink to={`/plugins/${adapter.plugin.plugin_key}`}>{adapter.plugin.plugin_key}</PageLink>, version{' '}
          {adapter.adapter_version}. It has a configuration instead of options.
        </Text>
      )}
      {adapter.plugin?.runs === false && (
        <Alert color="orange" role="status" title="The plugin cannot run">
          {adapter.plugin.reasons.join(' ')}
        </Alert>
      )}
      {adapter.sample?.encoding === 'utf8' && (
        <details>
          <summary>
            <Text span size="sm">
              Sample file
            </Text>
          </summary>
          <JsonOrText text={adapter.sample.text} />
          {Object.keys(adapter.sample.options).length > 0 && (
            <Text size="sm">
              Options of the sample <Code>{JSON.stringify(adapter.sample.options)}</Code>
            </Text>
          )}
        </details>
      )}
    </Stack>
  )
}

function JsonOrText({ text }: { readonly text: string }) {
  try {
    return <JsonBlock value={JSON.parse(text)} name="Sample" />
  } catch {
    return (
      <Code block className="json" tabIndex={0} role="region" aria-label="Sample">
        {text}
      </Code>
    )
  }
}

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
