/** Evaluates a subject or inputs with a matrix or rule, with an optional preview. */
import { Button, Group, Select, Stack } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import {
  type DecisionKind,
  definitionsQuery,
  getDefinitionKey,
  getKind,
  matrixKind,
  ruleKind,
  textQuery,
} from '#console/ui/decision/definition-kind.ts'
import { type Bands, parseDefinition } from '#console/ui/decision/definition-model.ts'
import { ExplanationView } from '#console/ui/decision/explanation.tsx'
import { type Inputs, InputsForm } from '#console/ui/decision/inputs-form.tsx'
import { chooseMatrix } from '#console/ui/decision/subject-matrices.ts'
import { Verdict } from '#console/ui/decision/verdict.tsx'
import { PageLink } from '#console/ui/link.tsx'
import type { OwnedVersion } from '#console/ui/origin.ts'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'
import { SubjectPicker } from '#console/ui/subject-picker.tsx'
import { isSubjectId, riskQuery, subjectQuery } from '#console/ui/subject-queries.ts'
import {
  type AnswerSources,
  buildAnswerRequest,
  chooseSources,
  listContracts,
  listTypedInputs,
} from './answer-sources.ts'
import { AskedProviders } from './asked-providers.tsx'
import { ProviderAnswers, useAnswerOptions } from './provider-answers.tsx'

interface Search {
  readonly matrix?: string
  readonly rule?: string
  readonly subject?: string
}

export default function NewEvaluationPage() {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const { data: matrices } = useSuspenseQuery(definitionsQuery(matrixKind))
  const { data: rules } = useSuspenseQuery(definitionsQuery(ruleKind))
  const offered = useMatrixOfSubject(search.subject, matrices)
  const matrix = search.matrix ?? (search.rule ? undefined : offered)
  const chosen = search.rule ? `rule ${search.rule}` : matrix ? `matrix ${matrix}` : null
  const listChoices = (kind: DecisionKind, all: typeof matrices) =>
    [...new Map(all.filter(({ active }) => active !== null).map((one) => [getDefinitionKey(one), one])).values()].map(
      (one) => ({
        value: `${kind.family} ${getDefinitionKey(one)}`,
        label: one.title,
      }),
    )
  const [family, key] = (chosen ?? '').split(' ') as ['matrix' | 'rule' | '', string?]
  const all = family === 'rule' ? rules : matrices
  const found = all.find((one) => getDefinitionKey(one) === key && one.active !== null)
  function choose(value: string | null) {
    const [to, name] = (value ?? '').split(' ')
    const subject = search.subject === undefined ? {} : { subject: search.subject }
    navigate({
      to: '.',
      search: value === null ? subject : { [to as string]: name, ...subject },
      replace: true,
    })
  }
  return (
    <Page
      title="New evaluation"
      about="Uses the versions in force and stores the decision with its explanation and receipt. Missing or invalid inputs are rejected."
      trail={
        <PageLink to="/evaluations" inherit>
          Evaluations
        </PageLink>
      }
    >
      <Stack gap="md" maw={980}>
        <Select
          label="Matrix or rule"
          placeholder="Choose a matrix or a rule"
          searchable
          value={chosen}
          data={[
            { group: 'Matrices', items: listChoices(matrixKind, matrices) },
            { group: 'Rules', items: listChoices(ruleKind, rules) },
          ]}
          onChange={choose}
        />
        {family !== '' && key && found?.active && (
          <EvaluationForm
            key={chosen}
            kind={getKind(family)}
            definition_key={key}
            version={found.active.version}
            origin={found.origin}
            subject={search.subject ?? ''}
          />
        )}
      </Stack>
    </Page>
  )
}

/** The matrix for the subject that the page was opened with. */
function useMatrixOfSubject(subject_id: string | undefined, matrices: Parameters<typeof chooseMatrix>[0]) {
  const enabled = isSubjectId(subject_id)
  const { data: subject } = useQuery({ ...subjectQuery(subject_id ?? ''), enabled, throwOnError: false })
  const { data: risk } = useQuery({ ...riskQuery(subject_id ?? ''), enabled, throwOnError: false })
  if (!subject || !risk) return undefined
  return chooseMatrix(matrices, subject.subject_type, risk.rating?.matrix_key ?? null) ?? undefined
}

interface EvaluationFormProps extends OwnedVersion {
  readonly kind: DecisionKind
  readonly definition_key: string
  readonly subject: string
}

function EvaluationForm({ kind, definition_key, version, origin, subject }: EvaluationFormProps) {
  const may = usePermission()
  const navigate = useNavigate()
  const { data: text } = useSuspenseQuery(textQuery(kind, definition_key, version, origin))
  const definition = parseDefinition(text.definition)
  const [inputs, setInputs] = useState<Inputs>({})
  const [subject_id, setSubject] = useState(subject)
  const [preview, setPreview] = useState<Schemas['EvaluationPreview'] | null>(null)
  const [chosenSources, setSources] = useState<AnswerSources>({})
  const [started, setStarted] = useState<Schemas['Job'] | null>(null)
  const about = useSubject(subject_id)
  const declared = definition.inputs ?? []
  const contracts = listContracts(declared)
  const options = useAnswerOptions(subject_id === '' ? null : subject_id, contracts.length > 0)
  const sources = chooseSources(contracts, chosenSources, options)
  const { call_ids, ask } = buildAnswerRequest(sources)
  const body = {
    ...(kind.family === 'matrix' ? { matrix_key: definition_key } : { rule_key: definition_key }),
    ...(subject_id !== '' && { subject_id }),
    inputs,
    ...(call_ids.length > 0 && { call_ids }),
  }
  const runPreview = useApiMutation(() => probity.POST('/api/evaluations/preview', { body }), {
    invalidates: [],
    onDone: setPreview,
  })
  const decide = useApiMutation(() => probity.POST('/api/evaluations', { body }), {
    invalidates: ['evaluations', 'subjects'],
    successMessage: 'Decision stored',
    onDone: ({ evaluation_id }) => navigate({ to: `/evaluations/${evaluation_id}` }),
  })
  const start = useApiMutation(() => probity.POST('/api/evaluations/async', { body: { ...body, ...ask } }), {
    invalidates: ['provider-calls', 'providers'],
    onDone: setStarted,
  })
  const problem = (ask ? start.problem : decide.problem) ?? runPreview.problem
  const faults = (problem?.errors ?? []).map(({ pointer, detail }) => ({
    pointer: pointer.replace(/^#/, '').replace(/^\/inputs/, ''),
    message: detail,
  }))
  if (started) return <AskedProviders started={started} onClose={() => setStarted(null)} />
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        runPreview.reset()
        if (ask) start.run(undefined)
        else decide.run(undefined)
      }}
    >
      <Stack gap="md">
        <SubjectPicker
          label="Subject"
          description="Optional. Its attributes are used as inputs, and it receives the rating."
          subject_id={subject_id === '' ? null : subject_id}
          onChange={(chosen) => {
            setSubject(chosen ?? '')
            // An answer about one subject is no evidence about another.
            setSources({})
          }}
        />
        {contracts.length > 0 && (
          <ProviderAnswers
            contracts={contracts}
            inputs={declared}
            subject={about}
            options={options}
            sources={sources}
            onChange={setSources}
            errors={problem?.errors ?? []}
          />
        )}
        <Section title="Inputs">
          <InputsForm
            inputs={listTypedInputs(declared, sources)}
            values={inputs}
            onChange={setInputs}
            faults={faults}
            known={about?.attributes ?? {}}
            marksRequired
          />
        </Section>
        <ProblemNote problem={problem} />
        <Group gap="xs">
          <Button type="submit" loading={decide.isRunning || start.isRunning}>
            {ask ? 'Ask the provider and decide' : 'Evaluate'}
          </Button>
          {may('previewEvaluation') && ask === null && (
            <Button
              variant="default"
              loading={runPreview.isRunning}
              onClick={() => {
                decide.reset()
                runPreview.run(undefined)
              }}
            >
              Preview
            </Button>
          )}
        </Group>
        {preview && <PreviewResult preview={preview} bands={definition.bands} />}
      </Stack>
    </form>
  )
}

function useSubject(subject_id: string): Schemas['Subject'] | undefined {
  const { data } = useQuery({ ...subjectQuery(subject_id), enabled: isSubjectId(subject_id), throwOnError: false })
  return data
}

interface PreviewResultProps {
  readonly preview: Schemas['EvaluationPreview']
  readonly bands: Bands | undefined
}

function PreviewResult({ preview, bands }: PreviewResultProps) {
  return (
    <>
      <Section title="Preview of the outcome">
        <Verdict outcome={preview.outcome} bands={bands} />
      </Section>
      <ExplanationView outcome={preview.outcome} explanation={preview.explanation} lists={preview.lists} />
    </>
  )
}
