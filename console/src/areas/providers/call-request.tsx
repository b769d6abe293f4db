/** What a call asked for: its input and the request without credentials, read on demand. */
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'
import { parseJsonOrText } from './json-or-text.ts'

type Asked = Schemas['ProviderCallRequest']

export function CallRequest({ call_id }: { readonly call_id: string }) {
  const may = usePermission()
  const [asked, setAsked] = useState<Asked | null>(null)
  const read = useApiMutation(
    () => probity.GET('/api/providers/calls/{call_id}/request', { params: { path: { call_id } } }),
    { invalidates: [], onDone: setAsked },
  )
  if (!may('getProviderCallRequest')) return null
  return (
    <Section title="Request">
      {asked === null ? (
        <Stack gap="xs">
          <Group gap="sm">
            <Button size="xs" variant="default" loading={read.isRunning} onClick={() => read.run(undefined)}>
              Show what was asked
            </Button>
            <Text size="xs" c="dimmed">
              It may hold personal data. Opening it is recorded in the audit record.
            </Text>
          </Group>
          <ProblemNote problem={read.problem} />
        </Stack>
      ) : (
        <AskedRequest of={asked} />
      )}
    </Section>
  )
}

function AskedRequest({ of: { input, request } }: { readonly of: Asked }) {
  return (
    <Stack gap="xs" role="status">
      <JsonBlock value={input} name="Input of the call" />
      {request === null ? (
        <Text size="sm">No request is stored: the answer is made without asking anybody, or by a plugin.</Text>
      ) : (
        <JsonBlock
          value={{ ...request, body: request.body === null ? null : parseJsonOrText(request.body) }}
          name="Request, with placeholders for credentials"
        />
      )}
    </Stack>
  )
}
