/** Approve, reject or withdraw a change request. The server and the database refuse approval of one’s own request. */
import { Alert, Button, Group, Stack, Text, Textarea } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useEffect, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { useApprovalGates } from '#console/ui/change-request/use-approval-gates.ts'
import { toWords } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'

type ChangeRequest = Schemas['ChangeRequest']

interface DecisionProps {
  readonly request: ChangeRequest
  /** What it is based on has changed since, or it would be refused, so it can only be rejected or withdrawn. */
  readonly isVoid: boolean
  /** A condition does not hold yet. */
  readonly isBlocked: boolean
  /** Why it would be refused, in words; null where it would not. */
  readonly refusal: string | null
}

export function Decision({ request, isVoid, isBlocked, refusal }: DecisionProps) {
  const me = useMe()
  const may = usePermission()
  if (request.state !== 'open') return null
  const isMine = request.created_by === me.principal
  const hasApproved = request.approvals.some(({ approved_by }) => approved_by === me.principal)
  const isChecker = me.principal.startsWith('user:') && me.roles.some((role) => role === request.required_role)
  if (isMine && may('withdrawChangeRequest')) return <Withdrawal request={request} isVoid={isVoid} refusal={refusal} />
  if (hasApproved && !isVoid)
    return <DecisionSection>You have approved this. More approvals are needed.</DecisionSection>
  if (!isChecker || !may('approveChangeRequest')) {
    return <DecisionSection>Approval requires a user with the role {toWords(request.required_role)}.</DecisionSection>
  }
  return <DecisionForm request={request} isVoid={isVoid} isBlocked={isBlocked} refusal={refusal} />
}

function DecisionSection({ children }: { readonly children: React.ReactNode }) {
  return (
    <Section title="Approval">
      <Text size="sm">{children}</Text>
    </Section>
  )
}

/** Queries that a decision on a request may change. They are also refreshed after a refusal. */
const affectedQueries = ['change-requests', 'users', 'tenant', 'definitions', 'datasets', 'subjects']

function VoidNote({ refusal, children }: { readonly refusal: string | null; readonly children: string }) {
  return (
    <Alert color="yellow" icon={<Icon name="warning" />} title="No longer applicable" role="status">
      <Text size="sm">
        {refusal ??
          `What this change is based on has changed since it was requested: another change came first. It can no longer be approved. ${children}`}
      </Text>
    </Alert>
  )
}

function DecisionForm({ request, isVoid, isBlocked, refusal }: DecisionProps) {
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
  useClearRefusal(request, approve.reset)
  const missing = request.approvers - request.approvals.length
  return (
    <Section title={isVoid ? 'Your decision' : 'Your approval'}>
      <Stack gap="sm">
        {isVoid ? (
          <VoidNote refusal={refusal}>Reject it; its author can request it again if it is still needed.</VoidNote>
        ) : (
          <Text size="sm">
            {isBlocked
              ? 'It cannot be approved yet: a condition below is not met.'
              : missing === 1
                ? 'Your approval is the last one needed: the change takes effect immediately.'
                : `${missing} approvals are still needed.`}
          </Text>
        )}
        <Textarea
          label="Note"
          description="Stored with the change request. Required for a rejection."
          autosize
          minRows={2}
          maxLength={2000}
          value={note}
          error={isLacking ? 'Enter a reason.' : undefined}
          onChange={(event) => {
            setNote(event.currentTarget.value)
            setLacking(false)
          }}
        />
        <ProblemNote problem={approve.problem ?? reject.problem} />
        <Group gap="xs">
          {!isVoid && (
            <Button loading={approve.isRunning} disabled={isBlocked} onClick={() => approve.run(undefined)}>
              Approve
            </Button>
          )}
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

/** A refusal named the gates that were closed then: once all hold, it says what is no longer true. */
function useClearRefusal(request: ChangeRequest, clear: () => void): void {
  const { gates } = useApprovalGates(request)
  const areMet = gates?.items.every(({ holds }) => holds) ?? false
  useEffect(() => {
    if (areMet) clear()
  }, [areMet])
}

function Withdrawal({ request, isVoid, refusal }: Omit<DecisionProps, 'isBlocked'>) {
  const withdraw = useApiMutation(
    () =>
      probity.POST('/api/change-requests/{cr_id}/withdraw', { params: { path: { cr_id: request.cr_id } }, body: {} }),
    { invalidates: affectedQueries, decidesRequest: true, successMessage: 'Withdrawn' },
  )
  return (
    <Section title="Approval">
      <Stack gap="sm">
        {isVoid ? (
          <VoidNote refusal={refusal}>Withdraw it, and request it again if it is still needed.</VoidNote>
        ) : (
          <Text size="sm">You requested this change, so another user must approve it. You can withdraw it.</Text>
        )}
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
