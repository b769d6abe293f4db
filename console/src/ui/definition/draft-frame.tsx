/** What the draft pages of all kinds of definition share: the page around the draft, the stored draft, and the bar of actions. */
import { Badge, Button, Group, Text } from '@mantine/core'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { type ApiMutation, useApiMutation } from '../api-mutation.ts'
import { RelativeTime } from '../date-time.tsx'
import {
  type DefinitionKind,
  type DefinitionText,
  definitionQuery,
  type Finding,
  textQuery,
  toApiPath,
  toOperationId,
  toPathParams,
} from '../decision/definition-kind.ts'
import { PageLink } from '../link.tsx'
import { Page } from '../page.tsx'
import { SearchLink } from '../search-link.tsx'
import { DiscardDraft, Publish } from './draft-actions.tsx'

interface DraftFrameProps {
  readonly kind: DefinitionKind
  readonly children: (definition_key: string, stored: DefinitionText) => ReactNode
}

export function DraftFrame({ kind, children }: DraftFrameProps) {
  const { key: definition_key = '' } = useParams({ strict: false }) as { key?: string }
  const { data: of } = useSuspenseQuery(definitionQuery(kind, definition_key, 'own'))
  const { data: stored } = useSuspenseQuery(textQuery(kind, definition_key, 'draft', 'own'))
  return (
    <Page
      title={`Draft of ${of.title}`}
      mark={
        <Badge variant="light" tt="none" miw="max-content">
          draft
        </Badge>
      }
      about={
        <>
          {stored.based_on === null ? 'First version.' : `Based on version ${stored.based_on}.`} Last changed{' '}
          <RelativeTime at={of.draft?.updated_at ?? stored.created_at} />. A draft has no effect until it is published
          and put in force.
        </>
      }
      trail={
        <>
          <PageLink to={kind.basePath} inherit>
            {kind.title}
          </PageLink>{' '}
          /{' '}
          <SearchLink to={`${kind.basePath}/${definition_key}`} search={{ origin: 'own' }} inherit>
            {of.title}
          </SearchLink>
        </>
      }
    >
      {children(definition_key, stored)}
    </Page>
  )
}

interface StoredDraftOptions<Draft> {
  readonly kind: DefinitionKind
  readonly definition_key: string
  readonly stored: DefinitionText
  readonly parse: (definition: DefinitionText['definition']) => Draft
  /** The definition to store; null while the draft is not one, such as text that is not JSON. */
  readonly toDefinition: (draft: Draft) => object | null
}

/** The edited draft, the stored draft and its findings. */
export function useStoredDraft<Draft>({
  kind,
  definition_key,
  stored,
  parse,
  toDefinition,
}: StoredDraftOptions<Draft>) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState<Draft>(() => parse(stored.definition))
  const [base, setBase] = useState({ revision: stored.revision, text: JSON.stringify(draft) })
  const [findings, setFindings] = useState<readonly Finding[]>(stored.findings ?? [])
  const store = async () => {
    const saved = await probity.PUT(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}'), {
      params: { path: { ...toPathParams(kind, definition_key), version: 'draft' } },
      body: { definition: { ...toDefinition(draft) }, expected_revision: base.revision },
    })
    queries.setQueryData(textQuery(kind, definition_key, 'draft', 'own').queryKey, saved)
    queries.invalidateQueries({ queryKey: definitionQuery(kind, definition_key, 'own').queryKey })
    setBase({ revision: saved.revision, text: JSON.stringify(draft) })
    setFindings(saved.findings ?? [])
    return saved
  }
  const save = useApiMutation(store, {
    invalidates: [],
    successMessage: ({ findings: found }) => ((found ?? []).length === 0 ? 'Saved without findings' : 'Saved'),
  })
  const isChanged = JSON.stringify(draft) !== base.text
  return { draft, setDraft, revision: base.revision, findings, setFindings, isChanged, save, store }
}

interface DraftBarProps {
  readonly kind: DefinitionKind
  readonly definition_key: string
  readonly draft: {
    readonly revision: number
    readonly isChanged: boolean
    readonly save: Pick<ApiMutation<undefined>, 'isRunning' | 'run'>
  }
  readonly canSave?: boolean
  readonly canPublish?: boolean
  /** What publishing checks. */
  readonly publishing: string
  /** What does not hinder publishing, shown in its dialog. */
  readonly warnings?: ReactNode
  /** Actions between saving and publishing. */
  readonly children?: ReactNode
}

export function DraftBar({
  kind,
  definition_key,
  draft: { revision, isChanged, save },
  canSave = true,
  canPublish = true,
  publishing,
  warnings,
  children,
}: DraftBarProps) {
  const may = usePermission()
  const canEdit = may(toOperationId(kind, 'update', 'Draft'))
  return (
    <Group gap="xs" className="draft-bar">
      {canEdit && (
        <Button loading={save.isRunning} disabled={!isChanged || !canSave} onClick={() => save.run(undefined)}>
          Save
        </Button>
      )}
      {children}
      {may(toOperationId(kind, 'publish', 'Draft')) && (
        <Publish {...{ kind, definition_key, revision, publishing, warnings }} isOff={isChanged || !canPublish} />
      )}
      {may(toOperationId(kind, 'delete', 'Draft')) && <DiscardDraft kind={kind} definition_key={definition_key} />}
      <Text size="sm" c="dimmed" role="status">
        {canEdit ? (isChanged ? 'Unsaved changes' : 'All changes saved') : 'Policy editors can edit the draft.'}
      </Text>
    </Group>
  )
}
