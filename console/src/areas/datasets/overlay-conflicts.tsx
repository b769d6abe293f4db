/** Where the shared list moved under an overlay: what it was, what we made of it, what it is now, and which to keep. */

import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { formatCount } from '#console/ui/format.ts'
import { Gates, getGates } from '#console/ui/gates.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import type { DatasetType } from '#console/ui/registry-queries.ts'
import { Section } from '#console/ui/section.tsx'
import { diffMembers } from '#console/ui/value-diff.ts'
import { ChangeTable } from './change-table.tsx'
import type { Overlay } from './overlay-query.ts'

type Conflict = Schemas['OverlayConflict']
type Side = 'ours' | 'theirs'

interface OverlayConflictsProps {
  readonly view: Overlay
  readonly type: DatasetType
  readonly canRebase: boolean
}

const conflictTexts: Readonly<Record<Conflict['kind'], string>> = {
  'changed-under-patch': 'The shared entry changed after we changed it.',
  removed: 'The shared entry is gone.',
  redundant: 'The shared list says the same by now; our change can go.',
  'policy-violating': 'Our change is no longer allowed by the list’s policy.',
  invalid: 'Our change no longer gives an entry of the type.',
}
const isOursRefused: readonly Conflict['kind'][] = ['policy-violating', 'invalid']
/** Where the base entry stands whatever we would like, or is gone with nothing left to change. */
const isOursObsolete = ({ kind, ours, theirs }: Conflict): boolean =>
  isOursRefused.includes(kind) || (kind === 'removed' && ours === null && theirs === null)

export function OverlayConflicts({ view, type, canRebase }: OverlayConflictsProps) {
  const [resolutions, setResolutions] = useState<Readonly<Record<string, Side>>>({})
  const [reason, setReason] = useState('')
  const rebase = useApiMutation(
    () =>
      probity.POST('/api/reference-data/datasets/{list_key}/overlay/rebase', {
        params: { path: { list_key: view.list_key } },
        body: { resolutions, apply: true, ...(reason && { reason }) },
      }),
    { invalidates: ['datasets'], successMessage: ({ version }) => `Overlay version ${version} is in force` },
  )
  return (
    <Section
      title={
        view.conflicts.length === 0
          ? 'The shared list has moved'
          : formatCount(view.conflicts.length, 'conflict with the shared list', 'conflicts with the shared list')
      }
    >
      <Stack gap="md">
        {view.conflicts.map((conflict) => (
          <ConflictItem
            key={conflict.key}
            conflict={conflict}
            type={type}
            chosen={resolutions[conflict.key] ?? null}
            onChoose={canRebase ? (side) => setResolutions({ ...resolutions, [conflict.key]: side }) : null}
          />
        ))}
        {canRebase && (
          <>
            <ReasonField isRequired={false} value={reason} onChange={setReason} />
            <Gates gates={getGates(rebase.problem)} />
            <ProblemNote problem={rebase.problem} />
            <ApprovalNote request={rebase.waiting} />
            <Group>
              <Button loading={rebase.isRunning} onClick={() => rebase.run(undefined)}>
                Bring the overlay up to date
              </Button>
            </Group>
          </>
        )}
      </Stack>
    </Section>
  )
}

interface ConflictItemProps {
  readonly conflict: Conflict
  readonly type: DatasetType
  readonly chosen: Side | null
  readonly onChoose: ((side: Side) => void) | null
}

function ConflictItem({ conflict, type, chosen, onChoose }: ConflictItemProps) {
  const { key, kind, detail, ours, theirs, base } = conflict
  const isChoice = kind !== 'redundant'
  return (
    <article className="diff-entry diff-entry-changed" aria-label={`Conflict on ${key}`}>
      <header>
        <h3 className="mono">{key}</h3>
        <Text size="sm">
          {conflictTexts[kind]} {isOursRefused.includes(kind) && detail}
        </Text>
        {isChoice && onChoose && (
          <SegmentedControl
            size="xs"
            ml="auto"
            aria-label={`Which to keep for ${key}`}
            value={chosen ?? ''}
            onChange={(side) => onChoose(side as Side)}
            data={[
              ...(isOursObsolete(conflict) ? [] : [{ value: 'ours', label: 'Keep ours' }]),
              { value: 'theirs', label: 'Take theirs' },
            ]}
          />
        )}
      </header>
      {base !== null && theirs !== null && (
        <ChangeTable
          type={type}
          changes={diffMembers(base, theirs)}
          label={`What the shared list changed on ${key}`}
          sides={['Shared, when we changed it', 'Shared, now']}
        />
      )}
      <div className="diff-body">
        {base === null && <Text size="sm">It was not on the shared list when we added it.</Text>}
        {theirs === null && <Text size="sm">It is not on the shared list any more.</Text>}
        {ours === null && theirs !== null && <Text size="sm">We removed it.</Text>}
      </div>
      {ours !== null && theirs !== null && (
        <ChangeTable
          type={type}
          changes={diffMembers(theirs, ours)}
          label={`What ours makes of ${key}`}
          sides={['Theirs', 'Ours']}
        />
      )}
    </article>
  )
}
