/** The draft of a definition: edit, save, validate, simulate and publish. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '../api-mutation.ts'
import {
  type DecisionKind,
  type DefinitionText,
  toApiPath,
  toOperationId,
  toPathParams,
} from '../decision/definition-kind.ts'
import { type Definition, parseDefinition } from '../decision/definition-model.ts'
import { Findings } from '../decision/findings.tsx'
import { Icon } from '../icons.tsx'
import { ProblemNote } from '../problem-note.tsx'
import { SearchButton } from '../search-link.tsx'
import { DraftBar, DraftFrame, useStoredDraft } from './draft-frame.tsx'
import { DraftParts } from './editor/draft-parts.tsx'
import { scrollToPointer } from './editor/scroll-to-pointer.ts'
import { FactorsView } from './factors-view.tsx'

export function DraftPage({ kind }: { readonly kind: DecisionKind }) {
  return (
    <DraftFrame kind={kind}>
      {(definition_key, stored) => (
        <Editor key={definition_key} kind={kind} definition_key={definition_key} stored={stored} />
      )}
    </DraftFrame>
  )
}

interface EditorProps {
  readonly kind: DecisionKind
  readonly definition_key: string
  readonly stored: DefinitionText
}

/** The draft with its validation: the stored text that was proved valid, if any. */
function useValidatedDraft(props: EditorProps) {
  const { kind, definition_key } = props
  const edited = useStoredDraft<Definition>({ ...props, parse: parseDefinition, toDefinition: (draft) => draft })
  const [proved_revision, setProvedRevision] = useState<number | null>(null)
  const validate = useApiMutation(
    () =>
      probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}/validate'), {
        params: { path: { ...toPathParams(kind, definition_key), version: 'draft' } },
      }),
    {
      invalidates: [],
      onDone: (verdict) => {
        edited.setFindings(verdict.findings)
        setProvedRevision(verdict.valid ? edited.revision : null)
      },
    },
  )
  return { ...edited, isProved: proved_revision === edited.revision, validate }
}

function Editor({ kind, definition_key, stored }: EditorProps) {
  const may = usePermission()
  const navigate = useNavigate()
  const edited = useValidatedDraft({ kind, definition_key, stored })
  const { draft, setDraft, findings, isChanged, isProved, save, validate } = edited
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
      <DraftBar
        kind={kind}
        definition_key={definition_key}
        draft={edited}
        publishing="The draft is validated against the lists in force and its golden cases."
      >
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
      </DraftBar>
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
