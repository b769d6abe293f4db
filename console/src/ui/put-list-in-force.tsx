/** Puts a version of a list in force, schedules it, or requests its activation. */
import type { Schemas } from '@probity/client'
import { probity } from '#console/session/client.ts'
import { ListActivationDiff } from './list-activation-diff.tsx'
import { type ActivationMode, PutInForceDialog } from './put-in-force.tsx'
import type { Dataset } from './registry-queries.ts'

interface PutListInForceProps {
  readonly dataset: Dataset
  readonly version: Pick<Schemas['DatasetVersion'], 'version'>
  readonly way: ActivationMode | null
  readonly onClose: () => void
}

export function PutListInForce({ dataset, version: { version }, way, onClose }: PutListInForceProps) {
  const { list_key } = dataset
  const active = dataset.active?.version ?? null
  return (
    <PutInForceDialog
      title={dataset.title}
      version={version}
      mode={way}
      onClose={onClose}
      send={(chosen, order) =>
        chosen === 'submit'
          ? probity.POST('/api/reference-data/datasets/{list_key}/versions/{version}/submit', {
              params: { path: { list_key, version: String(version) } },
              body: order,
            })
          : probity.POST('/api/reference-data/datasets/{list_key}/activations', {
              params: { path: { list_key } },
              body: { ...order, version, expected_active: active },
            })
      }
      invalidates="datasets"
    >
      <ListActivationDiff dataset={dataset} to={version} />
    </PutInForceDialog>
  )
}
