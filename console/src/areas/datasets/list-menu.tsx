/** The menu of rarely used list actions: settings and archiving. */
import { ActionIcon, List, Menu, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { WaitingRequests } from '#console/ui/change-request/waiting-requests.tsx'
import { ConfirmDialog } from '#console/ui/dialog.tsx'
import { toWords } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import type { Dataset } from '#console/ui/registry-queries.ts'
import { SettingsDialog } from './settings-dialog.tsx'

export function ListMenu({ dataset }: { readonly dataset: Dataset }) {
  const may = usePermission()
  const [asking, setAsking] = useState<'settings' | 'archive' | null>(null)
  if (!may('updateDataset') && !may('archiveDataset')) return null
  const close = () => setAsking(null)
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={`More actions for ${dataset.title}`}>
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {may('updateDataset') && <Menu.Item onClick={() => setAsking('settings')}>Settings</Menu.Item>}
          {may('archiveDataset') && <Menu.Item onClick={() => setAsking('archive')}>Archive</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      {asking === 'settings' && <SettingsDialog dataset={dataset} onClose={close} />}
      <ArchiveDialog dataset={dataset} isOpen={asking === 'archive'} onClose={close} />
    </>
  )
}

interface ArchiveDialogProps {
  readonly dataset: Dataset
  readonly isOpen: boolean
  readonly onClose: () => void
}

function ArchiveDialog({ dataset, isOpen, onClose }: ArchiveDialogProps) {
  const { list_key, title } = dataset
  const params = { path: { list_key } }
  const { data: dependents } = useQuery({
    queryKey: ['datasets', 'dependents', list_key, 'own'],
    queryFn: ({ signal }) =>
      probity
        .GET('/api/reference-data/datasets/{list_key}/dependents', {
          params: { ...params, query: { origin: 'own' } },
          signal,
        })
        .then(({ items }) => items),
    enabled: isOpen,
  })
  const archive = useApiMutation(() => probity.POST('/api/reference-data/datasets/{list_key}/archive', { params }), {
    invalidates: ['datasets'],
    successMessage: `${title} archived`,
    onDone: close,
  })
  function close() {
    archive.reset()
    onClose()
  }
  return (
    <ConfirmDialog
      title={`Archive ${title}?`}
      isOpen={isOpen}
      onClose={close}
      onConfirm={() => archive.run(undefined)}
      confirm="Archive list"
      change={archive}
      isDangerous
    >
      <Text size="sm">
        No new versions can be created or put in force. All versions remain readable, and decisions that used them can
        be replayed.
      </Text>
      {dependents !== undefined && dependents.length > 0 && (
        <>
          <Text size="sm" mt="sm" fw={600}>
            The list is still used by:
          </Text>
          <List size="sm" aria-label="Uses of the list">
            {dependents.map(({ kind, key, detail }) => (
              <List.Item key={`${kind} ${key}`}>
                {toWords(kind)} {key}: {detail}
              </List.Item>
            ))}
          </List>
        </>
      )}
      {isOpen && <WaitingRequests param="list_key" name={list_key} />}
      <ApprovalNote request={archive.waiting} />
    </ConfirmDialog>
  )
}
