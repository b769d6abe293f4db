/** The versions of a definition along a line, newest above: what each changed, and what can be done with it. */
import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '../../session/client.ts'
import { useMay } from '../../session/queries.ts'
import { StateBadge } from '../badges.tsx'
import { useChange } from '../change.ts'
import { CopyValue } from '../copy-value.tsx'
import {
  type DefinitionVersion,
  type DefinitionView,
  type Kind,
  named,
  operation,
  pathFor,
  timelineQuery,
} from '../decision/kind.ts'
import { ConfirmDialog } from '../dialog.tsx'
import { DifferenceCounts } from '../difference-counts.tsx'
import { ListSkeleton, usePages } from '../list.tsx'
import { Nothing } from '../plain-table.tsx'
import { Principal } from '../principal.tsx'
import type { Way } from '../put-in-force.tsx'
import { SearchButton } from '../search-link.tsx'
import { Section } from '../section.tsx'
import { At, useNow } from '../when.tsx'
import { PutInForce } from './put-in-force.tsx'

interface VersionsTabProps {
  readonly kind: Kind
  readonly definition_key: string
  readonly of: DefinitionView
}

export function VersionsTab({ kind, definition_key, of }: VersionsTabProps) {
  const list = usePages<DefinitionVersion>(['definitions', kind.family, 'versions', definition_key], (cursor, signal) =>
    probity.GET(pathFor(kind, '/api/risk-matrices/{matrix_key}/versions'), {
      params: { path: named(kind, definition_key), query: { ...cursor, limit: 50 } },
      signal,
    }),
  )
  if (list.data === undefined) return <ListSkeleton />
  const versions = list.data.pages.flatMap(({ items }) => items)
  return (
    <Stack gap="md">
      <InForceSpans kind={kind} definition_key={definition_key} of={of} />
      {versions.length === 0 ? (
        <Nothing>No version yet. Publish the draft to make the first one.</Nothing>
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

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

function InForceSpans({ kind, definition_key, of }: VersionsTabProps) {
  const scope = of.origin === 'shared' ? 'shared' : 'own'
  const { data } = useSuspenseQuery(timelineQuery(kind, definition_key, scope))
  const now_ms = useNow()
  const may = useMay()
  const [chosen, setChosen] = useState<{ version: number | null; activation_id: string } | null>(null)
  if (data.in_force.length === 0) return null
  return (
    <Section title="What decided when">
      <ol className="spans plain-list" aria-label="Spans of time, oldest first">
        {data.in_force.map(({ version, from, until, activation_id }) => {
          const isNow = Date.parse(from) <= now_ms && (until === null || Date.parse(until) > now_ms)
          return (
            <li className="span" key={`${activation_id} ${from}`} data-now={isNow} data-empty={version === null}>
              <Text size="sm" fw={650}>
                {version === null ? 'none' : `Version ${version}`}
                {isNow && <span className="quiet"> now</span>}
                {Date.parse(from) > now_ms && <span className="quiet"> scheduled</span>}
              </Text>
              {day.format(new Date(from))} – {until === null ? 'further notice' : day.format(new Date(until))}
              {scope === 'own' && Date.parse(from) > now_ms && may(operation(kind, 'delete', 'Activation')) && (
                <Button
                  size="compact-xs"
                  variant="default"
                  display="block"
                  mt={4}
                  onClick={() => setChosen({ version, activation_id })}
                >
                  Cancel it<span className="sr-only">: version {version}</span>
                </Button>
              )}
            </li>
          )
        })}
      </ol>
      {chosen && (
        <CancelActivation {...chosen} kind={kind} definition_key={definition_key} onClose={() => setChosen(null)} />
      )}
    </Section>
  )
}

interface CancelActivationProps extends Pick<VersionsTabProps, 'kind' | 'definition_key'> {
  readonly version: number | null
  readonly activation_id: string
  readonly onClose: () => void
}

function CancelActivation({ kind, definition_key, version, activation_id, onClose }: CancelActivationProps) {
  const cancel = useChange(
    () =>
      probity.DELETE(pathFor(kind, '/api/risk-matrices/{matrix_key}/activations/{activation_id}'), {
        params: { path: { ...named(kind, definition_key), activation_id } },
      }),
    { touches: ['definitions'], done: 'Cancelled: it will not come into force', onDone: onClose },
  )
  return (
    <ConfirmDialog
      title={`Cancel the activation of version ${version}?`}
      isOpen
      onClose={onClose}
      onConfirm={() => cancel.run(undefined)}
      confirm="Cancel the activation"
      change={cancel}
      isDangerous
    >
      It has not happened yet and will not. What is in force now stays so; the record keeps both.
    </ConfirmDialog>
  )
}

interface VersionProps extends VersionsTabProps {
  readonly version: DefinitionVersion
}

function Version({ kind, definition_key, of, version }: VersionProps) {
  const may = useMay()
  const [way, setWay] = useState<Way | null>(null)
  const { version: number } = version
  const isInForce = of.active?.version === number
  const canGovern = of.origin === 'own' && of.state === 'live' && version.state !== 'withdrawn' && !isInForce
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
            {version.state !== 'published' && <StateBadge state={version.state} />}
            {number > 1 && version.difference && <DifferenceCounts of={version.difference} />}
          </Group>
          <Text size="xs" c="dimmed" component="div">
            <At at={version.created_at} />, by <Principal of={version.created_by} />
          </Text>
          {version.note && <Text size="sm">“{version.note}”</Text>}
          <CopyValue value={version.content_hash.slice(0, 16)} name="the beginning of the content hash" />
        </Stack>
        <Group gap="xs" align="flex-start">
          {number > 1 && (
            <SearchButton
              to={`${kind.place}/${definition_key}/diff`}
              search={{ from: number - 1, to: number }}
              size="xs"
              variant="default"
            >
              What changed<span className="sr-only"> in version {number}</span>
            </SearchButton>
          )}
          <SearchButton
            to={`${kind.place}/${definition_key}`}
            search={{ tab: 'reading', version: number }}
            size="xs"
            variant="default"
          >
            Read<span className="sr-only"> version {number}</span>
          </SearchButton>
          {canGovern && may(operation(kind, 'activate', 'Version')) && (
            <>
              <Button size="xs" variant="default" onClick={() => setWay('later')}>
                Schedule<span className="sr-only"> version {number}</span>
              </Button>
              <Button size="xs" onClick={() => setWay('now')}>
                Put in force<span className="sr-only">: version {number}</span>
              </Button>
            </>
          )}
          {canGovern && !may(operation(kind, 'activate', 'Version')) && may(operation(kind, 'submit', 'Version')) && (
            <Button size="xs" onClick={() => setWay('submit')}>
              Ask for it<span className="sr-only"> to be put in force: version {number}</span>
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
