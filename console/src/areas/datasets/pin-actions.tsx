/** Keeping this tenant on one version of a shared list, and following it again. */
import { probity } from '../../session/client.ts'
import { useMay } from '../../session/queries.ts'
import { PinButtons } from '../../ui/pin.tsx'
import type { Dataset } from '../../ui/registry-queries.ts'
import { usePin } from './activations-query.ts'
import { WhatWillChange } from './what-will-change.tsx'

export function PinActions({ dataset }: { readonly dataset: Dataset }) {
  const may = useMay()
  const { followed } = usePin(dataset)
  const { list_key, overlay_policy } = dataset
  const params = { path: { list_key } }
  if (!may('pinDataset')) return null
  return (
    <PinButtons
      of={dataset}
      followed={followed}
      mustEnd={overlay_policy === 'none' || overlay_policy === 'tighten_only'}
      pin={(body) => probity.POST('/api/reference-data/datasets/{list_key}/pin', { params, body })}
      unpin={(reason) => probity.POST('/api/reference-data/datasets/{list_key}/unpin', { params, body: { reason } })}
      touches="datasets"
      effect={(_, to) => <WhatWillChange dataset={dataset} to={to} />}
    />
  )
}
