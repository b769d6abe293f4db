/** What a test call came to. */
import { Alert, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { usePermission } from '#console/session/queries.ts'
import { PageLink } from '../link.tsx'
import { describeFault, describeTest, type ProviderMode } from './provider-texts.ts'

export type TestReply = Schemas['ProviderTest']

const colors: Readonly<Record<TestReply['outcome'], string>> = {
  answered: 'teal',
  quarantined: 'orange',
  refused: 'red',
  failed: 'red',
  waiting: 'yellow',
}

interface TestOutcomeProps {
  readonly reply: TestReply
  /** How the provider answers calls at present. */
  readonly mode?: ProviderMode
}

export function TestOutcome({ reply, mode = 'live' }: TestOutcomeProps) {
  const may = usePermission()
  const isUnsent = mode !== 'live'
  const color = isUnsent && reply.outcome === 'answered' ? 'cyan' : colors[reply.outcome]
  return (
    <Alert color={color} title={describeTest(reply.outcome, mode)} role="status">
      <Text size="sm">
        {reply.fault !== null && `${describeFault(reply.fault)} `}
        {reply.result === 'not_found' && 'It has no record for the test input, which is an answer too. '}
        {isUnsent && 'Nothing was sent, so this says nothing about the connection or the credential. '}
        {!isUnsent && reply.duration_ms !== null && `It took ${reply.duration_ms.toLocaleString('en')} ms. `}
        {may('getProviderCall') && (
          <PageLink to={`/providers/calls/${reply.call_id}`} inherit>
            Open the call
          </PageLink>
        )}
      </Text>
    </Alert>
  )
}
