/** The number and role of approvers for each governed action. Changing the policy may itself need approval. */
import { Button, Checkbox, Group, NumberInput, Select, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { toSentence } from '#console/ui/format.ts'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { TenantFrame } from './tenant-frame.tsx'

type Policy = Schemas['ApprovalPolicy']
type Rule = Policy['rules'][number]

/** The roles that may approve. */
const approvingRoles = ['compliance_officer', 'tenant_admin'] as const

/** Changes that put another version in force; a rollback never waits for an analysis. */
const measuredActions = ['activation', 'overlay']

/** The server refuses it without approvers. */
const NEEDS_APPROVER =
  'Needs at least 1 approver, who is shown the impact. Without one it can be measured but not required.'

/** What is called otherwise in the console. */
const actionNames: Readonly<Record<string, string>> = { datasets: 'Lists' }

/** What each action means, where its name does not say it. */
const actionTexts: Readonly<Record<string, string>> = {
  activation:
    'Put a version of a list, matrix or rule in force. With 0: what a policy editor requests needs one compliance officer',
  rollback: 'Put an earlier version in force again',
  overlay: 'Own additions to a shared list',
  types: 'The fields that entries of a list have',
  roles: 'Give roles to people and API keys',
  'risk-override': 'Set a rating by hand. With 0: only lowering it needs one compliance officer',
  'approval-policy': 'With 0: as its strictest rule',
}

const policyQuery = queryOptions({
  queryKey: ['tenant', 'approval-policy'],
  queryFn: ({ signal }) => probity.GET('/api/tenant/approval-policy', { signal }),
})

export default function ApprovalPolicyPage() {
  const { data: policy, refetch } = useSuspenseQuery(policyQuery)
  return (
    <TenantFrame>
      <PolicyForm key={policy.revision} policy={policy} onReload={refetch} />
    </TenantFrame>
  )
}

/** One row per governed action, whether or not the policy names it. */
const toRules = (policy: Policy): Rule[] =>
  policy.actions.map(
    (action) =>
      policy.rules.find((rule) => rule.action === action) ?? {
        action,
        approvers: 0,
        role: 'compliance_officer',
        require_impact: false,
      },
  )

function PolicyForm({ policy, onReload }: { readonly policy: Policy; readonly onReload: () => void }) {
  const isReadOnly = !usePermission()('updateApprovalPolicy')
  const [rules, setRules] = useState(() => toRules(policy))
  const save = useApiMutation(
    (all: Rule[]) =>
      probity.PUT('/api/tenant/approval-policy', {
        body: { rules: all.filter(({ approvers }) => approvers > 0), expected_revision: policy.revision },
      }),
    { invalidates: ['tenant'], successMessage: 'Approval policy saved' },
  )
  const change = (action: string, part: Partial<Rule>) =>
    setRules(rules.map((rule) => (rule.action === action ? { ...rule, ...part } : rule)))
  return (
    <Stack gap="sm" maw={820}>
      <Text size="sm" c="dimmed">
        A change with 0 approvers takes effect immediately, with three exceptions: a change of this policy needs as many
        approvers as its strictest rule; an override that lowers a rating needs one compliance officer; and so does the
        activation of a version that somebody requests who may not put it in force, such as a policy editor. Otherwise a
        change waits until that many other users with the role approve it. API keys cannot approve. Where an impact
        analysis is required, nobody can approve before the effect on past decisions was measured on what is in force.
      </Text>
      <div className="table-card approval-rules">
        <Table aria-label="Approval rules" verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Change</Table.Th>
              <Table.Th w={120}>Approvers</Table.Th>
              <Table.Th w={220}>Role</Table.Th>
              <Table.Th w={170}>Impact analysis</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rules.map((rule) => (
              <Table.Tr key={rule.action}>
                <Table.Td>
                  <Text size="sm" fw={500}>
                    {actionNames[rule.action] ?? toSentence(rule.action)}
                  </Text>
                  {actionTexts[rule.action] !== undefined && (
                    <Text size="xs" c="dimmed">
                      {actionTexts[rule.action]}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td data-label="Approvers">
                  <NumberInput
                    size="xs"
                    min={0}
                    max={5}
                    aria-label={`Approvers for ${rule.action}`}
                    readOnly={isReadOnly}
                    value={rule.approvers}
                    onChange={(count) => change(rule.action, { approvers: Number(count) || 0 })}
                  />
                </Table.Td>
                <Table.Td data-label="Role">
                  <Select
                    size="xs"
                    aria-label={`Approving role for ${rule.action}`}
                    readOnly={isReadOnly}
                    disabled={rule.approvers === 0}
                    allowDeselect={false}
                    data={approvingRoles.map((role) => ({ value: role, label: toSentence(role) }))}
                    value={rule.role}
                    onChange={(role) => role && change(rule.action, { role: role as Rule['role'] })}
                  />
                </Table.Td>
                <Table.Td data-label="Impact analysis">
                  {measuredActions.includes(rule.action) ? (
                    <Checkbox
                      size="xs"
                      label="Required"
                      description={rule.approvers === 0 ? NEEDS_APPROVER : undefined}
                      aria-label={`Impact analysis required for ${rule.action}`}
                      disabled={rule.approvers === 0 || isReadOnly}
                      checked={rule.require_impact === true && rule.approvers > 0}
                      onChange={(event) => change(rule.action, { require_impact: event.currentTarget.checked })}
                    />
                  ) : (
                    <Text size="xs" c="dimmed">
                      not measured
                    </Text>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <ProblemNote problem={save.problem} onReload={onReload} />
      <ApprovalNote request={save.waiting} />
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          Revision {policy.revision}, by <Principal of={policy.updated_by} />, <DateTime at={policy.updated_at} />
        </Text>
        {!isReadOnly && (
          <Button variant="light" loading={save.isRunning} onClick={() => save.run(rules)}>
            Save policy
          </Button>
        )}
      </Group>
    </Stack>
  )
}
