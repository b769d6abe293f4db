/** Rolls a list back to an earlier version. */
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useNow } from '#console/ui/date-time.tsx'
import { ListActivationDiff } from '#console/ui/list-activation-diff.tsx'
import type { Dataset } from '#console/ui/registry-queries.ts'
import { RollBackButton } from '#console/ui/roll-back.tsx'
import { findPreviousVersion } from '#console/ui/version-names.ts'
import { activationsQuery } from './activations-query.ts'

export function RollBack({ dataset }: { readonly dataset: Dataset }) {
  const [isOpen, dialog] = useDisclosure(false)
  const { list_key, active } = dataset
  const { data: timeline } = useQuery({ ...activationsQuery(list_key, 'own'), enabled: isOpen })
  const now_ms = useNow()
  return (
    <RollBackButton
      of={dataset}
      before={findPreviousVersion(timeline?.in_force ?? [], active?.version ?? null, now_ms)}
      isOpen={isOpen}
      onOpen={dialog.open}
      onClose={dialog.close}
      send={(body) =>
        probity.POST('/api/reference-data/datasets/{list_key}/rollback', { params: { path: { list_key } }, body })
      }
      invalidates="datasets"
      renderDiff={(_, to) => <ListActivationDiff dataset={dataset} to={to} />}
    />
  )
}
