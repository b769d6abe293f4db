/** A call of a provider as a step of a case: what is asked, and the values that it needs. */
import { Select, Text } from '@mantine/core'
import type { ProbityProblem } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { toWords } from '#console/ui/format.ts'
import { type CallInput, InputFields } from '#console/ui/provider/input-fields.tsx'
import { toInputFaults } from '#console/ui/provider/manifest.ts'
import { capabilitiesQuery, type OfferedCapability } from '#console/ui/provider/provider-queries.ts'
import { subjectQuery } from '#console/ui/subject-queries.ts'
import type { Investigation } from './investigation-queries.ts'
import { listKnownInputs, listMissingInputs, suggestInputs, toInputSources } from './step-inputs.ts'
import { usePinnedPlaybook } from './use-step-conditions.ts'

interface ProviderStep {
  readonly offered: readonly OfferedCapability[]
  readonly chosen: OfferedCapability | undefined
  readonly choose: (chosen: string | null) => void
  readonly input: CallInput
  readonly setInput: (input: CallInput) => void
  /** What is sent about the subject where nothing is given. */
  readonly known: CallInput
  /** Errors of members without a value, after the first attempt to add the step. */
  readonly faults: Readonly<Record<string, string>>
  /** The settings of the step; null where something is missing, which is then shown. */
  readonly toSettings: () => Readonly<Record<string, unknown>> | null
}

const toValue = ({ provider_key, name }: OfferedCapability) => `${provider_key} ${name}`

const WITHOUT_VALUE = 'The provider needs a value.'

export function useProviderStep(investigation: Investigation): ProviderStep {
  const { subject } = investigation
  const may = usePermission()
  const { data: offered = [] } = useQuery(capabilitiesQuery)
  const definition = usePinnedPlaybook(investigation)
  const { data: whole } = useQuery({
    ...subjectQuery(subject.subject_id),
    enabled: may('getSubject'),
    throwOnError: false,
  })
  const [value, setValue] = useState<string | null>(null)
  const [input, setInput] = useState<CallInput>({})
  const [isTried, setTried] = useState(false)
  const chosen = offered.find((one) => toValue(one) === value)
  const known = listKnownInputs(definition, whole ?? subject)
  const missing = chosen === undefined ? [] : listMissingInputs(chosen.input, input, known)
  return {
    ...{ offered, chosen, input, setInput, known },
    choose: (next) => {
      const found = offered.find((one) => toValue(one) === next)
      setValue(next)
      setInput(found === undefined ? {} : suggestInputs(found.input, known, whole ?? subject))
      setTried(false)
    },
    faults: isTried ? Object.fromEntries(missing.map((name) => [name, WITHOUT_VALUE])) : {},
    toSettings: () => {
      setTried(true)
      if (chosen === undefined || missing.length > 0) return null
      return { provider: chosen.provider_key, capability: chosen.name, input: toInputSources(input) }
    },
  }
}

interface ProviderStepFieldsProps {
  readonly step: ProviderStep
  /** Of the attempt to add it. */
  readonly problem: ProbityProblem | null
}

export function ProviderStepFields({ step, problem }: ProviderStepFieldsProps) {
  const { offered, chosen, choose, input, setInput, known, faults } = step
  return (
    <>
      <Select
        label="What is asked"
        required
        searchable
        nothingFoundMessage="No provider in force answers this"
        data={offered.map((one) => ({
          value: toValue(one),
          label: `${one.provider_title}: ${one.title ?? toWords(one.name.replaceAll('.', ' '))}`,
        }))}
        value={chosen === undefined ? null : toValue(chosen)}
        onChange={choose}
      />
      {chosen !== undefined && (
        <>
          {chosen.cost !== null && (
            <Text size="sm" c="dimmed">
              A call costs {chosen.cost}.
            </Text>
          )}
          <InputFields
            schema={chosen.input}
            value={input}
            known={known}
            faults={{ ...faults, ...toInputFaults(problem?.errors ?? [], '#/with/input/') }}
            onChange={setInput}
          />
        </>
      )}
    </>
  )
}
