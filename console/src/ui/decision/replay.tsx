/** Replays a decision on its recorded versions and shows the verdict. */
import '../registry.css'
import './decision.css'
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '../api-mutation.ts'
import { CopyValue } from '../copy-value.tsx'
import { Icon } from '../icons.tsx'
import { ProblemNote } from '../problem-note.tsx'
import { Changes } from './changes.tsx'

type ReplayResponse = Schemas['Replay']

/** The last replay of a decision in this session; other parts of the page show what it found. */
export const replayResultQuery = (evaluation_id: string) =>
  queryOptions({
    queryKey: ['evaluations', 'replay', evaluation_id],
    queryFn: (): ReplayResponse | null => null,
    initialData: null as ReplayResponse | null,
    staleTime: Number.POSITIVE_INFINITY,
  })

const verdictTexts = {
  identical: ['Identical', 'The replay on the recorded versions produced the same document, byte for byte.'],
  different: ['Different', 'The stored record is intact, but the replay produced a different document.'],
  tampered: ['Tampered', 'The record, its receipt or a recorded version was altered.'],
} as const

interface ReplayProps {
  readonly evaluation_id: string
  readonly onReplayed?: () => void
}

export function Replay({ evaluation_id, onReplayed }: ReplayProps) {
  const queries = useQueryClient()
  const [replayed, setReplayed] = useState<ReplayResponse | null>(null)
  const replay = useApiMutation(
    () => probity.POST('/api/evaluations/{evaluation_id}/replay', { params: { path: { evaluation_id } } }),
    {
      invalidates: [],
      onDone: (answer) => {
        setReplayed(answer)
        queries.setQueryData(replayResultQuery(evaluation_id).queryKey, answer)
        onReplayed?.()
      },
    },
  )
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Button variant="light" loading={replay.isRunning} onClick={() => replay.run(undefined)}>
          Replay
        </Button>
        {replayed === null && (
          <Text size="sm" c="dimmed">
            Repeats the decision from its receipt and compares the result byte by byte.
          </Text>
        )}
      </Group>
      <ProblemNote problem={replay.problem} />
      {replayed && <ReplayResult replayed={replayed} />}
    </Stack>
  )
}

function ReplayResult({ replayed }: { readonly replayed: ReplayResponse }) {
  const { verdict, faults, differences } = replayed
  return (
    <>
      <div className={`replay replay-${verdict}`} role="status">
        <Icon name={verdict === 'identical' ? 'check' : 'warning'} size={26} />
        <b>{verdictTexts[verdict][0]}</b>
        <Text size="sm" c="var(--mantine-color-text)">
          {verdictTexts[verdict][1]}
        </Text>
      </div>
      {faults.length > 0 && (
        <ul>
          {faults.map((fault) => (
            <li key={fault}>
              <Text size="sm">{fault}</Text>
            </li>
          ))}
        </ul>
      )}
      {differences.length > 0 && (
        <Changes changes={differences} label="Stored and recomputed" sides={['Stored', 'Recomputed']} />
      )}
      <Text size="xs" c="dimmed" component="div">
        Hash of the recomputed document:{' '}
        {replayed.recomputed_hash === null ? (
          'none'
        ) : (
          <CopyValue value={replayed.recomputed_hash} name="the recomputed hash" />
        )}
      </Text>
    </>
  )
}
