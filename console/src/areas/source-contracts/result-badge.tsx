/** The result of an admission. */
import { Badge } from '@mantine/core'
import type { Schemas } from '@probity/client'

type Result = Schemas['ContractCheck']['result']

const results: Readonly<Record<Result, readonly [color: string, words: string]>> = {
  admitted: ['teal', 'admitted'],
  admitted_with_notes: ['yellow', 'admitted with notes'],
  quarantined: ['red', 'quarantined'],
}

export function ResultBadge({ result, size = 'sm' }: { readonly result: Result; readonly size?: string }) {
  const [color, words] = results[result]
  return (
    <Badge variant="light" color={color} tt="none" miw="max-content" size={size}>
      {words}
    </Badge>
  )
}
