/** Actions of one version: put in force, schedule, request activation, deprecate, withdraw, export. */

import { ActionIcon, Button, Menu } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { OpenActivationNote, useOpenActivation } from '#console/ui/change-request/open-activation.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { PutListInForce } from '#console/ui/put-list-in-force.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { type Dataset, type ExportFormat, exportFormats, readExport } from '#console/ui/registry-queries.ts'
import { saveFile } from '#console/ui/save-file.ts'

interface VersionActionsProps {
  readonly dataset: Dataset
  readonly version: Schemas['DatasetVersion']
}
type OpenDialog = 'now' | 'later' | 'submit' | 'deprecated' | 'withdrawn' | null

export function VersionActions({ dataset, version }: VersionActionsProps) {
  const may = usePermission()
  const [asking, setAsking] = useState<OpenDialog>(null)
  const number = version.version
  const canActivate = isOwnAndLive(dataset) && version.state !== 'withdrawn' && dataset.active?.version !== number
  const { list_key, origin } = dataset
  const open = useOpenActivation({ param: 'list_key', key: list_key, version: number })
  const isWaiting = open !== null && origin === 'own'
  const save = useApiMutation(
    async (format: ExportFormat) => ({
      format,
      content: await readExport(list_key, { version: number, origin }, format),
    }),
    { invalidates: [], onDone: ({ format, content }) => saveFile(`${list_key}-v${number}.${format}`, content) },
  )
  const close = () => setAsking(null)
  return (
    <>
      {canActivate && isWaiting && <OpenActivationNote request={open} version={number} />}
      {canActivate && !isWaiting && may('activateDatasetVersion') && (
        <Button size="xs" onClick={() => setAsking('now')}>
          Put in force<span className="sr-only"> version {number}</span>
        </Button>
      )}
      {canActivate && !isWaiting && !may('activateDatasetVersion') && may('submitDatasetVersion') && (
        <Button size="xs" onClick={() => setAsking('submit')}>
          Request activation<span className="sr-only"> of version {number}</span>
        </Button>
      )}
      <VersionMenu dataset={dataset} version={version} isWaiting={isWaiting} onAsk={setAsking} onExport={save.run} />
      <ProblemNote problem={save.problem} />
      <PutListInForce
        key={`${asking}`}
        dataset={dataset}
        version={version}
        way={asking === 'now' || asking === 'later' || asking === 'submit' ? asking : null}
        onClose={close}
      />
      <RetireDialog
        dataset={dataset}
        version={version}
        state={asking === 'deprecated' || asking === 'withdrawn' ? asking : null}
        onClose={close}
      />
    </>
  )
}

const isOwnAndLive = ({ origin, state }: Dataset): boolean => origin === 'own' && state === 'live'

interface VersionMenuProps extends VersionActionsProps {
  /** An open change request would put it in force. */
  readonly isWaiting: boolean
  readonly onAsk: (dialog: OpenDialog) => void
  readonly onExport: (format: ExportFormat) => void
}

function VersionMenu({ dataset, version, isWaiting, onAsk, onExport }: VersionMenuProps) {
  const may = usePermission()
  const navigate = useNavigate()
  const { list_key, active, origin } = dataset
  const number = version.version
  const isOurs = isOwnAndLive(dataset)
  const canActivate = isOurs && version.state !== 'withdrawn' && !isWaiting
  const openTab = (tab: string) => navigate({ to: '.', search: { tab, version: number, origin }, replace: true })
  const compare = (from: number) => navigate({ to: `/datasets/${list_key}/diff`, search: { from, to: number, origin } })
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for version ${number}`}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => openTab('entries')}>View entries</Menu.Item>
        {active !== null && active.version !== number && (
          <Menu.Item onClick={() => compare(active.version)}>Compare with version in force</Menu.Item>
        )}
        <Menu.Item onClick={() => openTab('proof')}>Create a proof</Menu.Item>
        {canActivate && may('activateDatasetVersion') && <Menu.Item onClick={() => onAsk('later')}>Schedule</Menu.Item>}
        {canActivate && may('submitDatasetVersion') && (
          <Menu.Item onClick={() => onAsk('submit')}>Request activation</Menu.Item>
        )}
        {isOurs && version.state === 'published' && may('updateDatasetVersion') && (
          <Menu.Item onClick={() => onAsk('deprecated')}>Deprecate</Menu.Item>
        )}
        {isOurs && version.state !== 'withdrawn' && may('updateDatasetVersion') && (
          <Menu.Item onClick={() => onAsk('withdrawn')}>Withdraw</Menu.Item>
        )}
        <Menu.Divider />
        <Menu.Label>Export</Menu.Label>
        {exportFormats.map((format) => (
          <Menu.Item key={format} onClick={() => onExport(format)}>
            As {format.toUpperCase()}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

interface RetireDialogProps extends VersionActionsProps {
  readonly state: 'deprecated' | 'withdrawn' | null
  readonly onClose: () => void
}

const retireTexts = {
  deprecated: { title: 'Deprecate', about: 'The version stays usable and is marked as superseded.' },
  withdrawn: {
    title: 'Withdraw',
    about: 'The version stays readable but can never be put in force again. A version in force must be replaced first.',
  },
} as const

function RetireDialog({ dataset, version, state, onClose }: RetireDialogProps) {
  const [reason, setReason] = useState('')
  const retire = useApiMutation(
    (to: 'deprecated' | 'withdrawn') =>
      probity.PATCH('/api/reference-data/datasets/{list_key}/versions/{version}', {
        params: { path: { list_key: dataset.list_key, version: String(version.version) } },
        body: { state: to, reason },
      }),
    {
      invalidates: ['datasets'],
      successMessage: ({ state: now }) => `Version ${version.version} is ${now}`,
      onDone: close,
    },
  )
  const words = retireTexts[state ?? 'deprecated']
  function close() {
    setReason('')
    retire.reset()
    onClose()
  }
  return (
    <FormDialog
      title={`${words.title} version ${version.version}?`}
      isOpen={state !== null}
      onClose={close}
      onSubmit={() => state !== null && retire.run(state)}
      submit={words.title}
      change={retire}
    >
      {words.about}
      <ReasonField isFirst value={reason} onChange={setReason} />
    </FormDialog>
  )
}
