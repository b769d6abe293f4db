/** The files of a source with their encodings, and files that were not read or are absent. */
import { Text } from '@mantine/core'
import type { Schemas } from '@probity/client'

type SourceFile = Schemas['SourceFile']

const states = { read: 'read', unread: 'not read', absent: 'not given, as the options of the import say' } as const
const origins = {
  'byte-order-mark': 'byte order mark',
  declaration: 'declared in the file',
  option: 'set by the adapter or its options',
  content: 'detected',
} as const

export function formatFile({ state, encoding, encoding_from, holds }: SourceFile): string {
  if (holds !== undefined) return `not given, so the list lacks ${holds}`
  const read = encoding && encoding_from ? ` as ${encoding} (${origins[encoding_from]})` : ''
  return `${states[state]}${read}`
}

export function SourceFiles({ files }: { readonly files: readonly SourceFile[] }) {
  if (files.length === 0) return null
  const lacking = files.filter(({ holds }) => holds !== undefined)
  return (
    <>
      <ul className="plain-list" aria-label="Files">
        {files.map((file) => (
          <li key={`${file.file} ${file.state}`}>
            <Text size="sm">
              {file.file !== null && <b>{file.file}: </b>}
              {formatFile(file)}
            </Text>
          </li>
        ))}
      </ul>
      {lacking.length > 0 && (
        <Text size="sm" c="dimmed">
          To add {lacking.length === 1 ? 'it' : 'them'}, get {lacking.map(({ file }) => file).join(', ')} from the
          publisher, put all files of the list into one zip, and import that with the option for absent files left
          empty.
        </Text>
      )}
    </>
  )
}
