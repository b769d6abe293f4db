/** Puts the imported version in force, or requests its activation, without leaving the import. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { OpenActivationNote, useOpenActivation } from '#console/ui/change-request/open-activation.tsx'
import type { ActivationMode } from '#console/ui/put-in-force.tsx'
import { PutListInForce } from '#console/ui/put-list-in-force.tsx'
import type { Dataset } from '#console/ui/registry-queries.ts'

export function PutInForce({ dataset, version }: { readonly dataset: Dataset; readonly version: number }) {
  const may = usePermission()
  const [mode, setMode] = useState<ActivationMode | null>(null)
  const { list_key } = dataset
  const canActivate = may('activateDatasetVersion')
  const open = useOpenActivation({ param: 'list_key', key: list_key, version })
  if (!canActivate && !may('submitDatasetVersion')) return null
  return (
    <>
      {open !== null ? (
        <OpenActivationNote request={open} version={version} />
      ) : (
        <Button size="xs" onClick={() => setMode(canActivate ? 'now' : 'submit')}>
          {canActivate ? 'Put in force' : 'Request activation'}
        </Button>
      )}
      <PutListInForce
        key={`${mode}`}
        dataset={dataset}
        version={{ version }}
        way={mode}
        onClose={() => setMode(null)}
      />
    </>
  )
}
