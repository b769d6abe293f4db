/** The absence of a user, during which no new work is assigned: on the page of the user, and in the account menu. */
import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { type FormEvent, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from './api-mutation.ts'
import { DateTime, useNow } from './date-time.tsx'
import { ProblemNote } from './problem-note.tsx'

type Absence = Pick<Schemas['User'], 'away_from' | 'away_until' | 'away_reason'>
type AwayReason = NonNullable<Absence['away_reason']>

const reasons: Readonly<Record<AwayReason, string>> = {
  leave: 'Leave',
  training: 'Training',
  travel: 'Travel',
  other: 'Other',
}

interface AvailabilityFormProps {
  /** The revision is unknown to users who may read their absence only. */
  readonly user: Absence & Pick<Schemas['User'], 'user_id'> & { readonly revision?: number }
  readonly onReload?: () => void
  readonly onSaved?: () => void
}

/** Local time without a zone, as the field expects. */
function toLocalInput(at: string | null): string {
  if (at === null) return ''
  const date = new Date(at)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
const toUtcInstant = (local: string): string => new Date(local).toISOString()

export function AvailabilityForm({ user, onReload, onSaved }: AvailabilityFormProps) {
  const [away, setAway] = useState({ from: toLocalInput(user.away_from), until: toLocalInput(user.away_until) })
  const [reason, setReason] = useState(user.away_reason)
  const save = useApiMutation(
    (absence: Absence) =>
      probity.PUT('/api/users/{user_id}/availability', {
        params: { path: { user_id: user.user_id } },
        body: { ...absence, ...(user.revision !== undefined && { expected_revision: user.revision }) },
      }),
    {
      invalidates: ['users'],
      successMessage: ({ away_until }) => (away_until === null ? 'Absence ended' : 'Absence saved'),
      ...(onSaved && { onDone: onSaved }),
    },
  )
  const isOrdered = away.from === '' || away.until === '' || away.from < away.until
  const field = (name: keyof typeof away) => ({
    type: 'datetime-local',
    value: away[name],
    onChange: (event: { currentTarget: HTMLInputElement }) => setAway({ ...away, [name]: event.currentTarget.value }),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    if (!isOrdered) return
    save.run({ away_from: toUtcInstant(away.from), away_until: toUtcInstant(away.until), away_reason: reason })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <AvailabilityNote user={user} />
        <Group grow align="flex-start">
          <TextInput label="Away from" required {...field('from')} />
          <TextInput
            label="Away until"
            required
            error={isOrdered ? undefined : 'Must be later than the start.'}
            {...field('until')}
          />
        </Group>
        <Select
          label="Reason"
          placeholder="Not given"
          clearable
          data={Object.entries(reasons).map(([value, label]) => ({ value, label }))}
          value={reason}
          onChange={(value) => setReason(value as AwayReason | null)}
        />
        <ProblemNote problem={save.problem} {...(onReload && { onReload })} />
        <Group>
          <Button type="submit" variant="light" loading={save.isRunning}>
            Save absence
          </Button>
          {user.away_until !== null && (
            <Button
              variant="default"
              onClick={() => save.run({ away_from: null, away_until: null, away_reason: null })}
            >
              End absence
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}

function AvailabilityNote({ user: { away_from, away_until, away_reason } }: { readonly user: Absence }) {
  const now = useNow()
  if (away_from === null || away_until === null || Date.parse(away_until) <= now) {
    return <Text size="sm">Available. New work is assigned as usual.</Text>
  }
  return (
    <Text size="sm">
      {Date.parse(away_from) <= now ? 'Away' : 'Will be away'} from <DateTime at={away_from} /> until{' '}
      <DateTime at={away_until} />
      {away_reason === null ? '' : ` (${reasons[away_reason].toLowerCase()})`}: no new work is assigned in this period.
    </Text>
  )
}
