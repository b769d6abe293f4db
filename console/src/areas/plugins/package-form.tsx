/** The form that uploads a package: a zip file, or a manifest and a source that are typed; with the reasons of the reply. */
import '#console/ui/registry.css'
import { Alert, Button, Group, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { type ReactNode, useRef } from 'react'
import { JsonEditor } from '#console/ui/json-editor.tsx'
import { findObjectFault } from '#console/ui/json-fault.ts'
import type { PluginReason } from '#console/ui/plugin/plugin-texts.ts'
import { ReasonList } from '#console/ui/plugin/reason-list.tsx'
import { getEntry, type PackageDraft, parseManifest, template } from './package-text.ts'
import { ZipDrop } from './zip-drop.tsx'

interface PackageFormProps {
  readonly draft: PackageDraft
  readonly onChange: (draft: PackageDraft) => void
  /** What the server said about the last upload. */
  readonly uploaded: Schemas['PluginVersion'] | null
  /** The draft was changed since. */
  readonly isStale: boolean
  /** More ways to begin with a text. */
  readonly starts?: ReactNode
}

export function PackageForm({ draft, onChange, uploaded, isStale, starts }: PackageFormProps) {
  const set = (part: Partial<PackageDraft>) => onChange({ ...draft, ...part })
  return (
    <Stack gap="md">
      <SegmentedControl
        aria-label="How the package is given"
        w="fit-content"
        size="sm"
        value={draft.way}
        onChange={(way) => set({ way: way as PackageDraft['way'] })}
        data={[
          { value: 'zip', label: 'Zip file' },
          { value: 'typed', label: 'Manifest and source' },
        ]}
      />
      {draft.way === 'zip' ? (
        <>
          <UploadedReasons uploaded={uploaded} isStale={isStale} />
          <ZipDrop zip={draft.zip} onZip={(zip) => set({ zip })} />
        </>
      ) : (
        <TypedPackage draft={draft} set={set} uploaded={uploaded} isStale={isStale} starts={starts} />
      )}
      <TextInput
        label="Note"
        description="What changed and why; shown with the version."
        maxLength={2000}
        value={draft.note}
        onChange={(event) => set({ note: event.currentTarget.value })}
      />
    </Stack>
  )
}

interface TypedPackageProps extends Omit<PackageFormProps, 'onChange'> {
  readonly set: (part: Partial<PackageDraft>) => void
}

function TypedPackage({ draft, set, uploaded, isStale, starts }: TypedPackageProps) {
  const source = useRef<HTMLTextAreaElement>(null)
  const manifest = parseManifest(draft.manifest)
  function showLine(line: number) {
    const lines = draft.source.split('\n')
    const from = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0)
    const field = source.current
    if (!field) return
    field.focus({ preventScroll: true })
    field.setSelectionRange(from, from + (lines[line - 1] ?? '').length)
    // Selecting scrolls nothing: neither the text in the field nor the field on the page.
    const line_px = field.scrollHeight / lines.length
    field.scrollTop = Math.max(0, (line - 4) * line_px)
    field.scrollIntoView({ block: 'nearest' })
  }
  return (
    <>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={() => set(template)}>
          Start from an example
        </Button>
        {starts}
      </Group>
      <JsonEditor
        label="Manifest"
        description="plugin.json: what the plugin is, what it may use, and its golden examples."
        value={draft.manifest}
        onChange={(text) => set({ manifest: text })}
        fault={draft.manifest.trim() === '' ? null : findObjectFault(draft.manifest, 'A manifest')}
      >
        {(show) => (
          <UploadedReasons
            uploaded={uploaded}
            isStale={isStale}
            onShow={({ pointer = '', line = 0 }) => (line > 0 ? showLine(line) : show(pointer))}
          />
        )}
      </JsonEditor>
      <Textarea
        ref={source}
        label="Source"
        description={`${getEntry(manifest)}: a JavaScript module without imports.`}
        required
        autosize
        minRows={10}
        maxRows={30}
        spellCheck={false}
        classNames={{ input: 'mono' }}
        value={draft.source}
        onChange={(event) => set({ source: event.currentTarget.value })}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault()
          event.dataTransfer.files[0]?.text().then((text) => set({ source: text }))
        }}
      />
    </>
  )
}

interface UploadedReasonsProps extends Pick<PackageFormProps, 'uploaded' | 'isStale'> {
  readonly onShow?: (reason: PluginReason) => void
}

function UploadedReasons({ uploaded, isStale, onShow }: UploadedReasonsProps) {
  if (uploaded === null || uploaded.reasons.length === 0) return null
  return (
    <Alert color="red" title={`Stored as version ${uploaded.version}, which cannot run`} role="alert">
      <Stack gap="xs">
        <ReasonList reasons={uploaded.reasons} label="Why it cannot run" {...(onShow && { onShow })} />
        <Text size="sm">
          {isStale
            ? 'The package was changed after this upload.'
            : 'Correct the package, give it another version and upload it again.'}
        </Text>
      </Stack>
    </Alert>
  )
}
