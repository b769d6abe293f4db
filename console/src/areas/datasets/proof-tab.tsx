/** Proof that a key is, or is not, in a version: hashes anybody can follow up to the content hash, and a file to keep. */
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { useSetFilter } from '#console/ui/filters.tsx'
import { formatCount } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import type { OwnedVersion } from '#console/ui/origin.ts'
import { EmptyState } from '#console/ui/plain-table.tsx'
import type { Dataset } from '#console/ui/registry-queries.ts'
import { saveJson } from '#console/ui/save-file.ts'
import { Facts, Section } from '#console/ui/section.tsx'
import { useChosenVersion, VersionSelect } from './chosen-version.tsx'

export function ProofTab({ dataset }: { readonly dataset: Dataset }) {
  const version = useChosenVersion(dataset)
  const set = useSetFilter()
  const search = useSearch({ strict: false }) as { key?: string | number }
  const asked = search.key === undefined ? null : String(search.key)
  const [typed, setTyped] = useState(asked ?? '')
  if (version === null) return <EmptyState>No version yet, so nothing to prove.</EmptyState>
  function submit(event: FormEvent) {
    event.preventDefault()
    set('key', typed.trim() || null)
  }
  return (
    <Stack gap="md" maw={820}>
      <Text size="sm">
        The content hash of a version covers every entry. With the hashes below it can be recomputed from one entry
        alone, so whoever holds the content hash can check, without this service, that the entry was or was not on the
        list.
      </Text>
      <form onSubmit={submit}>
        <Group gap="xs" align="flex-end">
          <VersionSelect dataset={dataset} chosen={version} />
          <TextInput
            size="xs"
            w={280}
            aria-label="Key"
            placeholder="The key, present or absent"
            required
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Button type="submit" size="xs">
            Prove
          </Button>
        </Group>
      </form>
      {asked !== null && (
        <Proof list_key={dataset.list_key} origin={dataset.origin} version={version} entryKey={asked} />
      )}
    </Stack>
  )
}

interface ProofProps extends OwnedVersion {
  readonly list_key: string
  readonly entryKey: string
}

function Proof({ list_key, origin, version, entryKey: asked }: ProofProps) {
  const { data: found } = useQuery({
    queryKey: ['datasets', 'proof', list_key, origin, version, asked],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/datasets/{list_key}/versions/{version}/proof', {
        params: { path: { list_key, version: String(version) }, query: { origin, key: asked } },
        signal,
      }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (found === undefined) return <ListSkeleton />
  const { proof, present } = found
  return (
    <>
      <Alert
        color={present ? 'teal' : 'gray'}
        icon={<Icon name={present ? 'check' : 'cross'} />}
        title={present ? `${asked} is in version ${version}` : `${asked} is not in version ${version}`}
        role="status"
      >
        {present
          ? 'The entry, its hash and the hashes beside its path lead to the content hash.'
          : 'The place where it would have to be holds only what is named here, and that leads to the content hash.'}
      </Alert>
      <Section
        title="The proof"
        aside={
          <Button
            size="xs"
            variant="default"
            onClick={() => saveJson(`proof-${list_key}-v${version}-${asked.replaceAll(/[^\w.-]+/g, '_')}.json`, found)}
          >
            Save as a file
          </Button>
        }
      >
        <Facts
          of={[
            ['Content hash', <CopyValue key="root" value={proof.root} name="the content hash" />],
            ['Entries', proof.count.toLocaleString('en')],
            ['Hash of the key', <CopyValue key="key" value={proof.key_hash} name="the hash of the key" />],
            [
              'Hash of the entry',
              proof.entry_hash === null ? (
                'none: absent'
              ) : (
                <CopyValue value={proof.entry_hash} name="the entry’s hash" />
              ),
            ],
            ['In its bucket', formatCount(proof.bucket.length, 'entry', 'entries')],
            [
              'Path',
              <Stack key="path" gap={2}>
                {proof.siblings.map((hash, depth) => (
                  <span key={hash} className="mono">
                    {depth + 1}. {hash}
                  </span>
                ))}
              </Stack>,
            ],
            ['Verify it', <CopyValue key="verify" value="npx probity verify proof FILE" name="the command" />],
          ]}
        />
      </Section>
    </>
  )
}
