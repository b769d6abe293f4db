/** The entries of one version, searchable by key and text. */

import { Anchor, Button, Group, Modal, Stack, Table, Text, TextInput } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { EntryFacts } from '#console/ui/entry-value.tsx'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { formatUnit, formatValueInPoints } from '#console/ui/points.ts'
import { type Dataset, type DatasetType, type Entry, typeQuery } from '#console/ui/registry-queries.ts'
import { findField, formatEntryValue, getFieldTitle, listMembers, parsePointer } from '#console/ui/type-texts.ts'
import { useChosenVersion, VersionSelect } from './chosen-version.tsx'

const COLUMNS = 5

interface Row {
  readonly key: string
  readonly hash: string
  readonly entry: Entry
}

export function EntriesTab({ dataset }: { readonly dataset: Dataset }) {
  const version = useChosenVersion(dataset)
  if (version === null)
    return <EmptyState title="No version yet" about="Entries belong to a version. Import a file first." />
  return <Entries dataset={dataset} version={version} />
}

function Entries({ dataset, version }: { readonly dataset: Dataset; readonly version: number }) {
  const { list_key, origin } = dataset
  const { data: type } = useSuspenseQuery(typeQuery(dataset.type_key))
  const { key, text } = useSearch({ strict: false }) as { key?: string | number; text?: string | number }
  const search = {
    ...(key !== undefined && { key_prefix: String(key) }),
    ...(text !== undefined && { q: String(text) }),
  }
  const [opened, setOpened] = useState<Row | null>(null)
  const list = usePages<Row>(['datasets', 'entries', list_key, origin, version, search], async (cursor, signal) =>
    probity.GET('/api/reference-data/datasets/{list_key}/versions/{version}/entries', {
      params: { path: { list_key, version: String(version) }, query: { ...cursor, ...search, origin, limit: 50 } },
      signal,
    }),
  )
  const columns = chooseColumns(
    type,
    (list.data?.pages[0]?.items ?? []).map(({ entry }) => entry),
  )
  const heading = (name: string) => {
    const unit = findField(type, `/${name}`)?.unit
    return unit === undefined
      ? getFieldTitle(type, `/${name}`)
      : `${getFieldTitle(type, `/${name}`)} (${formatUnit(unit)})`
  }
  return (
    <Stack gap="sm">
      <EntryFilters key={`${key} ${text}`} dataset={dataset} version={version} found={{ key, text }} />
      {(list.data?.pages[0] as { index?: string } | undefined)?.index === 'building' && (
        <Text size="xs" c="dimmed" role="status">
          The search index of this version is being built; search is slower until it is ready.
        </Text>
      )}
      <ListTable
        label="Entries"
        list={list}
        empty={{
          title: 'This version has no entries',
          about: 'The imported file held no rows. Import a file with entries to create another version.',
          filters: ['key', 'text'],
        }}
        head={[
          { name: 'Key' },
          ...columns.map((name, place) => ({
            name: heading(name),
            ...(place > 0 && { from: place > 2 ? ('lg' as const) : ('sm' as const) }),
          })),
        ]}
        row={(row) => (
          <Table.Tr key={row.key}>
            <Table.Td>
              <Anchor component="button" type="button" size="sm" className="mono" onClick={() => setOpened(row)}>
                {row.key}
              </Anchor>
            </Table.Td>
            {columns.map((name, place) => (
              <Table.Td key={name} {...(place > 0 && { visibleFrom: place > 2 ? 'lg' : 'sm' })}>
                <span className="cell-text">
                  {formatValueInPoints(row.entry[name], findField(type, `/${name}`)?.unit) ??
                    formatEntryValue(row.entry[name])}
                </span>
              </Table.Td>
            ))}
          </Table.Tr>
        )}
      />
      <EntryDialog row={opened} type={type} version={version} onClose={() => setOpened(null)} />
    </Stack>
  )
}

/** The key has its own column; of the other fields, those that most entries fill. */
function chooseColumns(type: DatasetType, entries: readonly Entry[]): string[] {
  const keys = type.key_pointers.map((pointer) => parsePointer(pointer)[0])
  const isUsual = (name: string) =>
    2 * entries.filter((entry) => formatEntryValue(entry[name]) !== '–').length >= Math.max(1, entries.length)
  return listMembers(type)
    .filter((name) => !keys.includes(name) && isUsual(name))
    .slice(0, COLUMNS)
}

interface EntryFiltersProps {
  readonly dataset: Dataset
  readonly version: number
  readonly found: { readonly key: string | number | undefined; readonly text: string | number | undefined }
}

function EntryFilters({ dataset, version, found }: EntryFiltersProps) {
  const navigate = useNavigate()
  const [typed, setTyped] = useState({ key: String(found.key ?? ''), text: String(found.text ?? '') })
  const field = (name: keyof typeof typed) => ({
    size: 'xs' as const,
    type: 'search',
    value: typed[name],
    onChange: (event: { currentTarget: HTMLInputElement }) => setTyped({ ...typed, [name]: event.currentTarget.value }),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    const given = { key: typed.key.trim() || undefined, text: typed.text.trim() || undefined }
    navigate({ to: '.', search: (now: Record<string, unknown>) => ({ ...now, ...given }), replace: true })
  }
  return (
    <form onSubmit={submit} aria-label="Search the entries">
      <Group gap="xs" align="flex-end">
        <VersionSelect dataset={dataset} chosen={version} />
        <TextInput aria-label="Key begins with" placeholder="Key begins with" {...field('key')} />
        <TextInput aria-label="Text contains" placeholder="Any text" {...field('text')} />
        <Button type="submit" size="xs" variant="default">
          Search
        </Button>
      </Group>
    </form>
  )
}

interface EntryDialogProps {
  readonly row: Row | null
  readonly type: DatasetType
  readonly version: number
  readonly onClose: () => void
}

function EntryDialog({ row, type, version, onClose }: EntryDialogProps) {
  const [isRaw, setRaw] = useState(false)
  return (
    <Modal
      opened={row !== null}
      onClose={onClose}
      title={`${row?.key ?? ''} in version ${version}`}
      size="xl"
      centered
      transitionProps={{ duration: 120 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {row && (
        <Stack gap="sm">
          {isRaw ? (
            <JsonBlock value={row.entry} name={`Entry ${row.key}`} />
          ) : (
            <EntryFacts type={type} entry={row.entry} />
          )}
          <Group justify="space-between">
            <CopyValue value={row.hash} name="the hash of the entry" />
            <Button size="xs" variant="subtle" onClick={() => setRaw(!isRaw)}>
              {isRaw ? 'Show as fields' : 'Show as JSON'}
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
