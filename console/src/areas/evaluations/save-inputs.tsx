/** Offers to keep the inputs of a decision with its subject, so that the next batch can use them. */
import { Alert, Button, Group, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { toWords } from '#console/ui/format.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { inputsQuery } from './evaluation-queries.ts'
import { listUnsavedInputs } from './unsaved-inputs.ts'

interface SaveInputsProps {
  readonly one: Schemas['Evaluation']
  readonly subject: Schemas['Subject']
}

export function SaveInputs({ one, subject }: SaveInputsProps) {
  const may = usePermission()
  // A record that was changed after the decision knows better than the decision.
  const isNewer = subject.state === 'active' && Date.parse(one.decided_at) > Date.parse(subject.updated_at)
  const isOffered = isNewer && may('updateSubject') && may('getEvaluationInputs')
  const { data } = useQuery({ ...inputsQuery(one.evaluation_id), enabled: isOffered, throwOnError: false })
  const given = (data?.inputs ?? {}) as Readonly<Record<string, unknown>>
  const unsaved = listUnsavedInputs(given, subject.attributes)
  const save = useApiMutation(
    () =>
      probity.PATCH('/api/subjects/{subject_id}', {
        params: { path: { subject_id: subject.subject_id } },
        body: {
          attributes: { ...subject.attributes, ...Object.fromEntries(unsaved.map((name) => [name, given[name]])) },
          expected_revision: subject.revision,
        },
      }),
    { invalidates: ['subjects'], successMessage: 'Saved to the subject' },
  )
  if (!isOffered || unsaved.length === 0) return null
  return (
    <Alert variant="light" title="Inputs that are not in the subject’s record">
      <Group gap="sm" justify="space-between" align="flex-end">
        <Text size="sm" flex={1} miw={240}>
          {unsaved.map(toWords).join(', ')}. They were typed for this decision only: a batch uses the record of the
          subject.
        </Text>
        <Button size="xs" loading={save.isRunning} onClick={() => save.run(undefined)}>
          Save these to the subject
        </Button>
      </Group>
      <ProblemNote problem={save.problem} />
    </Alert>
  )
}
