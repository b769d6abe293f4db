/** The state of an import as a badge. */
import { Badge } from '@mantine/core'
import type { Schemas } from '@probity/client'

type Import = Schemas['Import']

const colors: Readonly<Record<Import['state'], string>> = {
  queued: 'gray',
  running: 'cyan',
  published: 'teal',
  unchanged: 'gray',
  rejected: 'red',
  blocked: 'orange',
  failed: 'red',
  cancelled: 'gray',
}

export function ImportState({ one }: { readonly one: Pick<Import, 'state' | 'version'> }) {
  return (
    <Badge variant="light" tt="none" miw="max-content" color={colors[one.state]}>
      {one.state === 'published' ? `published as version ${one.version}` : one.state}
    </Badge>
  )
}
