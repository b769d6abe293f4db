/** Starts a batch for the items of a file or the subjects of a filter, with an optional estimate. */
import { Alert, Button, Group, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FileDrop } from '#console/ui/file-drop.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'
import { DefinitionSelect } from './definition-select.tsx'

type Source = 'file' | 'filter'
const blank = {
  chosen: null as string | null,
  source: 'file' as Source,
  format: 'csv' as 'csv' | 'ndjson',
  external_id: '',
  subject_type: null as string | null,
  segment: '',
  band: '',
  note: '',
}

/** A link can prepare the form, for example after a change of policy. */
function usePreparedForm(): typeof blank {
  const { matrix, rule, source, note } = useSearch({ strict: false }) as Record<string, unknown>
  const chosen = typeof matrix === 'string' ? `matrix ${matrix}` : typeof rule === 'string' ? `rule ${rule}` : null
  return {
    ...blank,
    chosen,
    source: source === 'filter' ? 'filter' : blank.source,
    note: typeof note === 'string' ? note : blank.note,
  }
}

export default function NewBatchPage() {
  const may = usePermission()
  const navigate = useNavigate()
  const prepared = usePreparedForm()
  const [form, setOrder] = useState(prepared)
  const [upload, setUpload] = useState<Schemas['Upload'] | null>(null)
  const [estimate, setEstimate] = useState<Schemas['BatchEstimate'] | null>(null)
  const set = (change: Partial<typeof blank>) => setOrder({ ...form, ...change })
  const body = buildRequest(form, upload)
  const estimateBatch = useApiMutation(() => probity.POST('/api/batch-evaluations/estimate', { body }), {
    invalidates: [],
    onDone: setEstimate,
  })
  const start = useApiMutation(() => probity.POST('/api/batch-evaluations', { body }), {
    invalidates: ['batches', 'jobs'],
    successMessage: 'Batch started',
    onDone: (job) => navigate({ to: getBatchId(job) }),
  })
  const isReady = form.chosen !== null && (form.source === 'filter' || upload !== null)
  return (
    <Page
      title="New batch"
      about="All items are evaluated on the versions in force when the batch starts."
      trail={
        <PageLink to="/batches" inherit>
          Batches
        </PageLink>
      }
      width="text"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          estimateBatch.reset()
          start.run(undefined)
        }}
      >
        <Stack gap="md">
          <DefinitionSelect chosen={form.chosen} isInForceOnly onChange={(chosen) => set({ chosen })} />
          <BatchSource order={form} onChange={set} upload={upload} onUploaded={setUpload} />
          <TextInput
            label="Note"
            maxLength={500}
            value={form.note}
            onChange={(event) => set({ note: event.currentTarget.value })}
          />
          <ProblemNote problem={start.problem ?? estimateBatch.problem} />
          {estimate && <Estimate of={estimate} />}
          <Group gap="xs">
            <Button type="submit" disabled={!isReady} loading={start.isRunning}>
              Start
            </Button>
            {may('estimateBatchEvaluation') && (
              <Button
                variant="default"
                disabled={!isReady}
                loading={estimateBatch.isRunning}
                onClick={() => {
                  start.reset()
                  estimateBatch.run(undefined)
                }}
              >
                Estimate
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Page>
  )
}

function buildRequest(order: typeof blank, upload: Schemas['Upload'] | null) {
  const [family, key = ''] = (order.chosen ?? '').split(' ')
  const { subject_type, segment, band } = order
  return {
    ...(family === 'rule' ? { rule_key: key } : { matrix_key: key }),
    ...(order.note !== '' && { note: order.note }),
    ...(order.source === 'file'
      ? {
          upload_id: upload?.upload_id ?? '',
          file: {
            format: order.format,
            ...(order.external_id !== '' && { mapping: { external_id: order.external_id } }),
          },
        }
      : {
          filter: {
            ...(subject_type !== null && { subject_type: subject_type as 'person' }),
            ...(segment !== '' && { segment }),
            ...(band !== '' && { band }),
          },
        }),
  }
}

/** The page of the resource a job works on. */
const getBatchId = ({ resource }: Schemas['Job']): string =>
  (resource ?? '').replace('/api/batch-evaluations', '/batches') || '/batches'

interface FilterFieldsProps {
  readonly order: typeof blank
  readonly onChange: (change: Partial<typeof blank>) => void
}

interface BatchSourceProps extends FilterFieldsProps {
  readonly upload: Schemas['Upload'] | null
  readonly onUploaded: (upload: Schemas['Upload'] | null) => void
}

/** The source of items: rows of a file, or subjects that match a filter. */
function BatchSource({ order, onChange, upload, onUploaded }: BatchSourceProps) {
  return (
    <Section
      title="Subjects"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Source of the items"
          value={order.source}
          onChange={(source) => onChange({ source: source as Source })}
          data={[
            { value: 'file', label: 'A file' },
            { value: 'filter', label: 'Existing subjects' },
          ]}
        />
      }
    >
      {order.source === 'file' ? (
        <Stack gap="sm">
          <FileDrop
            label="File with one item per row"
            upload={upload}
            extensions={['.csv', '.ndjson']}
            onFile={(file) => onChange({ format: /json/.test(file.name) ? 'ndjson' : 'csv' })}
            onUploaded={onUploaded}
          />
          <TextInput
            label="Subject column"
            placeholder="external_id"
            value={order.external_id}
            onChange={(event) => onChange({ external_id: event.currentTarget.value })}
          />
          <Text size="xs" c="dimmed">
            Read as {order.format.toUpperCase()}. Every other column is an input with that name; multiple values are
            separated by |.
          </Text>
        </Stack>
      ) : (
        <FilterFields order={order} onChange={onChange} />
      )}
    </Section>
  )
}

function FilterFields({ order, onChange }: FilterFieldsProps) {
  return (
    <Group gap="sm" align="flex-end">
      <Select
        label="Type"
        placeholder="Any"
        clearable
        w={150}
        data={['person', 'company', 'other']}
        value={order.subject_type}
        onChange={(subject_type) => onChange({ subject_type })}
      />
      <TextInput
        label="Segment"
        w={180}
        value={order.segment}
        onChange={(event) => onChange({ segment: event.currentTarget.value })}
      />
      <TextInput
        label="Current band"
        w={150}
        value={order.band}
        onChange={(event) => onChange({ band: event.currentTarget.value })}
      />
    </Group>
  )
}

function Estimate({ of }: { readonly of: Schemas['BatchEstimate'] }) {
  const { tried } = of
  return (
    <Alert color={tried.failed > 0 ? 'yellow' : 'teal'} title="Estimate" role="status">
      <Text size="sm">
        {of.is_exact ? '' : 'At least '}
        {formatCount(of.items, 'item')}, about {of.seconds} s, with version {of.definition_version}. Of the first{' '}
        {tried.items}, {tried.failed} would fail.
      </Text>
      {tried.failures.map(({ code, count, message }) => (
        <Text size="sm" key={code}>
          {count} × {message}
        </Text>
      ))}
    </Alert>
  )
}
