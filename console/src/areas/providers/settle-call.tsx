/** A person decides about a call whose outcome is unknown: repeat it, or enter the answer. */
import { Alert, Button, Group, List, SegmentedControl, Select, Stack, Text, Textarea } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { callQuery } from '#console/ui/provider/provider-queries.ts'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { findAnswerFault } from './answer-text.ts'

type Call = Schemas['ProviderCall']

export function SettleCall({ call }: { readonly call: Call }) {
  const may = usePermission()
  const [asking, setAsking] = useState<'repeat' | 'answer' | null>(null)
  const canDecide = may('repeatProviderCall') || may('answerProviderCall')
  if (call.repeated_by_call_id !== null) {
    return (
      <Alert color="cyan" role="status" title="Settled: the call was made again">
        <PageLink to={`/providers/calls/${call.repeated_by_call_id}`} size="sm">
          Open the later call
        </PageLink>
      </Alert>
    )
  }
  return (
    <Alert color="orange" icon={<Icon name="warning" />} title="A person decides" role="status">
      <Stack gap="xs">
        {call.mode !== 'live' && (
          <Text size="sm">
            This call was made in the mode “{call.mode}”: nothing was sent, and it shows what happens with a real one.
          </Text>
        )}
        <Text size="sm">
          The request may have reached the provider, and it is not known whether the provider acted on it. This
          capability is sent at most once, so the service does not try again by itself. Find out from the provider
          first, for example in its portal or from its support.
        </Text>
        <List size="sm" spacing={4}>
          <List.Item>
            <b>Repeat the call</b> if the provider did not receive it. If it did, it may act and charge twice. The
            repetition is a new call with a new cost.
          </List.Item>
          <List.Item>
            <b>Enter the answer</b> if the provider did receive it and you know what it answered. Nothing is sent. The
            answer is checked by the source contract like any other, and your name and reason stay with it.
          </List.Item>
          <List.Item>
            <b>Leave it</b>, and nothing happens: work that waits for the answer stays failed.
          </List.Item>
        </List>
        {canDecide ? (
          <Group gap="xs">
            {may('repeatProviderCall') && (
              <Button size="xs" color="orange.9" onClick={() => setAsking('repeat')}>
                Repeat the call
              </Button>
            )}
            {may('answerProviderCall') && (
              <Button size="xs" variant="default" onClick={() => setAsking('answer')}>
                Enter the answer
              </Button>
            )}
          </Group>
        ) : (
          <Text size="sm">An analyst or a compliance officer can decide.</Text>
        )}
      </Stack>
      {asking === 'repeat' && <RepeatDialog call={call} onClose={() => setAsking(null)} />}
      {asking === 'answer' && <AnswerDialog call={call} onClose={() => setAsking(null)} />}
    </Alert>
  )
}

interface DialogProps {
  readonly call: Call
  readonly onClose: () => void
}

function RepeatDialog({ call, onClose }: DialogProps) {
  const navigate = useNavigate()
  const [reason, setReason] = useState('')
  const repeat = useApiMutation(
    () =>
      probity.POST('/api/providers/calls/{call_id}/repeat', {
        params: { path: { call_id: call.call_id } },
        body: { reason },
      }),
    {
      invalidates: ['provider-calls', 'providers'],
      onDone: ({ resource, job_id }) => navigate({ to: resource?.replace('/api', '') ?? `/jobs/${job_id}` }),
    },
  )
  const costs = call.attempts_made.flatMap(({ cost }) => cost ?? [])
  return (
    <FormDialog
      title="Repeat the call?"
      isOpen
      onClose={onClose}
      onSubmit={() => repeat.run(undefined)}
      submit="Repeat the call"
      change={repeat}
    >
      <Text size="sm">
        The same question is sent to {call.provider_key} again. If the first request arrived, the provider may act on
        both{costs.length > 0 && ` and charge ${costs[0]} a second time`}.
      </Text>
      <ReasonField isFirst label="Why it is safe to repeat" value={reason} onChange={setReason} />
    </FormDialog>
  )
}

const mediaTypes = ['application/json', 'application/xml', 'text/plain']
const blank = { result: 'found' as 'found' | 'not_found', media_type: 'application/json', content: '', reason: '' }

function AnswerDialog({ call, onClose }: DialogProps) {
  const queries = useQueryClient()
  const [form, setForm] = useState(blank)
  const [fault, setFault] = useState<string | null>(null)
  const answer = useApiMutation(
    () =>
      probity.POST('/api/providers/calls/{call_id}/answer', {
        params: { path: { call_id: call.call_id } },
        body: form,
      }),
    {
      invalidates: ['provider-calls'],
      successMessage: 'Answer stored; the contract checks it now',
      onDone: async ({ job_id }) => {
        onClose()
        // However the job ends, the call says what came of it.
        await probity.jobs.wait(job_id).catch(() => undefined)
        await queries.invalidateQueries({ queryKey: callQuery(call.call_id).queryKey })
      },
    },
  )
  function change(part: Partial<typeof blank>) {
    setForm({ ...form, ...part })
    setFault(null)
  }
  function submit() {
    const found = findAnswerFault(form.content, form.media_type)
    setFault(found)
    if (found === null) answer.run(undefined)
  }
  return (
    <FormDialog
      title="Enter the answer"
      isOpen
      onClose={onClose}
      onSubmit={submit}
      submit="Store the answer"
      change={answer}
      size="lg"
    >
      <Alert color="orange" icon={<Icon name="warning" />} title="This is final">
        The answer is stored under your name and cannot be corrected, and the call cannot be repeated afterwards.
        {call.contract_key !== null &&
          ` If it breaks the source contract ${call.contract_key}, it goes to quarantine and no decision can use it.`}{' '}
        Nothing is sent to the provider.
      </Alert>
      <SegmentedControl
        aria-label="Result"
        value={form.result}
        onChange={(result) => change({ result: result as typeof form.result })}
        data={[
          { value: 'found', label: 'The provider has a record' },
          { value: 'not_found', label: 'It has none' },
        ]}
      />
      <Select
        label="Format"
        allowDeselect={false}
        data={mediaTypes}
        value={form.media_type}
        onChange={(media_type) => change({ media_type: media_type ?? blank.media_type })}
      />
      <Textarea
        data-autofocus
        label="Answer"
        description="Exactly as the provider gave it."
        required
        autosize
        minRows={5}
        maxRows={16}
        maxLength={1_000_000}
        spellCheck={false}
        classNames={{ input: 'mono' }}
        value={form.content}
        error={fault}
        onChange={(event) => change({ content: event.currentTarget.value })}
      />
      <ReasonField label="How it is known" value={form.reason} onChange={(reason) => setForm({ ...form, reason })} />
    </FormDialog>
  )
}
