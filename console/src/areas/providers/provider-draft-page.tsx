/** The draft of a provider: its manifest with findings, saved and published. */
import { Alert, Stack, Text } from '@mantine/core'
import { usePermission } from '#console/session/queries.ts'
import { type DefinitionText, providerKind } from '#console/ui/decision/definition-kind.ts'
import { DraftBar, DraftFrame, useStoredDraft } from '#console/ui/definition/draft-frame.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ManifestEditor } from './manifest-editor.tsx'
import { formatManifest, parseManifestText } from './manifest-text.ts'

export default function ProviderDraftPage() {
  return (
    <DraftFrame kind={providerKind}>
      {(provider_key, stored) => <Editor key={provider_key} provider_key={provider_key} stored={stored} />}
    </DraftFrame>
  )
}

interface EditorProps {
  readonly provider_key: string
  readonly stored: DefinitionText
}

function Editor({ provider_key, stored }: EditorProps) {
  const may = usePermission()
  const edited = useStoredDraft({
    kind: providerKind,
    definition_key: provider_key,
    stored,
    parse: formatManifest,
    toDefinition: parseManifestText,
  })
  const { draft: text, setDraft: setText, isChanged, findings, save } = edited
  return (
    <Stack gap="md">
      <DraftBar
        kind={providerKind}
        definition_key={provider_key}
        draft={edited}
        canSave={parseManifestText(text) !== null}
        canPublish={findings.every(({ severity }) => severity !== 'error')}
        publishing="The manifest is checked against the source contracts and lists in force."
      />
      <ProblemNote problem={save.problem} onReload={() => window.location.reload()} />
      {!isChanged && findings.length === 0 && (
        <Alert color="teal" icon={<Icon name="check" />} title="No findings" role="status">
          <Text size="sm">The manifest can be published.</Text>
        </Alert>
      )}
      <ManifestEditor value={text} findings={findings} onChange={setText} isReadOnly={!may('updateProviderDraft')} />
    </Stack>
  )
}
