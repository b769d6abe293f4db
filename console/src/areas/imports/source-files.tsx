/** The files of a source with their encodings, and files that were not read or are absent. */
import { Text } from '@mantine/core'
import type { Schemas } from '@probity/client'

type SourceFile = Schemas['SourceFile']

const states = { read: 'read', unread: 'not read', absent: 'left out by the options of the import' } as const
const origins = {
  'byte-order-mark': 'byte order mark',
  declaration: 'declared in the file',
  option: 'set by the adapter or its options',
  content: 'detected',
} as const

export function formatFile({ state, encoding, encoding_from }: SourceFile): string {
  const read = encoding && encoding_from ? ` as ${encoding} (${origins[encoding_from]})` : ''
  return `${states[state]}${read}`
}

export function SourceFiles({ files }: { readonly files: readonly SourceFile[] }) {
  if (files.length === 0) return null
  return (
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
  )
}
