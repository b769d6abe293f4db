/** The pin of a definition: the activations of this tenant, and the version the operator has in force. */
import { useQuery } from '@tanstack/react-query'
import { useNow } from '../date-time.tsx'
import { timelineQuery, type VersionedDefinition, type VersionedKind } from '../decision/definition-kind.ts'
import { isPinned } from '../pin.tsx'
import { isInForce } from '../version-names.ts'

/** Disabled while nothing is pinned. */
export function usePin(kind: VersionedKind, definition_key: string, of: Pick<VersionedDefinition, 'active'>) {
  const enabled = isPinned(of)
  const now_ms = useNow()
  const { data: own } = useQuery({ ...timelineQuery(kind, definition_key, 'own'), enabled })
  const { data: shared } = useQuery({ ...timelineQuery(kind, definition_key, 'shared'), enabled })
  // Cached data of a pin that has ended must not be used.
  if (!enabled || !shared) return { own, followed: undefined }
  return { own, followed: shared.in_force.find((span) => isInForce(span, now_ms))?.version ?? null }
}
