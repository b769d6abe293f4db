/** Creates a proof that a key is or is not in a version, as a downloadable file. */
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { useSetFilter } from '#console/ui/filters.tsx'
import { formatCount } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import type { OwnedVersion } from '#console/ui/origin.ts'
import type { Dataset } from '#console/ui/registry-queries.ts'
import { saveJson } from '#console/ui/save-file.ts'
import { Facts, Section } from '#console/ui/section.tsx'
import { useChosenVersion, VersionSelect } from './chosen-version.tsx'

export function ProofTab({ dataset }: { readonly dataset: Dataset }) {
  const version = useChosenVersion(dataset)
  const set = useSetFilter()
  const search = useSearch({ strict: false }) as { key?: string | number }
  const key = search.key === undefined ? null : String(search.key)
  const [typed, setTyped] = useState(key ?? '')
  if (version === null)
    return <EmptyState title="No version yet" about="A proof is made for a version. Import a file first." />
  function submit(event: FormEvent) {
    event.preventDefault()
    set('key', typed.trim() || null)
  }
  return (
    <Stack gap="md" maw={820}>
      <Text size="sm">
        A proof shows that a key is or is not in a version. Anyone with the content hash of the version can verify it
        without this service.
      </Text>
      <form onSubmit={submit}>
        <Group gap="xs" align="flex-end">
          <VersionSelect dataset={dataset} chosen={version} />
          <TextInput
            size="xs"
            w={280}
            aria-label="Key"
            placeholder="Key to prove"
            required
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Button type="submit" size="xs">
            Create proof
          </Button>
        </Group>
      </form>
      {key !== null && <Proof list_key={dataset.list_key} origin={dataset.origin} version={version} entryKey={key} />}
    </Stack>
  )
}

interface ProofProps extends OwnedVersion {
  readonly list_key: string
  readonly entryKey: string
}

function Proof({ list_key, origin, version, entryKey: key }: ProofProps) {
  const { data: found } = useQuery({
    queryKey: ['datasets', 'proof', list_key, origin, version, key],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/datasets/{list_key}/versions/{version}/proof', {
        params: { path: { list_key, version: String(version) }, query: { origin, key: key } },
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
        title={present ? `${key} is in version ${version}` : `${key} is not in version ${version}`}
        role="status"
      >
        {present
          ? 'The entry and the hashes along its path result in the content hash.'
          : 'The position of the key holds only the entries listed here, and their hashes result in the content hash.'}
      </Alert>
      <Section
        title="Proof"
        actions={
          <Button
            size="xs"
            variant="default"
            onClick={() => saveJson(`proof-${list_key}-v${version}-${key.replaceAll(/[^\w.-]+/g, '_')}.json`, found)}
          >
            Download
          </Button>
        }
      >
        <Facts
          of={[
            ['Content hash', <CopyValue key="root" value={proof.root} name="the content hash" />],
            ['Entries', proof.count.toLocaleString('en')],
            ['Key hash', <CopyValue key="key" value={proof.key_hash} name="the key hash" />],
            [
              'Entry hash',
              proof.entry_hash === null ? (
                'none (key not in the version)'
              ) : (
                <CopyValue value={proof.entry_hash} name="the entry hash" />
              ),
            ],
            ['Entries in the bucket', formatCount(proof.bucket.length, 'entry', 'entries')],
            [
              'Hash path',
              <Stack key="path" gap={2}>
                {proof.siblings.map((hash, depth) => (
                  <span key={hash} className="mono">
                    {depth + 1}. {hash}
                  </span>
                ))}
              </Stack>,
            ],
            ['Verify with', <CopyValue key="verify" value="npx probity verify proof FILE" name="the command" />],
          ]}
        />
      </Section>
    </>
  )
}
