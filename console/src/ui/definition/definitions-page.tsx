/** All matrices, rules or playbooks with the version in force, draft and status. */
import { Button, Table } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useSuspenseQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '../date-time.tsx'
import {
  type DefinitionItem,
  definitionsQuery,
  getDefinitionKey,
  type ListedKind,
  toOperationId,
} from '../decision/definition-kind.ts'
import { Page } from '../page.tsx'
import { SearchableList } from '../searchable-list.tsx'
import { AttentionMark } from './definition-marks.tsx'
import { NewDefinition } from './new-definition.tsx'
import { ActiveVersion, DefinitionName, DraftLink } from './row-cells.tsx'

const emptyTexts = {
  matrix:
    'A matrix rates customers: factors, weights and bands. A policy editor creates one, or copies one that the operator shares.',
  rule: 'A rule is a decision table that returns hit or no hit. A policy editor creates one, imports one, or copies a shared one.',
  playbook:
    'A playbook says what an investigation gathers, by when, and how it may end. A policy editor creates one, or copies one that the operator shares.',
} as const

const columnNames = { matrix: 'Matrix', rule: 'Rule', playbook: 'Playbook' } as const

interface DefinitionsPageProps {
  readonly kind: ListedKind
  readonly about: string
  readonly actions?: ReactNode
}

export function DefinitionsPage({ kind, about, actions }: DefinitionsPageProps) {
  const may = usePermission()
  const [isMaking, making] = useDisclosure(false)
  const { data: all } = useSuspenseQuery({ ...definitionsQuery(kind), refetchInterval: 30_000 })
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
      <SearchableList
        {...kind}
        items={all}
        searchedBy="name, owner or purpose"
        toTexts={(one) => [
          getDefinitionKey(one),
          one.title,
          one.owner,
          ...(one.subject_types ?? []),
          ...(one.typologies ?? []),
        ]}
        head={[
          { name: columnNames[kind.family] },
          { name: 'In force' },
          { name: 'Draft', from: 'sm' },
          { name: 'Status' },
          { name: 'Scheduled', from: 'md' },
          ...(kind.family === 'playbook' ? [] : [{ name: 'Applies to', from: 'lg' } as const]),
        ]}
        empty={{
          title: `No ${kind.words} yet`,
          about: emptyTexts[kind.family],
          action: may(toOperationId(kind, 'create')) && (
            <Button size="xs" onClick={making.open}>
              New {kind.word}
            </Button>
          ),
        }}
      >
        {(one) => (
          <Row key={`${one.origin} ${getDefinitionKey(one)}`} kind={kind} one={one} isReplaced={isReplaced(one)} />
        )}
      </SearchableList>
      <NewDefinition kind={kind} all={all} isOpen={isMaking} onClose={making.close} />
    </Page>
  )
}

interface RowProps {
  readonly kind: ListedKind
  readonly one: DefinitionItem
  /** True for a shared definition if one of this tenant with the same key is in force. */
  readonly isReplaced: boolean
}

function Row({ kind, one, isReplaced }: RowProps) {
  const next = one.pending[0]
  return (
    <Table.Tr>
      <Table.Td>
        <DefinitionName kind={kind} of={one} />
      </Table.Td>
      <Table.Td>
        <ActiveVersion of={one} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <DraftLink kind={kind} of={one} />
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
      {kind.family !== 'playbook' && (
        <Table.Td visibleFrom="lg">
          {[...(one.subject_types ?? []), ...(one.typologies ?? [])].join(', ') || <span className="quiet">–</span>}
        </Table.Td>
      )}
    </Table.Tr>
  )
}
