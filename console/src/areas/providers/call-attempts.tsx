/** Every attempt of a call in time order: intended, sent, ended. */
import { Badge, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { usePermission } from '#console/session/queries.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { describeFault } from '#console/ui/provider/provider-texts.ts'
import { Section } from '#console/ui/section.tsx'

type Call = Schemas['ProviderCall']
type Attempt = Schemas['ProviderAttempt']

const outcomeNames: Readonly<Record<NonNullable<Attempt['outcome']>, readonly [color: string, words: string]>> = {
  answered: ['teal', 'answered'],
  failed: ['red', 'failed'],
  refused: ['red', 'refused'],
  not_sent: ['gray', 'not sent'],
  unknown: ['orange', 'outcome unknown'],
}

export function Attempts({ call }: { readonly call: Call }) {
  const { attempts_made } = call
  return (
    <Section title="Attempts">
      {attempts_made.length === 0 ? (
        <Text size="sm" c="dimmed">
          {call.mode === 'live' ? 'Nothing was sent yet.' : `Answered in the mode “${call.mode}”: nothing was sent.`}
        </Text>
      ) : (
        <ol className="timeline" aria-label="Attempts, oldest first">
          {attempts_made.map((attempt) => (
            <AttemptEntry
              key={attempt.attempt_no}
              of={attempt}
              isByPerson={call.answer?.source === 'person' && attempt === attempts_made.at(-1)}
            />
          ))}
        </ol>
      )}
    </Section>
  )
}

interface AttemptEntryProps {
  readonly of: Attempt
  /** Its outcome was unknown until a person entered the answer. */
  readonly isByPerson: boolean
}

function AttemptEntry({ of, isByPerson }: AttemptEntryProps) {
  const may = usePermission()
  const [color, words] =
    of.outcome === null
      ? of.sent_at === null
        ? ['gray', 'intended']
        : ['cyan', 'under way']
      : isByPerson && of.outcome === 'answered'
        ? ['cyan', 'answer entered by a person']
        : outcomeNames[of.outcome]
  return (
    <li data-in-force={of.outcome === 'answered'} aria-label={`Attempt ${of.attempt_no}`}>
      <div className="version">
        <Stack gap={4} miw={0}>
          <Group gap="xs">
            <Text fw={650}>Attempt {of.attempt_no}</Text>
            <Badge variant="light" tt="none" miw="max-content" color={color ?? 'gray'}>
              {words}
            </Badge>
            {of.http_status !== null && (
              <Text size="sm" c="dimmed">
                HTTP {of.http_status}
              </Text>
            )}
            {of.cost !== null && <Text size="sm">{of.cost}</Text>}
          </Group>
          {of.fault !== null && <Text size="sm">{describeFault(of.fault)}</Text>}
          <AttemptTimes of={of} />
          <Text size="xs" c="dimmed" component="div">
            Token <CopyValue value={of.token} name="the token of the attempt" />
          </Text>
          {of.credential_id !== null && may('getProviderCredential') && (
            <Text size="xs" c="dimmed" component="div">
              With version {of.credential_version} of{' '}
              <PageLink to={`/provider-credentials/${of.credential_id}`} inherit>
                the credential
              </PageLink>
            </Text>
          )}
        </Stack>
      </div>
    </li>
  )
}

function AttemptTimes({ of }: { readonly of: Attempt }) {
  return (
    <ul className="plain-list attempt-times">
      <li>
        Intended <DateTime at={of.intended_at} isExact />
      </li>
      <li>
        {of.sent_at === null ? (
          'Not sent'
        ) : (
          <>
            Sent <DateTime at={of.sent_at} isExact />
          </>
        )}
      </li>
      {of.ended_at !== null ? (
        <li>
          Ended <DateTime at={of.ended_at} isExact />
          {of.duration_ms !== null && `, after ${of.duration_ms.toLocaleString('en')} ms`}
        </li>
      ) : (
        of.deadline_at !== null && (
          <li>
            Given up at <DateTime at={of.deadline_at} isExact />
          </li>
        )
      )}
    </ul>
  )
}
