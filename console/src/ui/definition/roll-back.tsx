/** Rolls a definition back to an earlier version. */
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useNow } from '../date-time.tsx'
import {
  timelineQuery,
  toApiPath,
  toPathParams,
  type VersionedDefinition,
  type VersionedKind,
} from '../decision/definition-kind.ts'
import { RollBackButton } from '../roll-back.tsx'
import { findPreviousVersion } from '../version-names.ts'
import { ActivationDiff } from './activation-diff.tsx'

interface RollBackProps {
  readonly kind: VersionedKind
  readonly definition_key: string
  readonly of: VersionedDefinition
}

export function RollBack({ kind, definition_key, of }: RollBackProps) {
  const [isOpen, dialog] = useDisclosure(false)
  const { data: timeline } = useQuery({ ...timelineQuery(kind, definition_key, 'own'), enabled: isOpen })
  const now_ms = useNow()
  return (
    <RollBackButton
      of={of}
      before={findPreviousVersion(timeline?.in_force ?? [], of.active?.version ?? null, now_ms)}
      isOpen={isOpen}
      onOpen={dialog.open}
      onClose={dialog.close}
      send={(body) =>
        probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/rollback'), {
          params: { path: toPathParams(kind, definition_key) },
          body,
        })
      }
      invalidates="definitions"
      renderDiff={(_, to) => (
        <ActivationDiff kind={kind} definition_key={definition_key} to={{ version: to, origin: of.origin }} />
      )}
    />
  )
}
