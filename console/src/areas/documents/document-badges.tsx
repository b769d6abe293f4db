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

export const StateBadge = ({ state }: Pick<StoredDocument, 'state'>) => (
  <Badge variant="light" tt="none" miw="max-content" color={stateColors[state]}>
    {state}
  </Badge>
)

export const scanTexts = {
  not_scanned: 'not scanned',
  clean: 'clean',
  infected: 'infected',
  failed: 'the scan failed',
} as const
