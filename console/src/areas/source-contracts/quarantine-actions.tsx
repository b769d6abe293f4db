/** Checks payloads in quarantine again, or closes them, one by one or several at once. */
import { Alert, Button, Radio, Stack, Text } from '@mantine/core'
import { isProblem, type Schemas } from '@probity/client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { formatCount } from '#console/ui/format.ts'
import { ReasonField } from '#console/ui/reason-field.tsx'

type Item = Pick<Schemas['QuarantineItem'], 'payload_id' | 'contract_key' | 'state' | 'revision'>
type Action = 'widen' | 'provider_fault' | 'discard'

export interface GroupResult {
  readonly done: number
  /** Why others were not done, each reason once. */
  readonly refused: readonly string[]
}

/** One call after the other: a payload that is refused does not stop the rest. */
async function runEach(items: readonly Item[], send: (item: Item) => Promise<unknown>): Promise<GroupResult> {
  const refused: string[] = []
  for (const item of items) {
    try {
      await send(item)
    } catch (error) {
      if (!isProblem(error)) throw error
      refused.push(error.detail ?? error.title)
    }
  }
  return { done: items.length - refused.length, refused: [...new Set(refused)] }
}

interface QuarantineActionsProps {
  readonly items: readonly Item[]
  readonly onDone: () => void
}

const reprocessOne = async ({ payload_id }: Item) => {
  const { job_id } = await probity.POST('/api/source-contracts/quarantine/{payload_id}/reprocess', {
    params: { path: { payload_id } },
    body: {},
  })
  return probity.jobs.wait(job_id)
}

/** For a group: checking again, and closing with a reason. Widening a contract concerns one payload. */
export function QuarantineActions({ items, onDone }: QuarantineActionsProps) {
  const may = usePermission()
  const queries = useQueryClient()
  const [isResolving, setResolving] = useState(false)
  const [result, setResult] = useState<GroupResult | null>(null)
  const finish = async (answer: GroupResult) => {
    await queries.invalidateQueries({ queryKey: ['definitions', 'contract'] })
    setResult(answer)
    if (answer.refused.length === 0) onDone()
  }
  const reprocess = useApiMutation(() => runEach(items, reprocessOne), {
    invalidates: ['quarantine'],
    successMessage: ({ done }) => `${formatCount(done, 'payload')} checked again`,
    onDone: finish,
  })
  const open = items.filter(({ state }) => state === 'open')
  return (
    <>
      <Button size="xs" variant="default" loading={reprocess.isRunning} onClick={() => reprocess.run(undefined)}>
        Check again
      </Button>
      {may('resolveQuarantinedPayload') && open.length > 0 && (
        <Button size="xs" variant="default" onClick={() => setResolving(true)}>
          Resolve
        </Button>
      )}
      {result !== null && result.refused.length > 0 && (
        <Alert
          color="orange"
          title={`${formatCount(result.done, 'payload')} done, the others were refused`}
          role="status"
        >
          {result.refused.map((reason) => (
            <Text key={reason} size="sm">
              {reason}
            </Text>
          ))}
        </Alert>
      )}
      <ResolveDialog items={open} isOpen={isResolving} onClose={() => setResolving(false)} onDone={finish} />
    </>
  )
}

const actionTexts: readonly (readonly [Action, string, string])[] = [
  [
    'widen',
    'Widen the contract',
    'Opens a draft with the smallest change that admits this payload. Publish it and put it in force, then check the payload again.',
  ],
  ['provider_fault', 'Fault of the provider', 'The provider sent something wrong. Nothing changes.'],
  ['discard', 'Discard', 'The payload is not needed.'],
]

interface ResolveDialogProps {
  readonly items: readonly Item[]
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onDone: (result: GroupResult) => void
}

function ResolveDialog({ items, isOpen, onClose, onDone }: ResolveDialogProps) {
  const [form, setForm] = useState<{ action: Action; reason: string }>({ action: 'provider_fault', reason: '' })
  const send = ({ payload_id, revision }: Item) =>
    probity.POST('/api/source-contracts/quarantine/{payload_id}/resolve', {
      params: { path: { payload_id } },
      body: { action: form.action, reason: form.reason, expected_revision: revision },
    })
  const [only] = items
  const isSingle = items.length === 1 && only !== undefined
  // A problem with a single payload is shown in the dialog; those of a group are listed beside the button.
  const resolve = useApiMutation(
    async (): Promise<GroupResult> => {
      if (!isSingle) return runEach(items, send)
      await send(only)
      return { done: 1, refused: [] }
    },
    {
      invalidates: ['quarantine'],
      successMessage: ({ done }) => `${formatCount(done, 'payload')} resolved`,
      onDone: (answer) => {
        close()
        onDone(answer)
      },
    },
  )
  function close() {
    setForm({ action: 'provider_fault', reason: '' })
    resolve.reset()
    onClose()
  }
  return (
    <FormDialog
      title={isSingle ? 'Resolve the payload' : `Resolve ${formatCount(items.length, 'payload')}`}
      isOpen={isOpen}
      onClose={close}
      onSubmit={() => resolve.run(undefined)}
      submit="Resolve"
      change={resolve}
    >
      <Radio.Group
        label="Resolution"
        value={form.action}
        onChange={(action) => setForm({ ...form, action: action as Action })}
      >
        <Stack gap="xs" mt={4}>
          {actionTexts
            .filter(([action]) => isSingle || action !== 'widen')
            .map(([action, label, description]) => (
              <Radio key={action} value={action} label={label} description={description} />
            ))}
        </Stack>
      </Radio.Group>
      <ReasonField value={form.reason} onChange={(reason) => setForm({ ...form, reason })} />
    </FormDialog>
  )
}
