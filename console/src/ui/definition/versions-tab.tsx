/** The versions of a definition, newest first, with their changes and actions. */
import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { StateBadge } from '../badges.tsx'
import { OpenActivationNote, useOpenActivation } from '../change-request/open-activation.tsx'
import { CopyValue } from '../copy-value.tsx'
import { DateTime } from '../date-time.tsx'
import {
  type DefinitionKind,
  type DefinitionVersion,
  type DefinitionView,
  toApiPath,
  toOperationId,
  toPathParams,
} from '../decision/definition-kind.ts'
import { DifferenceCounts } from '../difference-counts.tsx'
import { EmptyState } from '../empty-state.tsx'
import { ButtonLink } from '../link.tsx'
import { ListSkeleton, usePages } from '../list.tsx'
import { Principal } from '../principal.tsx'
import type { ActivationMode } from '../put-in-force.tsx'
import { SearchButton } from '../search-link.tsx'
import { PinnedMark } from '../why-in-force.tsx'
import { InForcePeriods } from './in-force-periods.tsx'
import { PutInForce } from './put-in-force.tsx'

interface VersionsTabProps {
  readonly kind: DefinitionKind
  readonly definition_key: string
  readonly of: DefinitionView
}

export function VersionsTab({ kind, definition_key, of }: VersionsTabProps) {
  const list = usePages<DefinitionVersion>(
    ['definitions', kind.family, 'versions', definition_key, of.origin],
    (cursor, signal) =>
      probity.GET(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions'), {
        params: { path: toPathParams(kind, definition_key), query: { ...cursor, origin: of.origin, limit: 50 } },
        signal,
      }),
  )
  if (list.data === undefined) return <ListSkeleton />
  const versions = list.data.pages.flatMap(({ items }) => items)
  return (
    <Stack gap="md">
      <InForcePeriods kind={kind} definition_key={definition_key} of={of} />
      {versions.length === 0 ? (
        <EmptyState
          title="No version yet"
          about={`Versions are published drafts of this ${kind.word}. Publish the draft to create the first one.`}
          action={
            of.draft !== null && (
              <ButtonLink to={`${kind.basePath}/${definition_key}/draft`} size="xs">
                Open draft
              </ButtonLink>
            )
          }
        />
      ) : (
        <ol className="timeline" aria-label="Versions, newest first">
          {versions.map((version) => (
            <Version key={version.version} kind={kind} definition_key={definition_key} of={of} version={version} />
          ))}
        </ol>
      )}
      {list.hasNextPage && (
        <Button size="xs" variant="default" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
          Load more
        </Button>
      )}
    </Stack>
  )
}

interface VersionProps extends VersionsTabProps {
  readonly version: DefinitionVersion
}

function Version({ kind, definition_key, of, version }: VersionProps) {
  const may = usePermission()
  const [way, setWay] = useState<ActivationMode | null>(null)
  const { version: number } = version
  const isInForce = of.active?.version === number
  const isActivatable = of.origin === 'own' && of.state === 'live' && version.state !== 'withdrawn' && !isInForce
  const open = useOpenActivation({ param: kind.param, key: definition_key, version: number })
  const canActivate = isActivatable && open === null
  return (
    <li data-in-force={isInForce} aria-label={`Version ${number}`}>
      <div className="version">
        <Stack gap={4} miw={0}>
          <Group gap="xs">
            <Text fw={650}>
              Version {number}
              {version.label && <span className="quiet"> {version.label}</span>}
            </Text>
            {isInForce && (
              <Badge variant="light" color="teal" tt="none">
                in force
              </Badge>
            )}
            {isInForce && <PinnedMark of={of} />}
            {version.state !== 'published' && <StateBadge state={version.state} />}
            {number > 1 && version.difference && <DifferenceCounts of={version.difference} />}
          </Group>
          <Text size="xs" c="dimmed" component="div">
            <DateTime at={version.created_at} />, by <Principal of={version.created_by} />
          </Text>
          {version.note && <Text size="sm">“{version.note}”</Text>}
          <CopyValue value={version.content_hash.slice(0, 16)} name="the beginning of the content hash" />
        </Stack>
        <Group gap="xs" align="flex-start">
          {number > 1 && (
            <SearchButton
              to={`${kind.basePath}/${definition_key}/diff`}
              search={{ from: number - 1, to: number, origin: of.origin }}
              size="xs"
              variant="default"
            >
              Changes<span className="sr-only"> in version {number}</span>
            </SearchButton>
          )}
          <SearchButton
            to={`${kind.basePath}/${definition_key}`}
            search={{ tab: 'reading', version: number, origin: of.origin }}
            size="xs"
            variant="default"
          >
            View<span className="sr-only"> version {number}</span>
          </SearchButton>
          {isActivatable && open !== null && <OpenActivationNote request={open} version={number} />}
          {canActivate && may(toOperationId(kind, 'activate', 'Version')) && (
            <>
              <Button size="xs" variant="default" onClick={() => setWay('later')}>
                Schedule<span className="sr-only"> version {number}</span>
              </Button>
              <Button size="xs" onClick={() => setWay('now')}>
                Put in force<span className="sr-only">: version {number}</span>
              </Button>
            </>
          )}
          {canActivate &&
            !may(toOperationId(kind, 'activate', 'Version')) &&
            may(toOperationId(kind, 'submit', 'Version')) && (
              <Button size="xs" onClick={() => setWay('submit')}>
                Request activation<span className="sr-only"> of version {number}</span>
              </Button>
            )}
        </Group>
      </div>
      <PutInForce
        key={`${way}`}
        kind={kind}
        definition_key={definition_key}
        of={of}
        version={number}
        way={way}
        onClose={() => setWay(null)}
      />
    </li>
  )
}
