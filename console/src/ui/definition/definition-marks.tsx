/** Marks beside the title of a definition: shared by the operator, and what needs attention. */
import { Badge } from '@mantine/core'
import { useNow } from '../date-time.tsx'
import type { DefinitionItem, DefinitionView } from '../decision/definition-kind.ts'

export function SharedMark() {
  return (
    <Badge variant="default" tt="none" fw={500} miw="max-content">
      shared
    </Badge>
  )
}

/** Whether the version in force is out of date, due for review or has findings. */
export function AttentionMark({ of }: { readonly of: DefinitionItem | DefinitionView }) {
  const now_ms = useNow()
  const mark = (color: string, words: string) => (
    <Badge variant="light" tt="none" miw="max-content" color={color}>
      {words}
    </Badge>
  )
  if (of.state === 'archived') return mark('gray', 'archived')
  if (of.active === null) return mark('gray', 'not in force')
  if ('attention' in of && of.attention.length > 0) return mark('red', 'has findings')
  if (of.stale_since !== null) return mark('red', 'out of date')
  if (of.review_due_at !== null && Date.parse(of.review_due_at) < now_ms) return mark('orange', 'review due')
  return mark('teal', 'up to date')
}
