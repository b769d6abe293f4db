/** What putting a version of a definition in the place of the one in force changes, part by part, before anybody confirms it. */
import { Alert, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { decidingVersion, definitionQuery, differenceQuery, type Kind } from '../decision/kind.ts'
import { DifferenceCounts, signs } from '../difference-counts.tsx'
import { isSameVersion, type OwnedVersion, rangeQuery, versionWords } from '../origin.ts'
import { SearchLink } from '../search-link.tsx'
import { partWords } from './part-words.ts'

interface WhatChangesProps {
  readonly kind: Kind
  readonly definition_key: string
  readonly to: OwnedVersion
}

/** What is in force is asked for by key alone: it may be of the other owner. */
export function WhatChanges({ kind, definition_key, to }: WhatChangesProps) {
  const { data: of } = useQuery({ ...definitionQuery(kind, definition_key), throwOnError: false })
  if (of === undefined) return <Skeleton height={80} />
  const from = decidingVersion(of)
  const title =
    from === null ? 'What will change' : `What will change: ${versionWords(from, to)} → ${versionWords(to, from)}`
  return (
    <Alert color="cyan" title={title} role="status">
      {from === null ? (
        <Text size="sm">Nothing is in force yet: version {to.version} begins to decide.</Text>
      ) : isSameVersion(from, to) ? (
        <Text size="sm">It is in force already: nothing.</Text>
      ) : (
        <Between kind={kind} definition_key={definition_key} from={from} to={to} />
      )}
    </Alert>
  )
}

function Between({ kind, definition_key, from, to }: WhatChangesProps & { readonly from: OwnedVersion }) {
  const { data } = useQuery({ ...differenceQuery(kind, definition_key, from, to), throwOnError: false })
  if (!data?.summary) return <Skeleton height={44} />
  return (
    <Stack gap={6}>
      <DifferenceCounts of={data.summary} />
      <ul className="plain-list">
        {data.items.slice(0, 8).map((item) => (
          <li key={item.key}>
            <Text size="sm">
              <b aria-hidden="true">{signs[item.op]}</b> <span className="sr-only">{item.op}:</span> {partWords(item)}
            </Text>
          </li>
        ))}
      </ul>
      <SearchLink to={`${kind.place}/${definition_key}/diff`} search={rangeQuery(from, to)} size="xs">
        See every change
      </SearchLink>
    </Stack>
  )
}
