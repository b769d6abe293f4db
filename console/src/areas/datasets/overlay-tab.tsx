/** The overlay of this tenant on a shared list: each change beside the shared entry, and conflicts. */

import { Badge, Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { ChangeTable } from '#console/ui/change-table.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { EntryFacts } from '#console/ui/entry-value.tsx'
import { formatCount } from '#console/ui/format.ts'
import { Principal } from '#console/ui/principal.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { type Dataset, type DatasetType, type Entry, typeQuery } from '#console/ui/registry-queries.ts'
import { diffMembers } from '#console/ui/value-diff.ts'
import { OverlayConflicts } from './overlay-conflicts.tsx'
import { OverlayDialog } from './overlay-dialog.tsx'
import { type Overlay, type OverlayChange, overlayQuery, toOperation } from './overlay-query.ts'
import { overlayPolicyTexts } from './version-texts.ts'

const operationTexts = {
  put: ['added or replaced', 'teal'],
  merge: ['changed', 'orange'],
  remove: ['removed', 'red'],
} as const

export function OverlayTab({ dataset }: { readonly dataset: Dataset }) {
  const may = usePermission()
  const { data: view } = useSuspenseQuery(overlayQuery(dataset.list_key))
  const { data: type } = useSuspenseQuery(typeQuery(dataset.type_key))
  const [asking, setAsking] = useState<'change' | 'return' | null>(null)
  const [dropped, setDropped] = useState<string | null>(null)
  if (view === null)
    return (
      <EmptyState
        title="No version of the shared list is in force"
        about="An overlay changes entries of the shared version in force. The operator has to put a version in force first."
      />
    )
  const changes = view.overlay?.entries ?? []
  const pinned = view.overlay?.base_version ?? null
  const isIdle = pinned !== null && pinned !== view.base?.version
  const mode = pinned === null ? 'follow' : 'pinned'
  const canChange = may('updateOverlay') && view.overlay_policy !== 'none'
  return (
    <Stack gap="md">
      <OverlayHeader view={view} canChange={canChange} onAsk={setAsking} />
      {isIdle && (
        <Text size="sm">
          The overlay is based on version {pinned} of the shared list, and version {view.base?.version} is in force: the
          overlay is not applied until it is updated.
        </Text>
      )}
      {(isIdle || view.conflicts.length > 0) && <OverlayConflicts view={view} type={type} canRebase={canChange} />}
      {changes.length === 0 ? (
        <EmptyState
          title="This tenant uses the shared list without changes"
          about="An overlay adds, changes or removes single entries for this tenant only, and follows the shared list otherwise."
        />
      ) : (
        <Stack gap="sm" component="section" aria-label="Changes of this tenant">
          <Text size="sm" c="dimmed">
            {formatCount(changes.length, 'entry', 'entries')} of the shared list changed by this tenant.
          </Text>
          {changes.map((change) => (
            <OverlayEntry
              key={change.key}
              change={change}
              type={type}
              list_key={dataset.list_key}
              base_version={view.base?.version ?? null}
              onDrop={canChange ? () => setDropped(change.key) : null}
            />
          ))}
        </Stack>
      )}
      {asking === 'change' && (
        <OverlayDialog view={view} type={type} changes={changes} onClose={() => setAsking(null)} />
      )}
      {asking === 'return' && (
        <DropChangeDialog list_key={dataset.list_key} mode={mode} changes={[]} onClose={() => setAsking(null)}>
          All changes of this tenant are removed and the shared list applies unchanged. The overlay is kept in the
          history.
        </DropChangeDialog>
      )}
      {dropped !== null && (
        <DropChangeDialog
          list_key={dataset.list_key}
          mode={mode}
          changes={changes.filter(({ key }) => key !== dropped)}
          onClose={() => setDropped(null)}
        >
          {dropped} uses the shared entry again.
        </DropChangeDialog>
      )}
    </Stack>
  )
}

interface OverlayHeaderProps {
  readonly view: Overlay
  readonly canChange: boolean
  readonly onAsk: (dialog: 'change' | 'return') => void
}

function OverlayHeader({ view, canChange, onAsk }: OverlayHeaderProps) {
  return (
    <Group justify="space-between" align="flex-start">
      <Text size="sm" maw={640}>
        {overlayPolicyTexts[view.overlay_policy]}{' '}
        {view.overlay && (
          <span className="quiet">
            Overlay version {view.overlay.version}, by <Principal of={view.overlay.created_by} />,{' '}
            <DateTime at={view.overlay.created_at} />.
          </span>
        )}
      </Text>
      {canChange && (
        <Group gap="xs">
          {view.overlay && (
            <Button size="xs" variant="default" onClick={() => onAsk('return')}>
              Remove overlay
            </Button>
          )}
          <Button size="xs" onClick={() => onAsk('change')}>
            Change an entry
          </Button>
        </Group>
      )}
    </Group>
  )
}

interface OverlayEntryProps {
  readonly change: OverlayChange
  readonly type: DatasetType
  readonly list_key: string
  readonly base_version: number | null
  readonly onDrop: (() => void) | null
}

function OverlayEntry({ change, type, list_key, base_version, onDrop }: OverlayEntryProps) {
  const { data } = useQuery({
    queryKey: ['datasets', 'entry', list_key, base_version, change.key],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/datasets/{list_key}/versions/{version}/entries', {
        params: {
          path: { list_key, version: String(base_version) },
          query: { key_prefix: change.key, origin: 'shared', limit: 1 },
        },
        signal,
      }),
    enabled: base_version !== null,
  })
  const [words, color] = operationTexts[change.op]
  const shared = data?.items.find(({ key }) => key === change.key)?.entry as Entry | undefined
  const changed = shared && change.effective ? diffMembers(shared, change.effective) : []
  return (
    <article className="diff-entry diff-entry-changed" aria-label={`Overlay on ${change.key}`}>
      <header>
        <h3 className="mono">{change.key}</h3>
        <Badge variant="light" color={color} tt="none">
          {shared === undefined && change.op === 'put' ? 'added' : words}
        </Badge>
        {onDrop && (
          <Button size="compact-xs" variant="default" ml="auto" onClick={onDrop}>
            Remove<span className="sr-only"> the change of {change.key}</span>
          </Button>
        )}
      </header>
      {data === undefined && <Skeleton height={40} />}
      {shared !== undefined && change.effective !== null && changed.length === 0 && (
        <div className="diff-body">
          <Text size="sm">The shared entry is in force unchanged.</Text>
        </div>
      )}
      {changed.length > 0 && (
        <ChangeTable
          type={type}
          changes={changed}
          label={`Fields of ${change.key}`}
          sides={['Shared list', 'In force for this tenant']}
        />
      )}
      {data !== undefined && shared === undefined && change.effective !== null && (
        <div className="diff-body">
          <EntryFacts type={type} entry={change.effective} />
        </div>
      )}
      {shared !== undefined && change.effective === null && (
        <div className="diff-body">
          <Text size="sm">Not in force for this tenant. Shared entry:</Text>
          <EntryFacts type={type} entry={shared} />
        </div>
      )}
    </article>
  )
}

interface DropChangeDialogProps {
  readonly list_key: string
  readonly mode: 'follow' | 'pinned'
  /** The remaining changes; an empty list removes the overlay. */
  readonly changes: readonly OverlayChange[]
  readonly onClose: () => void
  readonly children: ReactNode
}

function DropChangeDialog({ list_key, mode, changes, onClose, children }: DropChangeDialogProps) {
  const [reason, setReason] = useState('')
  const path = { list_key }
  const less = useApiMutation(
    async () =>
      changes.length === 0
        ? probity.DELETE('/api/reference-data/datasets/{list_key}/overlay', { params: { path, query: { reason } } })
        : probity.PUT('/api/reference-data/datasets/{list_key}/overlay', {
            params: { path },
            body: { entries: changes.map(toOperation), mode, reason },
          }),
    { invalidates: ['datasets'], successMessage: 'Overlay updated', onDone: onClose },
  )
  return (
    <FormDialog
      title="Use the shared list?"
      isOpen
      onClose={onClose}
      onSubmit={() => less.run(undefined)}
      submit="Use shared list"
      change={less}
    >
      <Text size="sm">{children}</Text>
      <ReasonField isFirst value={reason} onChange={setReason} />
      <ApprovalNote request={less.waiting} />
    </FormDialog>
  )
}
