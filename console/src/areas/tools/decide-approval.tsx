/** Approves or denies a tool call that waits for a person, or runs one again that was approved but did not run. */
import { Alert, Button, Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { CallTargets, hasTargets } from '#console/ui/tool/call-targets.tsx'
import { isStranded, type ToolApproval } from '#console/ui/tool/tool-texts.ts'

type Choice = 'approve' | 'deny'

const describeResult = ({ state, tool }: ToolApproval): string => {
  if (state === 'denied') return `${tool} denied`
  if (state === 'approved') return `${tool} approved, it is running`
  return state === 'failed' ? `${tool} approved, but it failed` : `${tool} approved and done`
}

export function DecideApproval({ approval }: { readonly approval: ToolApproval }) {
  const [choice, setChoice] = useState<Choice | null>(null)
  return (
    <Group gap="xs">
      {approval.ran_at === null && (
        <Button size="xs" variant="default" onClick={() => setChoice('deny')}>
          Deny
        </Button>
      )}
      <Button size="xs" onClick={() => setChoice('approve')}>
        {isStranded(approval) ? 'Run again' : 'Approve'}
      </Button>
      {choice !== null && <DecisionDialog approval={approval} choice={choice} onClose={() => setChoice(null)} />}
    </Group>
  )
}

interface DecisionDialogProps {
  readonly approval: ToolApproval
  readonly choice: Choice
  readonly onClose: () => void
}

function DecisionDialog({ approval, choice, onClose }: DecisionDialogProps) {
  const [note, setNote] = useState('')
  const { approval_id, tool } = approval
  const queries = useQueryClient()
  const isAgain = isStranded(approval)
  const decide = useApiMutation(
    () => {
      const call = { params: { path: { approval_id } }, body: { note } }
      return choice === 'approve'
        ? probity.POST('/api/mcp/approvals/{approval_id}/approve', call)
        : probity.POST('/api/mcp/approvals/{approval_id}/deny', call)
    },
    { invalidates: ['tool-approvals', 'tool-calls'], successMessage: describeResult, onDone: onClose },
  )
  const close = () => {
    // It may be approved now, though it did not run.
    if (decide.problem) void queries.invalidateQueries({ queryKey: ['tool-approvals'] })
    onClose()
  }
  const isKept = choice === 'approve' && (decide.problem?.status ?? 0) >= 500
  return (
    <FormDialog
      title={choice === 'deny' ? `Deny ${tool}` : isAgain ? `Run ${tool} again` : `Approve ${tool}`}
      isOpen
      onClose={close}
      onSubmit={() => decide.run(undefined)}
      submit={choice === 'deny' ? 'Deny' : isAgain ? 'Run again' : 'Approve and run'}
      change={decide}
      size="lg"
    >
      <Text size="sm">{describeChoice(choice, isAgain)}</Text>
      {hasTargets(approval.arguments) && (
        <Text size="sm">
          It concerns <CallTargets of={approval.arguments} />.
        </Text>
      )}
      {choice === 'approve' && <JsonBlock value={approval.arguments} name="Arguments that will run" />}
      {(choice === 'deny' || !isAgain) && <ReasonField isFirst value={note} onChange={setNote} />}
      {isKept && (
        <Alert color="orange" role="status">
          <Text size="sm">
            The call did not run. If it was approved, the approval is kept: it stays in the list as “approved, not run”,
            and can be run again or denied until it expires.
          </Text>
        </Alert>
      )}
    </FormDialog>
  )
}

function describeChoice(choice: Choice, isAgain: boolean): string {
  if (choice === 'deny') return 'Nothing runs. The caller gets your reason as the answer.'
  const outcome = 'The caller gets the outcome by repeating the call.'
  if (isAgain) return `The call is approved already. Exactly these arguments run now, once. ${outcome}`
  return `Exactly these arguments run now, once, in the name of the caller. ${outcome}`
}
