/** The state of a document, and what the malware scanner says about it. */
import { Badge } from '@mantine/core'
import type { StoredDocument } from '#console/ui/document/document-queries.ts'

const stateColors = {
  storing: 'blue',
  stored: 'teal',
  damaged: 'red',
  failed: 'red',
  deleted: 'gray',
  erased: 'gray',
} as const

/** An infected document is stored, and nobody can read it: that it is infected matters more. */
export function StateBadge({ of: { state, scan_state } }: { readonly of: StoredDocument }) {
  const isInfected = state === 'stored' && scan_state === 'infected'
  return (
    <Badge variant="light" tt="none" miw="max-content" color={isInfected ? 'red' : stateColors[state]}>
      {isInfected ? 'infected' : state}
    </Badge>
  )
}

export const scanTexts = {
  not_scanned: 'not scanned',
  clean: 'clean',
  infected: 'infected',
  failed: 'the scan failed',
} as const
