/** Taking a breach of the guards upon oneself: the same import again, with a reason that stays with the version. */
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
    return <Text size="sm">If the file is right, a compliance officer may import it against the guards.</Text>
  }
  if (order === null) return <Text size="sm">The file is not kept any more. Send it again to import it.</Text>
  return (
    <Section title="Import it all the same">
      <Stack gap="sm">
        <ReasonField label="Why the file is right" value={reason} onChange={setReason} />
        <ProblemNote problem={again.problem} />
        <Group>
          <Button
            color="orange"
            variant="light"
            disabled={reason.trim() === ''}
            loading={again.isRunning}
            onClick={() => again.run(order)}
          >
            Override the guards and import
          </Button>
        </Group>
      </Stack>
    </Section>
  )
}
