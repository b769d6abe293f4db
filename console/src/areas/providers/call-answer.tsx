/** What came back: its admission by the contract, and its content for those who may read it. */
import { Alert, Badge, Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { formatSize } from '#console/ui/file-drop.tsx'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { readFile } from '#console/ui/read-file.ts'
import { saveFile } from '#console/ui/save-file.ts'
import { Facts, Section } from '#console/ui/section.tsx'
import { parseJsonOrText } from './json-or-text.ts'

type Call = Schemas['ProviderCall']
type Answer = NonNullable<Call['answer']>

const sourceNames: Readonly<Record<Answer['source'], string>> = {
  provider: 'The provider',
  builtin: 'This service, from a list',
  recorded: 'An earlier answer of the provider',
  fixture: 'An example answer of the manifest',
  person: 'Entered by a person',
}

export function CallAnswer({ call }: { readonly call: Call }) {
  const may = usePermission()
  const { answer } = call
  if (answer === null) return null
  return (
    <Section title="Answer">
      <Stack gap="sm">
        <Facts
          of={[
            ['Result', answer.result === 'found' ? 'Found' : 'Not found: the provider has no record'],
            ['Source', sourceNames[answer.source]],
            ['Arrived', <DateTime key="at" at={answer.answered_at} />],
            answer.source === 'person' && ['Entered by', <Principal key="by" of={answer.answered_by} />],
            ['Reason', answer.reason],
            ['Size', `${formatSize(answer.byte_size)}, ${answer.media_type}`],
            ['Admission', <Admission key="admission" call={call} answer={answer} />],
          ]}
        />
        {may('getProviderCallContent') && answer.byte_size > 0 && <Content call={call} answer={answer} />}
      </Stack>
    </Section>
  )
}

function Admission({ call, answer }: { readonly call: Call; readonly answer: Answer }) {
  const may = usePermission()
  if (call.contract_key === null) return <>Not checked: the capability has no source contract</>
  if (call.state === 'quarantined') {
    return (
      <Group gap={8}>
        <Badge variant="light" tt="none" color="orange">
          in quarantine
        </Badge>
        {may('getQuarantinedPayload') ? (
          <PageLink to={`/source-contracts/quarantine/${answer.payload_id}`} inherit>
            Open the violations
          </PageLink>
        ) : (
          <span>A compliance officer can open the violations.</span>
        )}
      </Group>
    )
  }
  if (call.admission_id === null) return <>Not checked: there is no record</>
  return (
    <Group gap={8}>
      <Badge variant="light" tt="none" color="teal">
        admitted
      </Badge>
      <span>
        by{' '}
        <PageLink to={`/source-contracts/${call.contract_key}`} inherit>
          {call.contract_key}
        </PageLink>
        ; decisions can use it
      </span>
    </Group>
  )
}

const readContent = (call_id: string): Promise<Blob> =>
  readFile(
    probity.raw.GET('/api/providers/calls/{call_id}/content', {
      params: { path: { call_id } },
      headers: { accept: '*/*' },
      parseAs: 'blob',
    }),
  )

interface ReadAnswer {
  readonly blob: Blob
  readonly text: string
}

const isText = (media_type: string): boolean => /json|xml|text/.test(media_type)

function Content({ call, answer }: { readonly call: Call; readonly answer: Answer }) {
  const [content, setContent] = useState<ReadAnswer | null>(null)
  const read = useApiMutation(
    async (): Promise<ReadAnswer> => {
      const blob = await readContent(call.call_id)
      return { blob, text: isText(answer.media_type) ? await blob.text() : '' }
    },
    { invalidates: [], onDone: setContent },
  )
  if (content === null) {
    return (
      <Stack gap="xs">
        <Group gap="sm">
          <Button size="xs" variant="default" loading={read.isRunning} onClick={() => read.run(undefined)}>
            Show the answer
          </Button>
          <Text size="xs" c="dimmed">
            It may hold personal data. Opening it is recorded in the audit record.
          </Text>
        </Group>
        <ProblemNote problem={read.problem} />
      </Stack>
    )
  }
  return (
    <Stack gap="xs">
      {content.text === '' ? (
        <Alert role="status">The answer is not text. Download it to open it.</Alert>
      ) : (
        <JsonBlock value={parseJsonOrText(content.text)} name="Content of the answer" />
      )}
      <Group>
        <Button size="xs" variant="default" onClick={() => saveFile(toFileName(call, answer), content.blob)}>
          Download the exact bytes
        </Button>
      </Group>
    </Stack>
  )
}

const toFileName = ({ call_id }: Call, { media_type }: Answer): string =>
  `${call_id}.${/json/.test(media_type) ? 'json' : /xml/.test(media_type) ? 'xml' : 'bin'}`
