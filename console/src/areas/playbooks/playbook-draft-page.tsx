/** The draft of a playbook: its text with findings, how it reads, saved and published. */
import { Alert, Stack, Text } from '@mantine/core'
import { usePermission } from '#console/session/queries.ts'
import { type DefinitionText, playbookKind } from '#console/ui/decision/definition-kind.ts'
import { Findings } from '#console/ui/decision/findings.tsx'
import { DraftBar, DraftFrame, useStoredDraft } from '#console/ui/definition/draft-frame.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { JsonEditor } from '#console/ui/json-editor.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { PlaybookGaps } from '#console/ui/provider/playbook-gaps.tsx'
import { findPlaybookFault, formatPlaybook, parsePlaybook, parsePlaybookText } from './playbook-model.ts'
import { PlaybookParts } from './playbook-view.tsx'

export default function PlaybookDraftPage() {
  return (
    <DraftFrame kind={playbookKind}>
      {(playbook_key, stored) => <Editor key={playbook_key} playbook_key={playbook_key} stored={stored} />}
    </DraftFrame>
  )
}

interface EditorProps {
  readonly playbook_key: string
  readonly stored: DefinitionText
}

function Editor({ playbook_key, stored }: EditorProps) {
  const may = usePermission()
  const isReadOnly = !may('updatePlaybookDraft')
  const edited = useStoredDraft({
    kind: playbookKind,
    definition_key: playbook_key,
    stored,
    parse: formatPlaybook,
    toDefinition: parsePlaybookText,
  })
  const { draft: text, setDraft: setText, isChanged, findings, save } = edited
  const definition = parsePlaybookText(text)
  const gaps = <PlaybookGaps playbook_key={playbook_key} version="draft" origin="own" revision={edited.revision} />
  return (
    <Stack gap="md">
      <DraftBar
        kind={playbookKind}
        definition_key={playbook_key}
        draft={edited}
        canSave={definition !== null}
        canPublish={findings.every(({ severity }) => severity !== 'error')}
        publishing="The playbook is checked against the providers, matrices and lists in force."
        warnings={gaps}
      />
      <ProblemNote problem={save.problem} onReload={() => window.location.reload()} />
      {gaps}
      {!isChanged && findings.length === 0 && (
        <Alert color="teal" icon={<Icon name="check" />} title="No findings" role="status">
          <Text size="sm">The playbook can be published.</Text>
        </Alert>
      )}
      <JsonEditor
        label="Playbook"
        description={isReadOnly ? 'As JSON.' : 'As JSON. Paste it, or drop a file here.'}
        value={text}
        onChange={setText}
        fault={text.trim() === '' ? null : findPlaybookFault(text)}
        isReadOnly={isReadOnly}
      >
        {(show) => <Findings findings={findings} title="Findings" onShow={show} />}
      </JsonEditor>
      {definition !== null && <PlaybookParts of={parsePlaybook(definition)} />}
    </Stack>
  )
}
