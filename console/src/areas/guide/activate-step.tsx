/** Step 2: puts the newest version of a list of the tenant in force, or requests it. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { OpenActivationNote, useOpenActivation } from '#console/ui/change-request/open-activation.tsx'
import type { ActivationMode } from '#console/ui/put-in-force.tsx'
import { PutListInForce } from '#console/ui/put-list-in-force.tsx'
import { type Dataset, datasetQuery } from '#console/ui/registry-queries.ts'
import { SearchButton, SearchLink } from '#console/ui/search-link.tsx'
import { DemoApprovers } from './who-can.tsx'

export function ActivateStep({ list_key }: { readonly list_key: string }) {
  const { data: dataset } = useQuery({ ...datasetQuery(list_key, 'own'), throwOnError: false })
  return dataset ? <PutNewestInForce dataset={dataset} isMain /> : null
}

interface PutNewestInForceProps {
  readonly dataset: Dataset
  /** Whether it is the main action of its step. */
  readonly isMain?: boolean
}

/** The dialog shows the changes and asks for a reason, as on the page of the list. */
export function PutNewestInForce({ dataset, isMain = false }: PutNewestInForceProps) {
  const may = usePermission()
  const [way, setWay] = useState<ActivationMode | null>(null)
  const { list_key, head_version } = dataset
  const canActivate = may('activateDatasetVersion')
  const open = useOpenActivation({ param: 'list_key', key: list_key, version: head_version })
  return (
    <Stack gap="sm">
      <Text size="sm">
        Version {head_version} of {dataset.title} is ready. You see the changes and give a reason before you confirm.
      </Text>
      <Group gap="xs">
        {open !== null ? (
          <OpenActivationNote request={open} version={head_version} />
        ) : (
          <Button variant={isMain ? 'filled' : 'light'} onClick={() => setWay(canActivate ? 'now' : 'submit')}>
            {canActivate ? `Put version ${head_version} in force` : 'Request activation'}
          </Button>
        )}
        <SearchButton to={`/datasets/${list_key}`} search={{ origin: 'own' }} variant="default">
          Open the list
        </SearchButton>
      </Group>
      <PutListInForce
        key={`${way}`}
        dataset={dataset}
        version={{ version: head_version }}
        way={way}
        onClose={() => setWay(null)}
      />
    </Stack>
  )
}

/** The change request of this step is open: another user must approve it. */
export function ActivationWaits() {
  const may = usePermission()
  return (
    <Stack gap="xs">
      <Text size="sm">
        A request to put the list in force is waiting for approval.{' '}
        {may('approveChangeRequest')
          ? 'If somebody else made it, you can approve it. '
          : 'A compliance officer other than the requester approves it. '}
        <SearchLink to="/change-requests" search={{ view: 'all' }} inherit>
          Open change requests
        </SearchLink>
      </Text>
      {!may('approveChangeRequest') && <DemoApprovers />}
    </Stack>
  )
}
