/** Pins this tenant to a version of a shared definition, or removes the pin. */
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import {
  toApiPath,
  toOperationId,
  toPathParams,
  type VersionedDefinition,
  type VersionedKind,
} from '../decision/definition-kind.ts'
import { PinButtons } from '../pin.tsx'
import { ActivationDiff } from './activation-diff.tsx'
import { usePin } from './pins.ts'

interface PinActionsProps {
  readonly kind: VersionedKind
  readonly definition_key: string
  readonly of: VersionedDefinition
}

export function PinActions({ kind, definition_key, of }: PinActionsProps) {
  const may = usePermission()
  const { followed } = usePin(kind, definition_key, of)
  const params = { path: toPathParams(kind, definition_key) }
  if (!may(toOperationId(kind, 'pin'))) return null
  return (
    <PinButtons
      of={of}
      operatorVersion={followed}
      pin={(body) => probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/pin'), { params, body })}
      unpin={(reason) =>
        probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/unpin'), { params, body: { reason } })
      }
      invalidates="definitions"
      renderDiff={(_, to) => (
        <ActivationDiff kind={kind} definition_key={definition_key} to={{ version: to, origin: 'shared' }} />
      )}
    />
  )
}
