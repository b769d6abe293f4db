/** All matrices or all rules with the version in force, draft and status. */
import { Badge, Button, Group, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime, useNow } from '../date-time.tsx'
import {
  type DefinitionItem,
  type DefinitionKind,
  type DefinitionView,
  definitionsQuery,
  getDefinitionKey,
  toOperationId,
} from '../decision/definition-kind.ts'
import { EmptyState } from '../empty-state.tsx'
import { Filter, useFilter, useSetFilter } from '../filters.tsx'
import { formatCount } from '../format.ts'
import { PageLink } from '../link.tsx'
import { Page } from '../page.tsx'
import { PlainTable } from '../plain-table.tsx'
import { SearchLink } from '../search-link.tsx'
import { PinnedMark } from '../why-in-force.tsx'
import { NewDefinition } from './new-definition.tsx'

const origins = ['own', 'shared'] as const

const emptyTexts = {
  matrix:
    'A matrix rates customers: factors, weights and bands. A policy editor creates one, or copies one that the operator shares.',
  rule: 'A rule is a decision table that returns hit or no hit. A policy editor creates one, imports one, or copies a shared one.',
} as const

interface DefinitionsPageProps {
  readonly kind: DefinitionKind
  readonly about: string
  readonly actions?: ReactNode
}

export function DefinitionsPage({ kind, about, actions }: DefinitionsPageProps) {
  const may = usePermission()
  const [isMaking, making] = useDisclosure(false)
  const { data: all } = useSuspenseQuery({ ...definitionsQuery(kind), refetchInterval: 30_000 })
  const { find = '' } = useSearch({ strict: false }) as { find?: string | number }
  const setFilter = useSetFilter()
  const origin = useFilter('origin', origins)
  const wanted = String(find).toLowerCase()
  const matching = all.filter(
    (one) =>
      (origin === undefined || one.origin === origin) &&
      [getDefinitionKey(one), one.title, one.owner ?? '', ...one.subject_types, ...one.typologies].some((text) =>
        text.toLowerCase().includes(wanted),
      ),
  )
  const isReplaced = (one: DefinitionItem): boolean =>
    one.origin === 'shared' &&
    all.some(
      (other) => other.origin === 'own' && other.active !== null && getDefinitionKey(other) === getDefinitionKey(one),
    )
  return (
    <Page
      title={kind.title}
      about={about}
      actions={
        <>
          {actions}
          {may(toOperationId(kind, 'create')) && <Button onClick={making.open}>New {kind.word}</Button>}
        </>
      }
    >
      <Group gap="xs" mb="sm">
        <TextInput
          size="xs"
          w={240}
          type="search"
          aria-label={`Search ${kind.words}`}
          placeholder="Search by name, owner or purpose"
          value={String(find)}
          onChange={(event) => setFilter('find', event.currentTarget.value || null)}
        />
        <Filter name="origin" label="Owner" values={origins} everything="Own and shared" />
      </Group>
      {matching.length === 0 ? (
        <EmptyState
          title={`No ${kind.words} yet`}
          about={emptyTexts[kind.family]}
          filters={['find', 'origin']}
          action={
            may(toOperationId(kind, 'create')) && (
              <Button size="xs" onClick={making.open}>
                New {kind.word}
              </Button>
            )
          }
        />
      ) : (
        <Stack gap="xs">
          <PlainTable
            label={kind.title}
            empty={null}
            head={[
              { name: kind.family === 'matrix' ? 'Matrix' : 'Rule' },
              { name: 'In force' },
              { name: 'Draft', from: 'sm' },
              { name: 'Status' },
              { name: 'Scheduled', from: 'md' },
              { name: 'Applies to', from: 'lg' },
            ]}
          >
            {matching.map((one) => (
              <Row key={`${one.origin} ${getDefinitionKey(one)}`} kind={kind} one={one} isReplaced={isReplaced(one)} />
            ))}
          </PlainTable>
          <Text size="xs" c="dimmed" role="status">
            {formatCount(matching.length, kind.word, kind.words)} of {all.length}
          </Text>
        </Stack>
      )}
      <NewDefinition kind={kind} all={all} isOpen={isMaking} onClose={making.close} />
    </Page>
  )
}

interface RowProps {
  readonly kind: DefinitionKind
  readonly one: DefinitionItem
  /** True for a shared definition if one of this tenant with the same key is in force. */
  readonly isReplaced: boolean
}

function Row({ kind, one, isReplaced }: RowProps) {
  const next = one.pending[0]
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={8}>
          <SearchLink
            to={`${kind.basePath}/${getDefinitionKey(one)}`}
            search={{ origin: one.origin }}
            fw={500}
            size="sm"
          >
            {one.title}
          </SearchLink>
          {one.origin === 'shared' && <SharedMark />}
          <PinnedMark of={one} />
        </Group>
        <Text size="xs" c="dimmed" className="mono">
          {getDefinitionKey(one)}
        </Text>
      </Table.Td>
      <Table.Td>
        {one.active === null ? (
          <span className="quiet">none</span>
        ) : (
          <span className="nowrap">version {one.active.version}</span>
        )}
        {one.active !== null && (
          <Text size="xs" c="dimmed">
            <RelativeTime at={one.active.effective_from} />
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {one.draft === null ? (
          <span className="quiet">–</span>
        ) : (
          <PageLink to={`${kind.basePath}/${getDefinitionKey(one)}/draft`} size="sm">
            {' '}
            edited <RelativeTime at={one.draft.updated_at} />
          </PageLink>
        )}
      </Table.Td>
      <Table.Td>{isReplaced ? <span className="quiet">replaced by own</span> : <AttentionMark of={one} />}</Table.Td>
      <Table.Td visibleFrom="md">
        {next === undefined ? (
          <span className="quiet">–</span>
        ) : (
          <span title={next.reason}>
            version {next.version} <RelativeTime at={next.effective_from} />
          </span>
        )}
      </Table.Td>
      <Table.Td visibleFrom="lg">
        {[...one.subject_types, ...one.typologies].join(', ') || <span className="quiet">–</span>}
      </Table.Td>
    </Table.Tr>
  )
}

export function SharedMark() {
  return (
    <Badge variant="default" tt="none" fw={500} miw="max-content">
      shared
    </Badge>
  )
}

/** Whether the version in force is stale, due for review or has findings. */
export function AttentionMark({ of }: { readonly of: DefinitionItem | DefinitionView }) {
  const now_ms = useNow()
  const mark = (color: string, words: string) => (
    <Badge variant="light" tt="none" miw="max-content" color={color}>
      {words}
    </Badge>
  )
  if (of.state === 'archived') return mark('gray', 'archived')
  if (of.active === null) return mark('gray', 'not in force')
  if ('attention' in of && of.attention.length > 0) return mark('red', 'has findings')
  if (of.stale_since !== null) return mark('red', 'stale')
  if (of.review_due_at !== null && Date.parse(of.review_due_at) < now_ms) return mark('orange', 'review due')
  return mark('teal', 'up to date')
}
