/** The changes that activating a version of a definition would make, shown before confirmation. */
import { Alert, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { differenceQuery, getActiveVersion, inForceQuery, type VersionedKind } from '../decision/definition-kind.ts'
import { DifferenceCounts, signs } from '../difference-counts.tsx'
import { formatVersion, isSameVersion, type OwnedVersion, toDiffParams } from '../origin.ts'
import { SearchLink } from '../search-link.tsx'
import { ContractEffect } from './contract-effect.tsx'
import { formatPart } from './format-part.ts'

interface ActivationDiffProps {
  readonly kind: VersionedKind
  readonly definition_key: string
  readonly to: OwnedVersion
}

/** Queried by key alone, because the version in force may belong to the other owner. */
export function ActivationDiff({ kind, definition_key, to }: ActivationDiffProps) {
  const { data: of } = useQuery({ ...inForceQuery(kind, definition_key), throwOnError: false })
  if (of === undefined) return <Skeleton height={80} />
  const from = getActiveVersion(of)
  const title = from === null ? 'Changes' : `Changes: ${formatVersion(from, to)} → ${formatVersion(to, from)}`
  return (
    <Alert color="cyan" title={title} role="status">
      {from === null ? (
        <Text size="sm">No version is in force yet: version {to.version} will be the first.</Text>
      ) : isSameVersion(from, to) ? (
        <Text size="sm">This version is already in force.</Text>
      ) : (
        <VersionDiff kind={kind} definition_key={definition_key} from={from} to={to} />
      )}
    </Alert>
  )
}

function VersionDiff({ kind, definition_key, from, to }: ActivationDiffProps & { readonly from: OwnedVersion }) {
  const { data } = useQuery({ ...differenceQuery(kind, definition_key, from, to), throwOnError: false })
  if (!data?.summary) return <Skeleton height={44} />
  return (
    <Stack gap={6}>
      <DifferenceCounts of={data.summary} />
      {kind.family === 'contract' && <ContractEffect of={data} />}
      <ul className="plain-list">
        {data.items.slice(0, 8).map((item) => (
          <li key={item.key}>
            <Text size="sm">
              <b aria-hidden="true">{signs[item.op]}</b> <span className="sr-only">{item.op}:</span> {formatPart(item)}
            </Text>
          </li>
        ))}
      </ul>
      <SearchLink to={`${kind.basePath}/${definition_key}/diff`} search={toDiffParams(from, to)} size="xs">
        View all changes
      </SearchLink>
    </Stack>
  )
}
