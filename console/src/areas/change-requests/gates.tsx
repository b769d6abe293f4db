/** What must hold before a change request can be approved, and whether it does. */

import { Group, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useApprovalGates } from '#console/ui/change-request/use-approval-gates.ts'
import { formatCount, toSentence, toWords } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { Section } from '#console/ui/section.tsx'

type ChangeRequest = Schemas['ChangeRequest']

interface Gate {
  readonly gate: string
  readonly holds: boolean
  readonly detail: string
  /** Shown instead of whether it holds. */
  readonly progress?: string
}

const titles: Readonly<Record<string, string>> = {
  unchanged: 'Still up to date',
  author: 'Author may request it',
  frozen: 'Not archived',
  execution: 'Can be carried out',
  impact: 'Impact measured',
  approvals: 'Approvals',
}

export function ApprovalGates({ request }: { readonly request: ChangeRequest }) {
  const { isRead, gates: data, isVoid } = useApprovalGates(request)
  if (!isRead) return null
  return (
    <Section title="Before approval">
      {data ? (
        <ul className="plain-list gates" aria-label="Conditions of approval">
          {[...data.items, ...(isVoid ? [] : [toApprovalsGate(request)])].map(
            ({ gate, holds, detail, progress }: Gate) => (
              <li key={`${gate} ${detail}`}>
                <Group gap="xs" wrap="nowrap" align="flex-start">
                  <span className={holds ? 'gate-met' : 'gate-unmet'}>
                    <Icon name={holds ? 'check' : 'warning'} size={16} />
                  </span>
                  <div>
                    <Text size="sm" fw={600}>
                      {titles[gate] ?? toSentence(gate)}: {progress ?? (holds ? 'met' : 'not met')}
                    </Text>
                    <Text size="sm" c="dimmed" className="break">
                      {detail}
                    </Text>
                  </div>
                </Group>
              </li>
            ),
          )}
        </ul>
      ) : (
        <ListSkeleton />
      )}
    </Section>
  )
}

function toApprovalsGate({ approvals, approvers, required_role }: ChangeRequest): Gate {
  const people = formatCount(approvers, 'person', 'people')
  return {
    gate: 'approvals',
    holds: approvals.length >= approvers,
    progress: `${approvals.length} of ${approvers}`,
    detail: `Needs ${people} with the role ${toWords(required_role)} other than the author.`,
  }
}
