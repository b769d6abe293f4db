/** The retention period of each class of record, with its reason. */
import { Button, Checkbox, Group, NumberInput, Stack, Table, Text, TextInput } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ApprovalNote } from '#console/ui/approval-note.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { toSentence } from '#console/ui/format.ts'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { TenantFrame } from './tenant-frame.tsx'

type Policy = Schemas['RetentionPolicy']
type RecordClass = Policy['classes'][number]

const policyQuery = queryOptions({
  queryKey: ['tenant', 'retention-policy'],
  queryFn: ({ signal }) => probity.GET('/api/tenant/retention-policy', { signal }),
})

export default function RetentionPolicyPage() {
  const { data: policy, refetch } = useSuspenseQuery(policyQuery)
  return (
    <TenantFrame>
      <PolicyForm key={policy.revision} policy={policy} onReload={refetch} />
    </TenantFrame>
  )
}

function PolicyForm({ policy, onReload }: { readonly policy: Policy; readonly onReload: () => void }) {
  const isReadOnly = !usePermission()('updateRetentionPolicy')
  const [classes, setClasses] = useState(policy.classes)
  const save = useApiMutation(
    (all: RecordClass[]) =>
      probity.PUT('/api/tenant/retention-policy', { body: { classes: all, expected_revision: policy.revision } }),
    { invalidates: ['tenant'], successMessage: 'Retention policy saved' },
  )
  const change = (name: string, part: Partial<RecordClass>) =>
    setClasses(classes.map((one) => (one.record_class === name ? { ...one, ...part } : one)))
  function submit(event: FormEvent) {
    event.preventDefault()
    save.run(classes)
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" maw={980}>
        <div className="table-card table-wide">
          <Table aria-label="Retention by class of record" verticalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Records</Table.Th>
                <Table.Th w={250}>Retention</Table.Th>
                <Table.Th>Reason</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {classes.map((one) => (
                <ClassRow key={one.record_class} of={one} isReadOnly={isReadOnly} onChange={change} />
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
            <Button type="submit" variant="light" loading={save.isRunning}>
              Save policy
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}

interface ClassRowProps {
  readonly of: RecordClass
  readonly isReadOnly: boolean
  readonly onChange: (name: string, part: Partial<RecordClass>) => void
}

function ClassRow({ of: one, isReadOnly, onChange }: ClassRowProps) {
  const name = toSentence(one.record_class)
  const isForEver = one.keep_days === null
  return (
    <Table.Tr>
      <Table.Td fw={500}>{name}</Table.Td>
      <Table.Td>
        <Group gap="xs" wrap="nowrap">
          <NumberInput
            size="xs"
            w={110}
            min={1}
            max={36_500}
            suffix=" days"
            required={!isForEver}
            aria-label={`${name}: retention in days`}
            readOnly={isReadOnly}
            disabled={isForEver}
            value={one.keep_days ?? ''}
            onChange={(days) => onChange(one.record_class, { keep_days: Number(days) || 1 })}
          />
          <Checkbox
            size="xs"
            label="indefinitely"
            aria-label={`${name}: retain indefinitely`}
            disabled={isReadOnly}
            checked={isForEver}
            onChange={(event) => onChange(one.record_class, { keep_days: event.currentTarget.checked ? null : 365 })}
          />
        </Group>
      </Table.Td>
      <Table.Td>
        <TextInput
          size="xs"
          required
          maxLength={500}
          aria-label={`${name}: reason`}
          readOnly={isReadOnly}
          value={one.basis}
          onChange={(event) => onChange(one.record_class, { basis: event.currentTarget.value })}
        />
      </Table.Td>
    </Table.Tr>
  )
}
