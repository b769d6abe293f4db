/** For each source contract that the inputs name: ask a provider now, use an earlier answer, or type the values. */
import { Select, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { formatAgo, useNow } from '#console/ui/date-time.tsx'
import type { Input } from '#console/ui/decision/definition-model.ts'
import { PageLink } from '#console/ui/link.tsx'
import { InputFields } from '#console/ui/provider/input-fields.tsx'
import { toInputFaults } from '#console/ui/provider/manifest.ts'
import { capabilitiesQuery, type OfferedCapability } from '#console/ui/provider/provider-queries.ts'
import { promiseTexts } from '#console/ui/provider/provider-texts.ts'
import { Section } from '#console/ui/section.tsx'
import type { AnswerSource, AnswerSources } from './answer-sources.ts'

type Call = Schemas['ProviderCallItem']

/** Answers that a decision about the subject, or about none, may cite, and providers that can be asked. */
export function useAnswerOptions(subject_id: string | null, isNeeded: boolean) {
  const may = usePermission()
  const { data: offered = [] } = useQuery({ ...capabilitiesQuery, enabled: isNeeded && may('startEvaluation') })
  const { data } = useQuery({
    queryKey: ['provider-calls', 'admitted', subject_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/providers/calls', {
        params: { query: { state: 'answered', limit: 50, ...(subject_id !== null && { subject_id }) } },
        signal,
      }),
    enabled: isNeeded && may('listProviderCalls'),
    throwOnError: false,
  })
  const calls = (data?.items ?? []).filter((call) => call.admission_id !== null && call.subject_id === subject_id)
  return { calls, offered }
}

/** Values of a subject that inputs of a call are filled from. */
const toKnown = (subject: Schemas['Subject'] | undefined): Readonly<Record<string, unknown>> =>
  subject
    ? { name: subject.name, ...(subject.external_id && { external_id: subject.external_id }), ...subject.attributes }
    : {}

interface ProviderAnswersProps {
  readonly contracts: readonly string[]
  readonly inputs: readonly Input[]
  readonly subject: Schemas['Subject'] | undefined
  readonly options: ReturnType<typeof useAnswerOptions>
  readonly sources: AnswerSources
  readonly onChange: (sources: AnswerSources) => void
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[]
}

export function ProviderAnswers(props: ProviderAnswersProps) {
  const { contracts, inputs, subject, options, sources, onChange, errors } = props
  const { calls, offered } = options
  return (
    <Section title="Answers of providers">
      <Stack gap="md">
        {contracts.map((contract_key) => (
          <ContractAnswer
            key={contract_key}
            contract_key={contract_key}
            gives={inputs.filter(({ from }) => from?.contract_key === contract_key).map(({ title }) => title)}
            offered={offered.filter((one) => one.contract_key === contract_key)}
            calls={calls.filter((call) => call.contract_key === contract_key)}
            known={toKnown(subject)}
            source={sources[contract_key] ?? { kind: 'typed' }}
            errors={errors}
            onChange={(source) => onChange({ ...sources, [contract_key]: source })}
          />
        ))}
      </Stack>
    </Section>
  )
}

interface ContractAnswerProps {
  readonly contract_key: string
  /** Titles of the inputs that the answer gives. */
  readonly gives: readonly string[]
  readonly offered: readonly OfferedCapability[]
  readonly calls: readonly Call[]
  readonly known: Readonly<Record<string, unknown>>
  readonly source: AnswerSource
  readonly errors: ProviderAnswersProps['errors']
  readonly onChange: (source: AnswerSource) => void
}

const toValue = (source: AnswerSource): string =>
  source.kind === 'ask' ? `ask ${source.provider_key}` : source.kind === 'call' ? `call ${source.call_id}` : 'typed'

function ContractAnswer(props: ContractAnswerProps) {
  const { contract_key, gives, offered, calls, known, source, errors, onChange } = props
  const now_ms = useNow()
  const asked = source.kind === 'ask' ? offered.find((one) => one.provider_key === source.provider_key) : undefined
  const choices = [
    ...offered.map(({ provider_key, provider_title, cost }) => ({
      value: `ask ${provider_key}`,
      label: `Ask ${provider_title} now${cost === null ? '' : `, ${cost}`}`,
    })),
    ...calls.map(({ call_id, provider_key, answered_at }) => ({
      value: `call ${call_id}`,
      label: `Answer of ${provider_key}, ${answered_at ? formatAgo(new Date(answered_at), now_ms) : ''}`,
    })),
    { value: 'typed', label: 'Enter the values yourself' },
  ]
  function choose(value: string | null) {
    const [kind, id = ''] = (value ?? 'typed').split(' ')
    if (kind === 'ask') onChange({ kind, provider_key: id, input: {} })
    else onChange(kind === 'call' ? { kind, call_id: id } : { kind: 'typed' })
  }
  return (
    <Stack gap="xs">
      <Select
        label={`Gives ${gives.join(', ')}`}
        description={
          <>
            Checked by the source contract{' '}
            <PageLink to={`/source-contracts/${contract_key}`} inherit>
              {contract_key}
            </PageLink>
          </>
        }
        allowDeselect={false}
        data={choices}
        value={toValue(source)}
        onChange={choose}
      />
      {offered.length === 0 && calls.length === 0 && (
        <Text size="sm" c="dimmed">
          No provider in force answers under this contract, and there is no earlier answer about this subject.
        </Text>
      )}
      {source.kind === 'ask' && asked && (
        <>
          <Text size="sm" c="dimmed">
            {promiseTexts[asked.promise]}
          </Text>
          <InputFields
            schema={asked.input}
            value={source.input}
            known={known}
            faults={toInputFaults(errors)}
            onChange={(input) => onChange({ ...source, input })}
          />
        </>
      )}
    </Stack>
  )
}
