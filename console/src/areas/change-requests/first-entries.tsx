/** The entries that the first version of a list would bring into force: how many, the first ones by name, and a link to all. */
import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { formatCount } from '#console/ui/format.ts'
import type { OwnedVersion } from '#console/ui/origin.ts'
import { datasetQuery } from '#console/ui/registry-queries.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { getEntryName } from '#console/ui/type-texts.ts'

const MAX_NAMED = 8

interface FirstEntriesProps {
  readonly list_key: string
  readonly of: OwnedVersion
}

export function FirstEntries({ list_key, of: { version, origin } }: FirstEntriesProps) {
  const may = usePermission()
  const { data: dataset } = useQuery({ ...datasetQuery(list_key, origin), throwOnError: false })
  const { data: first } = useQuery({
    queryKey: ['datasets', 'first-entries', list_key, origin, version],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/datasets/{list_key}/versions/{version}/entries', {
        params: { path: { list_key, version: String(version) }, query: { origin, limit: MAX_NAMED } },
        signal,
      }),
    enabled: may('listDatasetEntries'),
    staleTime: Number.POSITIVE_INFINITY,
    throwOnError: false,
  })
  const count = dataset?.versions.find((one) => one.version === version)?.entry_count
  if (count === undefined || first === undefined) return null
  return (
    <Stack gap={6}>
      <Group gap="sm">
        <Text size="sm" fw={600}>
          {formatCount(count, 'entry', 'entries')}
        </Text>
        <SearchLink to={`/datasets/${list_key}`} search={{ tab: 'entries', version, origin }} size="sm">
          All entries of version {version}
        </SearchLink>
      </Group>
      <ul className="plain-list" aria-label="First entries">
        {first.items.map(({ key, entry }) => (
          <li key={key}>
            <Text size="sm" className="break">
              {getEntryName(entry) ?? key} {getEntryName(entry) && <span className="quiet mono">{key}</span>}
            </Text>
          </li>
        ))}
      </ul>
      {count > first.items.length && (
        <Text size="sm" c="dimmed">
          and {formatCount(count - first.items.length, 'more entry', 'more entries')}.
        </Text>
      )}
    </Stack>
  )
}
