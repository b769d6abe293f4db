/** Step 3: creates a fictitious customer and rates it with the shared matrix for persons. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { definitionQuery, matrixKind, textQuery } from '#console/ui/decision/definition-kind.ts'
import { parseDefinition } from '#console/ui/decision/definition-model.ts'
import { type Inputs, InputsForm } from '#console/ui/decision/inputs-form.tsx'
import { ButtonLink } from '#console/ui/link.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'

const MATRIX = 'customer-risk-person'

const sampleInputs: Inputs = {
  residence_country: 'DE',
  nationalities: ['DE'],
  products: ['salary-account', 'credit-card'],
  channel: 'selfie-and-document',
  pep_categories: [],
  annual_turnover: '250000.00',
  years_known: 1,
  source_of_funds: 'business',
  adverse_media: 'unconfirmed',
  screening: 'clear',
}

export function RateStep() {
  const { data: matrix, isError } = useQuery({ ...definitionQuery(matrixKind, MATRIX), throwOnError: false })
  if (isError || (matrix && matrix.active === null)) {
    return (
      <Group gap="sm">
        <Text size="sm">The matrix for persons is not in force in this tenant. Choose another matrix.</Text>
        <ButtonLink to="/evaluations/new">New evaluation</ButtonLink>
      </Group>
    )
  }
  if (!matrix?.active) return <ListSkeleton />
  return <RatingForm version={matrix.active.version} origin={matrix.origin} />
}

function RatingForm({ version, origin }: { readonly version: number; readonly origin: 'own' | 'shared' }) {
  const { data: text } = useQuery({ ...textQuery(matrixKind, MATRIX, version, origin), throwOnError: false })
  const [name, setName] = useState('Erika Beispiel')
  const [inputs, setInputs] = useState(sampleInputs)
  const rate = useApiMutation(
    async () => {
      // The external id makes a repeated attempt change the same record.
      const { subject_id } = await probity.POST('/api/subjects', {
        body: { subject_type: 'person', name, external_id: 'guide-1', attributes: { ...inputs } },
      })
      return probity.POST('/api/evaluations', { body: { matrix_key: MATRIX, subject_id } })
    },
    {
      invalidates: ['evaluations', 'subjects'],
      successMessage: ({ band }) => `${name} is rated ${band ?? 'without a band'}`,
    },
  )
  if (!text) return <ListSkeleton />
  const faults = (rate.problem?.errors ?? []).map(({ pointer, detail }) => ({
    pointer: pointer.replace(/^#/, '').replace(/^\/(inputs|attributes)/, ''),
    message: detail,
  }))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        rate.run(undefined)
      }}
    >
      <Stack gap="sm">
        <Text size="sm">The customer is fictitious. Change any value before you rate it.</Text>
        <TextInput
          label="Name of the customer"
          required
          maxLength={200}
          autoComplete="off"
          maw={420}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <InputsForm
          inputs={parseDefinition(text.definition).inputs ?? []}
          values={inputs}
          onChange={setInputs}
          faults={faults}
        />
        <ProblemNote problem={rate.problem} />
        <Group>
          <Button type="submit" loading={rate.isRunning}>
            Rate the customer
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
