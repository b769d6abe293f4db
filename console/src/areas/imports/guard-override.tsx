/** Repeats an import and overrides its guards, with a reason that is stored with the version. */
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { Section } from '#console/ui/section.tsx'
import { buildOverrideRequest, getImportId, type ImportRequest } from './import-request.ts'

export function GuardOverride({ one }: { readonly one: Schemas['Import'] }) {
  const me = useMe()
  const navigate = useNavigate()
  const [reason, setReason] = useState('')
  const order = buildOverrideRequest(one, reason)
  const again = useApiMutation((body: ImportRequest) => probity.POST('/api/reference-data/imports', { body }), {
    invalidates: ['imports', 'jobs'],
    onDone: (job) => navigate({ to: `/imports/${getImportId(job)}` }),
  })
  const isOverridable = one.gates.length > 0 && one.gates.every(({ overridable }) => overridable)
  if (!isOverridable) return null
  if (!me.roles.includes('compliance_officer')) {
    return <Text size="sm">If the file is correct, a compliance officer can override the guards.</Text>
  }
  if (order === null) return <Text size="sm">The file is no longer stored. Upload it again to import it.</Text>
  return (
    <Section title="Override guards">
      <Stack gap="sm">
        <ReasonField label="Reason for the override" value={reason} onChange={setReason} />
        <ProblemNote problem={again.problem} />
        <Group>
          <Button
            color="orange"
            variant="light"
            disabled={reason.trim() === ''}
            loading={again.isRunning}
            onClick={() => again.run(order)}
          >
            Override guards and import
          </Button>
        </Group>
      </Stack>
    </Section>
  )
}
