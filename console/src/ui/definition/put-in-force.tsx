/** Puts a version of a definition in force, schedules it, or requests its activation. */
import { probity } from '#console/session/client.ts'
import { toApiPath, toPathParams, type VersionedDefinition, type VersionedKind } from '../decision/definition-kind.ts'
import { PlaybookGaps } from '../provider/playbook-gaps.tsx'
import { type ActivationMode, PutInForceDialog } from '../put-in-force.tsx'
import { ActivationDiff } from './activation-diff.tsx'

interface PutInForceProps {
  readonly kind: VersionedKind
  readonly definition_key: string
  readonly of: Pick<VersionedDefinition, 'title' | 'origin' | 'active'>
  readonly version: number
  readonly way: ActivationMode | null
  readonly onClose: () => void
}

export function PutInForce({ kind, definition_key, of, version, way, onClose }: PutInForceProps) {
  const active = of.active?.version ?? null
  return (
    <PutInForceDialog
      title={of.title}
      version={version}
      mode={way}
      onClose={onClose}
      send={(chosen, order) =>
        chosen === 'submit'
          ? probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}/submit'), {
              params: { path: { ...toPathParams(kind, definition_key), version: String(version) } },
              body: order,
            })
          : probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/activations'), {
              params: { path: toPathParams(kind, definition_key) },
              body: { ...order, version, expected_active: active },
            })
      }
      invalidates="definitions"
    >
      {kind.family === 'playbook' && way !== null && (
        <PlaybookGaps playbook_key={definition_key} version={version} origin={of.origin} />
      )}
      <ActivationDiff kind={kind} definition_key={definition_key} to={{ version, origin: of.origin }} />
    </PutInForceDialog>
  )
}
