/** The response of the resolver: version in force, reason, entry and receipt. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { isProblem, type Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { EntryFacts } from '#console/ui/entry-value.tsx'
import { formatCount } from '#console/ui/format.ts'
import { ListSkeleton } from '#console/ui/list.tsx'
import { toInstant } from '#console/ui/local-time.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { type Entry, typeQuery } from '#console/ui/registry-queries.ts'
import { saveJson } from '#console/ui/save-file.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'

type Resolved = NonNullable<Schemas['ResolvedList']>

interface ResolverAnswerProps {
  readonly list_key: string
  readonly of: string | null
  /** As entered, in local time. */
  readonly valid_at: string | null
  readonly known_at: string | null
}

const viaReasons: Readonly<Record<Resolved['via'], string>> = {
  'tenant-own': 'Put in force by this tenant for its own list',
  'tenant-pin': 'Pinned by this tenant',
  shared: 'Put in force by the operator',
}

export function ResolverAnswer({ list_key, of, valid_at, known_at }: ResolverAnswerProps) {
  const clocks = {
    ...(valid_at && { valid_at: toInstant(valid_at) ?? valid_at }),
    ...(known_at && { known_at: toInstant(known_at) ?? known_at }),
  }
  const { data, error } = useQuery({
    queryKey: ['resolver', list_key, of, clocks],
    queryFn: async ({ signal }) => {
      const path = { list_key }
      if (of === null) {
        const list = await probity.GET('/api/reference-data/resolve/{list_key}', {
          params: { path, query: clocks },
          signal,
        })
        return { list, entry: null }
      }
      const found = await probity.GET('/api/reference-data/resolve/{list_key}/entry', {
        params: { path, query: { ...clocks, key: of } },
        signal,
      })
      return { list: found.list as Resolved, entry: found.entry as Entry | null }
    },
    // The version in force is never shown from the cache.
    staleTime: 0,
    gcTime: 0,
    throwOnError: false,
  })
  if (isProblem(error)) {
    if (error.code !== 'nothing_in_force') return <ProblemNote problem={error} />
    return (
      <Alert color="gray" title="No version in force" role="status">
        No version of {list_key} is known to be in force at that time.
      </Alert>
    )
  }
  if (data === undefined) return <ListSkeleton />
  return (
    <Stack gap="md">
      <GoverningVersion list={data.list} valid_at={clocks.valid_at ?? null} known_at={clocks.known_at ?? null} />
      {of !== null && <FoundEntry list={data.list} of={of} entry={data.entry} />}
      <Receipt list_key={list_key} of={of} clocks={clocks} />
    </Stack>
  )
}

interface GoverningVersionProps {
  readonly list: Resolved
  readonly valid_at: string | null
  readonly known_at: string | null
}

function GoverningVersion({ list, valid_at, known_at }: GoverningVersionProps) {
  return (
    <Section title="Version in force">
      <p className="verdict">
        For an event {valid_at === null ? 'now' : <DateTime at={valid_at} />}, as known{' '}
        {known_at === null ? 'now' : <DateTime at={known_at} />},{' '}
        <SearchLink
          to={`/datasets/${list.list_key}`}
          search={{ tab: 'entries', version: list.version, origin: list.origin }}
          inherit
          fw={650}
        >
          version {list.version}
          {list.label && ` (${list.label})`}
        </SearchLink>{' '}
        is in force.
      </p>
      <Facts
        of={[
          [
            'Reason',
            <span key="why">
              {viaReasons[list.via]}, since <DateTime at={list.effective_from} />
              {list.expires_at !== null && (
                <>
                  {' '}
                  until <DateTime at={list.expires_at} />
                </>
              )}
              .{list.shadows_shared && ' It takes precedence over the shared list with the same key.'}
            </span>,
          ],
          list.overlay !== null && [
            'Overlay',
            `Version ${list.overlay.version} of this tenant’s overlay, with ${formatCount(list.overlay.entry_count, 'change')}, is applied.`,
          ],
          ['Entries', list.entry_count.toLocaleString('en')],
          ['Content hash', <CopyValue key="hash" value={list.content_hash} name="the content hash" />],
          ['Activation', <CopyValue key="act" value={list.activation_id} name="the activation id" />],
          ['Type', `${list.type_key}, version ${list.type_version}`],
        ]}
      />
    </Section>
  )
}

interface FoundEntryProps {
  readonly list: Resolved
  readonly of: string
  readonly entry: Entry | null
}

function FoundEntry({ list, of, entry }: FoundEntryProps) {
  const { data: type } = useQuery(typeQuery(list.type_key))
  return (
    <Section
      title={entry === null ? `${of} is not on the list` : `Entry ${of}`}
      actions={
        list.overlay === null && (
          <SearchLink
            to={`/datasets/${list.list_key}`}
            search={{ tab: 'proof', version: list.version, origin: list.origin, key: of }}
            size="sm"
          >
            Show proof
          </SearchLink>
        )
      }
    >
      {entry === null && (
        <Text size="sm">Keys are compared exactly. The proof shows that the key is not on the list.</Text>
      )}
      {entry !== null && type && <EntryFacts type={type} entry={entry} />}
    </Section>
  )
}

interface ReceiptProps {
  readonly list_key: string
  readonly of: string | null
  readonly clocks: { readonly valid_at?: string; readonly known_at?: string }
}

function Receipt({ list_key, of, clocks }: ReceiptProps) {
  const may = usePermission()
  const ask = { ...clocks, consumer: 'console' }
  const issueReceipt = useReceipt(async () =>
    of === null
      ? (await probity.POST('/api/reference-data/resolve', { body: { list_keys: [list_key], ...ask } })).receipt
      : (await probity.POST('/api/reference-data/lookup', { body: { lookups: [{ list_key, keys: [of] }], ...ask } }))
          .receipt,
  )
  if (!may(of === null ? 'resolveLists' : 'lookUpEntries')) return null
  const { receipt } = issueReceipt
  return (
    <Section
      title="Receipt"
      actions={
        <Group gap="xs">
          {receipt && (
            <Button size="xs" variant="default" onClick={() => saveJson(`receipt-${receipt.receipt_id}.json`, receipt)}>
              Download
            </Button>
          )}
          <Button
            size="xs"
            variant="light"
            loading={issueReceipt.isRunning}
            onClick={() => issueReceipt.run(undefined)}
          >
            {receipt ? 'Issue another receipt' : 'Issue a receipt'}
          </Button>
        </Group>
      }
    >
      <ProblemNote problem={issueReceipt.problem} />
      {receipt ? (
        <Facts
          of={[
            ['Receipt', <CopyValue key="id" value={receipt.receipt_id} name="the receipt id" />],
            ['Valid at', <DateTime key="valid" at={receipt.valid_at} />],
            ['Known at', <DateTime key="known" at={receipt.known_at} />],
            ['Manifest hash', <CopyValue key="hash" value={receipt.manifest_hash} name="the manifest hash" />],
          ]}
        />
      ) : (
        <Text size="sm" c="dimmed">
          A receipt records which versions were used, so that the answer can be explained later. Decisions always store
          one.
        </Text>
      )}
    </Section>
  )
}

function useReceipt(send: () => Promise<Schemas['Receipt']>) {
  const [receipt, setReceipt] = useState<Schemas['Receipt'] | null>(null)
  const change = useApiMutation(send, { invalidates: [], onDone: setReceipt })
  return { ...change, receipt }
}
