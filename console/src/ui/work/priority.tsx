/** The priority of a piece of work: a bar in rows, a badge elsewhere. */
import './work.css'
import { Badge } from '@mantine/core'
import type { Schemas } from '@probity/client'

export type Priority = Schemas['Alert']['priority']

const colors = { low: 'gray', medium: 'cyan', high: 'orange', critical: 'red' } as const

export function PriorityBar({ priority }: { readonly priority: Priority }) {
  return (
    <span className="priority" data-priority={priority} role="img" aria-label={`Priority ${priority}`} title={priority}>
      <span className="priority-bar" />
    </span>
  )
}

export function PriorityBadge({ priority }: { readonly priority: Priority }) {
  return (
    <Badge variant="light" tt="none" miw="max-content" color={colors[priority]}>
      {priority}
    </Badge>
  )
}
