/** Pins this tenant to a version of a shared list, or removes the pin. */
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { ListActivationDiff } from '#console/ui/list-activation-diff.tsx'
import { PinButtons } from '#console/ui/pin.tsx'
import type { Dataset } from '#console/ui/registry-queries.ts'
import { usePin } from './activations-query.ts'

export function PinActions({ dataset }: { readonly dataset: Dataset }) {
  const may = usePermission()
  const { followed } = usePin(dataset)
  const { list_key, overlay_policy } = dataset
  const params = { path: { list_key } }
  if (!may('pinDataset')) return null
  return (
    <PinButtons
      of={dataset}
      operatorVersion={followed}
      mustExpire={overlay_policy === 'none' || overlay_policy === 'tighten_only'}
      pin={(body) => probity.POST('/api/reference-data/datasets/{list_key}/pin', { params, body })}
      unpin={(reason) => probity.POST('/api/reference-data/datasets/{list_key}/unpin', { params, body: { reason } })}
      invalidates="datasets"
      renderDiff={(_, to) => <ListActivationDiff dataset={dataset} to={to} />}
    />
  )
}
