/** What can be done with one version: put it in force now or later, ask for that, retire it, take it along as a file. */

import { ActionIcon, Button, Menu } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { type Dataset, type ExportFormat, exportFormats, readExport } from '#console/ui/registry-queries.ts'
import { saveFile } from '#console/ui/save-file.ts'
import { PutListInForce } from './put-list-in-force.tsx'

interface VersionActionsProps {
  readonly dataset: Dataset
  readonly version: Schemas['DatasetVersion']
}
type OpenDialog = 'now' | 'later' | 'submit' | 'deprecated' | 'withdrawn' | null

export function VersionActions({ dataset, version }: VersionActionsProps) {
  const may = usePermission()
  const navigate = useNavigate()
  const [asking, setAsking] = useState<OpenDialog>(null)
  const { list_key, active, origin } = dataset
  const number = version.version
  const isOurs = dataset.origin === 'own' && dataset.state === 'live'
  const canGovern = isOurs && version.state !== 'withdrawn'
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
      {canGovern && active?.version !== number && may('activateDatasetVersion') && (
        <Button size="xs" onClick={() => setAsking('now')}>
          Put in force<span className="sr-only"> version {number}</span>
        </Button>
      )}
      {canGovern && active?.version !== number && !may('activateDatasetVersion') && may('submitDatasetVersion') && (
        <Button size="xs" onClick={() => setAsking('submit')}>
          Ask for it<span className="sr-only"> to be put in force: version {number}</span>
        </Button>
      )}
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`Actions for version ${number}`}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            onClick={() => navigate({ to: '.', search: { tab: 'entries', version: number, origin }, replace: true })}
          >
            See its entries
          </Menu.Item>
          {active !== null && active.version !== number && (
            <Menu.Item
              onClick={() =>
                navigate({
                  to: `/datasets/${list_key}/diff`,
                  search: { from: active.version, to: number, origin },
                })
              }
            >
              Compare with the one in force
            </Menu.Item>
          )}
          <Menu.Item
            onClick={() => navigate({ to: '.', search: { tab: 'proof', version: number, origin }, replace: true })}
          >
            Prove a key
          </Menu.Item>
          {canGovern && may('activateDatasetVersion') && (
            <Menu.Item onClick={() => setAsking('later')}>Schedule</Menu.Item>
          )}
          {canGovern && may('submitDatasetVersion') && (
            <Menu.Item onClick={() => setAsking('submit')}>Ask for it to be put in force</Menu.Item>
          )}
          {isOurs && version.state === 'published' && may('updateDatasetVersion') && (
            <Menu.Item onClick={() => setAsking('deprecated')}>Deprecate</Menu.Item>
          )}
          {isOurs && version.state !== 'withdrawn' && may('updateDatasetVersion') && (
            <Menu.Item onClick={() => setAsking('withdrawn')}>Withdraw</Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Label>Export</Menu.Label>
          {exportFormats.map((format) => (
            <Menu.Item key={format} onClick={() => save.run(format)}>
              As {format.toUpperCase()}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
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

interface RetireDialogProps extends VersionActionsProps {
  readonly state: 'deprecated' | 'withdrawn' | null
  readonly onClose: () => void
}

const retireTexts = {
  deprecated: { title: 'Deprecate', about: 'It stays as it is, with a mark that something better exists.' },
  withdrawn: {
    title: 'Withdraw',
    about: 'It stays readable, and can never be put in force again. A version in force must be replaced first.',
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
