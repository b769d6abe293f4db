/** Conflicts between an overlay and a newer shared version, and how to resolve each. */

import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { ChangeTable } from '#console/ui/change-table.tsx'
import { formatCount } from '#console/ui/format.ts'
import { Gates, getGates } from '#console/ui/gates.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import type { DatasetType } from '#console/ui/registry-queries.ts'
import { Section } from '#console/ui/section.tsx'
import { diffMembers } from '#console/ui/value-diff.ts'
import type { Overlay } from './overlay-query.ts'

type Conflict = Schemas['OverlayConflict']
type Side = 'ours' | 'theirs'

interface OverlayConflictsProps {
  readonly view: Overlay
  readonly type: DatasetType
  readonly canRebase: boolean
}

const conflictTexts: Readonly<Record<Conflict['kind'], string>> = {
  'changed-under-patch': 'The shared entry changed after our change.',
  removed: 'The shared entry was removed.',
  redundant: 'The shared list now has the same value; our change is no longer needed.',
  'policy-violating': 'Our change is no longer allowed by the list’s policy.',
  invalid: 'Our change no longer produces a valid entry.',
}
const isOursRefused: readonly Conflict['kind'][] = ['policy-violating', 'invalid']
/** Conflicts in which our change cannot be kept. */
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
          ? 'The shared list has a newer version'
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
                Update overlay
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
            aria-label={`Value to keep for ${key}`}
            value={chosen ?? ''}
            onChange={(side) => onChoose(side as Side)}
            data={[
              ...(isOursObsolete(conflict) ? [] : [{ value: 'ours', label: 'Keep our change' }]),
              { value: 'theirs', label: 'Use shared entry' },
            ]}
          />
        )}
      </header>
      {base !== null && theirs !== null && (
        <ChangeTable
          type={type}
          changes={diffMembers(base, theirs)}
          label={`Shared list changes to ${key}`}
          sides={['Shared, at our change', 'Shared, now']}
        />
      )}
      <div className="diff-body">
        {base === null && <Text size="sm">The entry was not on the shared list when we added it.</Text>}
        {theirs === null && <Text size="sm">The entry is no longer on the shared list.</Text>}
        {ours === null && theirs !== null && <Text size="sm">We removed the entry.</Text>}
      </div>
      {ours !== null && theirs !== null && (
        <ChangeTable
          type={type}
          changes={diffMembers(theirs, ours)}
          label={`Effect of our change on ${key}`}
          sides={['Shared', 'Ours']}
        />
      )}
    </article>
  )
}
