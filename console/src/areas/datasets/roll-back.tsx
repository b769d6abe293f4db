/** Going back to an earlier version of a list. */
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { probity } from '../../session/client.ts'
import type { Dataset } from '../../ui/registry-queries.ts'
import { RollBackButton } from '../../ui/roll-back.tsx'
import { governedBefore } from '../../ui/version-names.ts'
import { useNow } from '../../ui/when.tsx'
import { activationsQuery } from './activations-query.ts'
import { WhatWillChange } from './what-will-change.tsx'

export function RollBack({ dataset }: { readonly dataset: Dataset }) {
  const [isOpen, dialog] = useDisclosure(false)
  const { list_key, active } = dataset
  const { data: timeline } = useQuery({ ...activationsQuery(list_key, 'own'), enabled: isOpen })
  const now_ms = useNow()
  return (
    <RollBackButton
      of={dataset}
      before={governedBefore(timeline?.in_force ?? [], active?.version ?? null, now_ms)}
      isOpen={isOpen}
      onOpen={dialog.open}
      onClose={dialog.close}
      send={(body) =>
        probity.POST('/api/reference-data/datasets/{list_key}/rollback', { params: { path: { list_key } }, body })
      }
      touches="datasets"
      effect={(_, to) => <WhatWillChange dataset={dataset} to={to} />}
    />
  )
}
