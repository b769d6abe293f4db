/** Putting a version of a matrix or rule in force, now or later, or asking for it. */
import { probity } from '../../session/client.ts'
import { type DefinitionView, type Kind, named, pathFor } from '../decision/kind.ts'
import { PutInForceDialog, type Way } from '../put-in-force.tsx'
import { WhatChanges } from './what-changes.tsx'

interface PutInForceProps {
  readonly kind: Kind
  readonly definition_key: string
  readonly of: DefinitionView
  readonly version: number
  readonly way: Way | null
  readonly onClose: () => void
}

export function PutInForce({ kind, definition_key, of, version, way, onClose }: PutInForceProps) {
  const active = of.active?.version ?? null
  return (
    <PutInForceDialog
      title={of.title}
      version={version}
      way={way}
      onClose={onClose}
      send={(chosen, order) =>
        chosen === 'submit'
          ? probity.POST(pathFor(kind, '/api/risk-matrices/{matrix_key}/versions/{version}/submit'), {
              params: { path: { ...named(kind, definition_key), version: String(version) } },
              body: order,
            })
          : probity.POST(pathFor(kind, '/api/risk-matrices/{matrix_key}/activations'), {
              params: { path: named(kind, definition_key) },
              body: { ...order, version, expected_active: active },
            })
      }
      touches="definitions"
    >
      <WhatChanges kind={kind} definition_key={definition_key} to={{ version, origin: of.origin }} />
    </PutInForceDialog>
  )
}
