/** A manifest as text: pasted, dropped or edited, with a link from each finding to its line. */
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import { Findings } from '#console/ui/decision/findings.tsx'
import { JsonEditor } from '#console/ui/json-editor.tsx'
import { findManifestFault } from './manifest-text.ts'

interface ManifestEditorProps {
  readonly value: string
  readonly findings: readonly Finding[]
  readonly onChange: (value: string) => void
  readonly isReadOnly?: boolean
}

export function ManifestEditor({ value, findings, onChange, isReadOnly = false }: ManifestEditorProps) {
  return (
    <JsonEditor
      label="Manifest"
      description={isReadOnly ? 'As JSON.' : 'As JSON. Paste it, or drop a file here.'}
      value={value}
      onChange={onChange}
      fault={value.trim() === '' ? null : findManifestFault(value)}
      isReadOnly={isReadOnly}
    >
      {(show) => <Findings findings={findings} title="Findings" onShow={show} />}
    </JsonEditor>
  )
}
