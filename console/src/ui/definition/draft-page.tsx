/** The draft of a definition: edit, save, validate, simulate and publish. */
import { Alert, Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '../api-mutation.ts'
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
import { type Definition, parseDefinition } from '../decision/definition-model.ts'
import { Findings } from '../decision/findings.tsx'
import { ConfirmDialog, FormDialog } from '../dialog.tsx'
import { Icon } from '../icons.tsx'
import { PageLink } from '../link.tsx'
import { Page } from '../page.tsx'
import { ProblemNote } from '../problem-note.tsx'
import { ReasonField } from '../reason-field.tsx'
import { SearchButton, SearchLink } from '../search-link.tsx'
import { toAnchorId } from './editor/anchor.ts'
import { DraftParts } from './editor/draft-parts.tsx'
import { FactorsView } from './factors-view.tsx'

export function DraftPage({ kind }: { readonly kind: DefinitionKind }) {
  const { key: definition_key = '' } = useParams({ strict: false }) as { key?: string }
  const { data: of } = useSuspenseQuery(definitionQuery(kind, definition_key, 'own'))
  const { data: text } = useSuspenseQuery(textQuery(kind, definition_key, 'draft', 'own'))
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
          {text.based_on === null ? 'First version.' : `Based on version ${text.based_on}.`} Last changed{' '}
          <RelativeTime at={of.draft?.updated_at ?? text.created_at} />. A draft has no effect until it is published and
          put in force.
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
      <Editor key={definition_key} kind={kind} definition_key={definition_key} text={text} />
    </Page>
  )
}

interface EditorProps {
  readonly kind: DefinitionKind
  readonly definition_key: string
  readonly text: DefinitionText
}

/** Scrolls to the innermost element on the page for a pointer. */
function scrollToPointer(pointer: string): void {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = document.getElementById(toAnchorId(at))
    if (!place) continue
    for (const fold of [place.closest('details'), place.querySelector('details')]) if (fold) fold.open = true
    place.scrollIntoView({ block: 'center' })
    const wrong = place.querySelector<HTMLElement>('[aria-invalid=true]')
    const field = wrong ?? place.querySelector<HTMLElement>('input, textarea') ?? place
    field.focus({ preventScroll: true })
    return
  }
}

/** The edited draft, the stored draft and its findings. */
function useDraft({ kind, definition_key, text }: EditorProps) {
  const queries = useQueryClient()
  const [draft, setDraft] = useState<Definition>(() => parseDefinition(text.definition))
  const [base, setBase] = useState({ revision: text.revision, text: JSON.stringify(draft) })
  const [findings, setFindings] = useState<readonly Finding[]>(text.findings ?? [])
  const [isProved, setProved] = useState(false)
  const isChanged = JSON.stringify(draft) !== base.text
  const path = { ...toPathParams(kind, definition_key), version: 'draft' as const }
  const save = useApiMutation(
    () =>
      probity.PUT(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}'), {
        params: { path },
        body: { definition: { ...draft }, expected_revision: base.revision },
      }),
    {
      invalidates: [],
      successMessage: ({ findings: found }) => ((found ?? []).length === 0 ? 'Saved without findings' : 'Saved'),
      onDone: (saved) => {
        queries.setQueryData(textQuery(kind, definition_key, 'draft', 'own').queryKey, saved)
        queries.invalidateQueries({ queryKey: definitionQuery(kind, definition_key, 'own').queryKey })
        setBase({ revision: saved.revision, text: JSON.stringify(draft) })
        setFindings(saved.findings ?? [])
        setProved(false)
      },
    },
  )
  const validate = useApiMutation(
    () =>
      probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}/validate'), {
        params: { path },
      }),
    {
      invalidates: [],
      onDone: (verdict) => {
        setFindings(verdict.findings)
        setProved(verdict.valid)
      },
    },
  )
  return { draft, setDraft, revision: base.revision, findings, isChanged, isProved, save, validate }
}

function Editor({ kind, definition_key, text }: EditorProps) {
  const may = usePermission()
  const navigate = useNavigate()
  const { draft, setDraft, revision, findings, isChanged, isProved, save, validate } = useDraft({
    kind,
    definition_key,
    text,
  })
  const canEdit = may(toOperationId(kind, 'update', 'Draft'))
  const tryInputs = useCallback(
    (inputs: Readonly<Record<string, unknown>>) =>
      navigate({
        to: `${kind.basePath}/${definition_key}`,
        search: { tab: 'simulate', version: 'draft', origin: 'own', inputs: JSON.stringify(inputs) },
      }),
    [navigate, kind.basePath, definition_key],
  )
  return (
    <Stack gap="md">
      <Group gap="xs" className="draft-bar">
        {canEdit && (
          <Button loading={save.isRunning} disabled={!isChanged} onClick={() => save.run(undefined)}>
            Save
          </Button>
        )}
        {may(toOperationId(kind, 'validate', 'Version')) && (
          <Button
            variant="default"
            disabled={isChanged}
            loading={validate.isRunning}
            onClick={() => validate.run(undefined)}
          >
            Validate
          </Button>
        )}
        <SearchButton
          to={`${kind.basePath}/${definition_key}`}
          search={{ tab: 'simulate', version: 'draft', origin: 'own' }}
          variant="default"
        >
          Simulate
        </SearchButton>
        {may(toOperationId(kind, 'publish', 'Draft')) && (
          <Publish kind={kind} definition_key={definition_key} revision={revision} isOff={isChanged} />
        )}
        {may(toOperationId(kind, 'delete', 'Draft')) && <DiscardDraft kind={kind} definition_key={definition_key} />}
        <Text size="sm" c="dimmed" role="status">
          {canEdit ? (isChanged ? 'Unsaved changes' : 'All changes saved') : 'Policy editors can edit the draft.'}
        </Text>
      </Group>
      <ProblemNote problem={save.problem ?? validate.problem} onReload={() => window.location.reload()} />
      {isProved && !isChanged && findings.length === 0 && (
        <Alert color="teal" icon={<Icon name="check" />} title="Valid" role="status">
          <Text size="sm">
            Every input combination has exactly one result, and all golden cases pass with the lists in force.
          </Text>
        </Alert>
      )}
      <Findings findings={findings} title="Findings" onShow={scrollToPointer} onTry={tryInputs} />
      {canEdit ? (
        <DraftParts kind={kind} draft={draft} findings={findings} onEdit={setDraft} onTry={tryInputs} />
      ) : (
        <FactorsView definition={draft} />
      )}
    </Stack>
  )
}

interface PublishProps {
  readonly kind: DefinitionKind
  readonly definition_key: string
  readonly revision: number
  readonly isOff: boolean
}

/** Leaves for the page of the definition and removes the queries of the deleted draft. */
function useLeaveDraft(kind: DefinitionKind, definition_key: string): (search: object) => Promise<void> {
  const navigate = useNavigate()
  const queries = useQueryClient()
  return async (search) => {
    queries.removeQueries({ queryKey: definitionQuery(kind, definition_key, 'own').queryKey })
    await navigate({ to: `${kind.basePath}/${definition_key}`, search: { ...search, origin: 'own' } })
    queries.removeQueries({ queryKey: textQuery(kind, definition_key, 'draft', 'own').queryKey })
    await queries.invalidateQueries({ queryKey: ['definitions'] })
  }
}

function Publish({ kind, definition_key, revision, isOff }: PublishProps) {
  const leave = useLeaveDraft(kind, definition_key)
  const [isOpen, dialog] = useDisclosure(false)
  const [order, setOrder] = useState({ label: '', note: '' })
  const publish = useApiMutation(
    () =>
      probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}/publish'), {
        params: { path: { ...toPathParams(kind, definition_key), version: 'draft' } },
        body: {
          expected_revision: revision,
          ...(order.label !== '' && { label: order.label }),
          ...(order.note !== '' && { note: order.note }),
        },
      }),
    {
      invalidates: [],
      successMessage: ({ version }) => `Published as version ${version}`,
      onDone: () => leave({ tab: 'versions' }),
    },
  )
  return (
    <>
      <Button variant="light" disabled={isOff} onClick={dialog.open}>
        Publish
      </Button>
      <FormDialog
        title="Publish draft"
        isOpen={isOpen}
        onClose={() => {
          publish.reset()
          dialog.close()
        }}
        onSubmit={() => publish.run(undefined)}
        submit="Validate and publish"
        change={publish}
      >
        <Text size="sm">
          The draft is validated against the lists in force and its golden cases. Publishing does not put the version in
          force.
        </Text>
        <TextInput
          label="Label"
          placeholder="2026-q4"
          maxLength={100}
          value={order.label}
          onChange={(event) => setOrder({ ...order, label: event.currentTarget.value })}
        />
        <ReasonField
          isFirst
          isRequired={false}
          label="Summary of changes"
          value={order.note}
          onChange={(note) => setOrder({ ...order, note })}
        />
      </FormDialog>
    </>
  )
}

function DiscardDraft({ kind, definition_key }: { readonly kind: DefinitionKind; readonly definition_key: string }) {
  const leave = useLeaveDraft(kind, definition_key)
  const [isOpen, dialog] = useDisclosure(false)
  const remove = useApiMutation(
    () =>
      probity.DELETE(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}'), {
        params: { path: { ...toPathParams(kind, definition_key), version: 'draft' } },
      }),
    {
      invalidates: [],
      successMessage: 'Draft discarded',
      onDone: () => leave({}),
    },
  )
  return (
    <>
      <Button variant="subtle" color="red" onClick={dialog.open}>
        Discard draft
      </Button>
      <ConfirmDialog
        title="Discard the draft?"
        isOpen={isOpen}
        onClose={dialog.close}
        onConfirm={() => remove.run(undefined)}
        confirm="Discard draft"
        change={remove}
        isDangerous
      >
        Published versions and the version in force are not affected.
      </ConfirmDialog>
    </>
  )
}
