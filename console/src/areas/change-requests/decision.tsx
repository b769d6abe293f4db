/** Approving, rejecting and taking back. Nobody approves their own request; the server and the database see to that. */
import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { toWords } from '#console/ui/format.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'

type ChangeRequest = Schemas['ChangeRequest']

export function Decision({ request }: { readonly request: ChangeRequest }) {
  const me = useMe()
  const may = usePermission()
  if (request.state !== 'open') return null
  const isMine = request.created_by === me.principal
  const hasApproved = request.approvals.some(({ approved_by }) => approved_by === me.principal)
  const isChecker = me.principal.startsWith('user:') && me.roles.some((role) => role === request.required_role)
  if (isMine && may('withdrawChangeRequest')) return <Withdrawal request={request} />
  if (hasApproved) return <DecisionSection>You have approved it. Others must too.</DecisionSection>
  if (!isChecker || !may('approveChangeRequest')) {
    return (
      <DecisionSection>
        A person with the role {toWords(request.required_role)} decides; that is not you.
      </DecisionSection>
    )
  }
  return <DecisionForm request={request} />
}

function DecisionSection({ children }: { readonly children: React.ReactNode }) {
  return (
    <Section title="Decision">
      <Text size="sm">{children}</Text>
    </Section>
  )
}

/** What a request may be about; and a refusal may mean that it is no longer as it is shown. */
const affectedQueries = ['change-requests', 'users', 'tenant', 'definitions', 'datasets', 'subjects']

function DecisionForm({ request }: { readonly request: ChangeRequest }) {
  const [note, setNote] = useState('')
  const [isLacking, setLacking] = useState(false)
  const params = { path: { cr_id: request.cr_id } }
  const approve = useApiMutation(
    () => probity.POST('/api/change-requests/{cr_id}/approve', { params, body: note === '' ? {} : { note } }),
    { invalidates: affectedQueries, decidesRequest: true, successMessage: 'Approved' },
  )
  const reject = useApiMutation(
    () => probity.POST('/api/change-requests/{cr_id}/reject', { params, body: { reason: note } }),
    { invalidates: affectedQueries, decidesRequest: true, successMessage: 'Rejected' },
  )
  const missing = request.approvers - request.approvals.length
  return (
    <Section title="Your decision">
      <Stack gap="sm">
        <Text size="sm">
          {missing === 1
            ? 'Your approval is the last one needed: the change is made at once.'
            : `${missing} approvals are still needed.`}
        </Text>
        <Textarea
          label="Note"
          description="Kept with the decision. A rejection needs one."
          autosize
          minRows={2}
          maxLength={2000}
          value={note}
          error={isLacking ? 'Say why.' : undefined}
          onChange={(event) => {
            setNote(event.currentTarget.value)
            setLacking(false)
          }}
        />
        <ProblemNote problem={approve.problem ?? reject.problem} />
        <Group gap="xs">
          <Button loading={approve.isRunning} onClick={() => approve.run(undefined)}>
            Approve
          </Button>
          <Button
            variant="default"
            loading={reject.isRunning}
            onClick={() => (note.trim() === '' ? setLacking(true) : reject.run(undefined))}
          >
            Reject
          </Button>
        </Group>
      </Stack>
    </Section>
  )
}

function Withdrawal({ request }: { readonly request: ChangeRequest }) {
  const withdraw = useApiMutation(
    () =>
      probity.POST('/api/change-requests/{cr_id}/withdraw', { params: { path: { cr_id: request.cr_id } }, body: {} }),
    { invalidates: affectedQueries, decidesRequest: true, successMessage: 'Withdrawn' },
  )
  return (
    <Section title="Decision">
      <Stack gap="sm">
        <Text size="sm">You asked for this, so somebody else decides. You can take it back.</Text>
        <ProblemNote problem={withdraw.problem} />
        <Group>
          <Button variant="default" loading={withdraw.isRunning} onClick={() => withdraw.run(undefined)}>
            Withdraw
          </Button>
        </Group>
      </Stack>
    </Section>
  )
}
