/** Approves or denies a tool call that waits for a person. */
import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { CallTargets, hasTargets } from '#console/ui/tool/call-targets.tsx'
import type { ToolApproval } from '#console/ui/tool/tool-texts.ts'

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
      <Button size="xs" variant="default" onClick={() => setChoice('deny')}>
        Deny
      </Button>
      <Button size="xs" onClick={() => setChoice('approve')}>
        Approve
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
  const decide = useApiMutation(
    () => {
      const call = { params: { path: { approval_id } }, body: { note } }
      return choice === 'approve'
        ? probity.POST('/api/mcp/approvals/{approval_id}/approve', call)
        : probity.POST('/api/mcp/approvals/{approval_id}/deny', call)
    },
    { invalidates: ['tool-approvals', 'tool-calls'], successMessage: describeResult, onDone: onClose },
  )
  return (
    <FormDialog
      title={choice === 'approve' ? `Approve ${tool}` : `Deny ${tool}`}
      isOpen
      onClose={onClose}
      onSubmit={() => decide.run(undefined)}
      submit={choice === 'approve' ? 'Approve and run' : 'Deny'}
      change={decide}
      size="lg"
    >
      <Text size="sm">
        {choice === 'approve'
          ? 'Exactly these arguments run now, once, in the name of the caller. The caller gets the outcome by repeating the call.'
          : 'Nothing runs. The caller gets your reason as the answer.'}
      </Text>
      {hasTargets(approval.arguments) && (
        <Text size="sm">
          It concerns <CallTargets of={approval.arguments} />.
        </Text>
      )}
      {choice === 'approve' && <JsonBlock value={approval.arguments} name="Arguments that will run" />}
      <ReasonField isFirst value={note} onChange={setNote} />
    </FormDialog>
  )
}
