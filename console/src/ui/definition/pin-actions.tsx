/** Keeping this tenant on one version of a shared matrix or rule, and following it again. */
import { probity } from '../../session/client.ts'
import { useMay } from '../../session/queries.ts'
import { type DefinitionView, type Kind, named, operation, pathFor } from '../decision/kind.ts'
import { PinButtons } from '../pin.tsx'
import { usePin } from './pins.ts'
import { WhatChanges } from './what-changes.tsx'

interface PinActionsProps {
  readonly kind: Kind
  readonly definition_key: string
  readonly of: DefinitionView
}

export function PinActions({ kind, definition_key, of }: PinActionsProps) {
  const may = useMay()
  const { followed } = usePin(kind, definition_key, of)
  const params = { path: named(kind, definition_key) }
  if (!may(operation(kind, 'pin'))) return null
  return (
    <PinButtons
      of={of}
      followed={followed}
      pin={(body) => probity.POST(pathFor(kind, '/api/risk-matrices/{matrix_key}/pin'), { params, body })}
      unpin={(reason) =>
        probity.POST(pathFor(kind, '/api/risk-matrices/{matrix_key}/unpin'), { params, body: { reason } })
      }
      touches="definitions"
      effect={(_, to) => (
        <WhatChanges kind={kind} definition_key={definition_key} to={{ version: to, origin: 'shared' }} />
      )}
    />
  )
}
