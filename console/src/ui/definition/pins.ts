/** What is known of the pin of a matrix or rule: what this tenant said, and what the operator has in force meanwhile. */
import { useQuery } from '@tanstack/react-query'
import { useNow } from '../date-time.tsx'
import { type DefinitionKind, type DefinitionView, timelineQuery } from '../decision/definition-kind.ts'
import { isPinned } from '../pin.tsx'
import { isInForce } from '../version-names.ts'

/** Nothing is asked while nothing is pinned. */
export function usePin(kind: DefinitionKind, definition_key: string, of: DefinitionView) {
  const enabled = isPinned(of)
  const now_ms = useNow()
  const { data: own } = useQuery({ ...timelineQuery(kind, definition_key, 'own'), enabled })
  const { data: shared } = useQuery({ ...timelineQuery(kind, definition_key, 'shared'), enabled })
  // What was known of a pin that has ended is kept for a while, and no longer meant.
  if (!enabled || !shared) return { own, followed: undefined }
  return { own, followed: shared.in_force.find((span) => isInForce(span, now_ms))?.version ?? null }
}
