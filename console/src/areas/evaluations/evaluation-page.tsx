/** One decision: its outcome, reasons, inputs and versions, with replay, re-evaluation, what-if and downloads. */
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { getKind, textQuery } from '#console/ui/decision/definition-kind.ts'
import { parseDefinition } from '#console/ui/decision/definition-model.ts'
import { useDefinitionName } from '#console/ui/decision/definition-name.tsx'
import { DecisionInputs, ExplanationView, useEntryNames } from '#console/ui/decision/explanation.tsx'
import { ResultMark } from '#console/ui/decision/outcome.tsx'
import { Replay } from '#console/ui/decision/replay.tsx'
import { Verdict } from '#console/ui/decision/verdict.tsx'
import { VersionsUsed } from '#console/ui/decision/versions-used.tsx'
import { useFilter } from '#console/ui/filters.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { PartTabs } from '#console/ui/part-tabs.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { saveFile, saveJson } from '#console/ui/save-file.ts'
import { SearchButton } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { subjectQuery } from '#console/ui/subject-queries.ts'
import { ErasedDecision } from './erased-decision.tsx'
import { explanationQuery, readPack, recordQuery } from './evaluation-queries.ts'
import { EvidenceSection } from './evidence.tsx'
import { PluginsUsed } from './plugins-used.tsx'
import { Reevaluate } from './reevaluate.tsx'
import { SaveInputs } from './save-inputs.tsx'
import { WhatIf } from './what-if.tsx'

type Evaluation = Schemas['Evaluation']

const tabs = ['why', 'inputs', 'today', 'what-if'] as const
const names = { why: 'Reasons', inputs: 'Inputs and versions', today: 'Re-evaluate', 'what-if': 'What-if' } as const

export default function EvaluationPage() {
  const { evaluation_id = '' } = useParams({ strict: false }) as { evaluation_id?: string }
  const { data: stored } = useSuspenseQuery(recordQuery(evaluation_id))
  if (stored.state === 'altered') return <AlteredRecord evaluation_id={evaluation_id} />
  if (stored.state === 'erased') return <ErasedDecision kept={stored.kept} />
  return <DecisionPage one={stored.one} />
}

/** The content of an altered record is not shown; only the replay verdict is. */
function AlteredRecord({ evaluation_id }: { readonly evaluation_id: string }) {
  const may = usePermission()
  return (
    <Page
      title="Altered record"
      about="The stored record differs from the decision that was made. Replay it to see what was altered, and preserve the database as evidence."
      trail={<Breadcrumb />}
    >
      <Stack gap="md">
        <Facts of={[['Decision id', <CopyValue key="id" value={evaluation_id} name="the decision id" />]]} />
        {may('replayEvaluation') ? (
          <Replay evaluation_id={evaluation_id} />
        ) : (
          <Text size="sm">A compliance officer or an auditor can replay the decision.</Text>
        )}
      </Stack>
    </Page>
  )
}

const Breadcrumb = () => (
  <PageLink to="/evaluations" inherit>
    Evaluations
  </PageLink>
)

function DecisionPage({ one }: { readonly one: Evaluation }) {
  const may = usePermission()
  const tab = useFilter('tab', tabs) ?? 'why'
  const kind = getKind(one.family)
  const name = useDefinitionName({ ...one.definition, definition_key: one.definition.key })
  const { data: subject } = useQuery({
    ...subjectQuery(one.subject_id ?? ''),
    enabled: one.subject_id !== null && may('getSubject'),
    throwOnError: false,
  })
  const { data: text } = useQuery({
    ...textQuery(kind, one.definition.key, one.definition.version, one.definition.origin),
    throwOnError: false,
  })
  const definition = text ? parseDefinition(text.definition) : null
  const panels: Readonly<Record<(typeof tabs)[number], ReactNode>> = {
    why: <ExplanationTab one={one} />,
    inputs: <InputsAndVersionsTab one={one} />,
    today: <Reevaluate one={one} bands={definition?.bands} />,
    'what-if': <WhatIf one={one} definition={definition} />,
  }
  const offered = tabs.filter(
    (name) => (name !== 'today' || may('reevaluateEvaluation')) && (name !== 'what-if' || may('exploreEvaluation')),
  )
  return (
    <Page
      title={subject ? subject.name : `Decision of ${name}`}
      mark={<ResultMark of={one} />}
      about={
        <>
          {subject && <span title={one.definition.key}>{`Decision of ${name}, `}</span>}
          <DateTime at={one.decided_at} />, by <Principal of={one.created_by} />
        </>
      }
      trail={<Breadcrumb />}
      actions={<Downloads one={one} />}
    >
      <Stack gap="md">
        {may('replayEvaluation') && <Replay evaluation_id={one.evaluation_id} />}
        <Section title="Outcome">
          <Verdict outcome={one.outcome} bands={definition?.bands} lists={one.lists} />
          <SubjectLine one={one} subject={subject} />
        </Section>
        <EvidenceSection one={one} />
        <PluginsUsed one={one} />
        {subject && <SaveInputs one={one} subject={subject} />}
      </Stack>
      <PartTabs label="Parts of the decision" offered={offered} names={names} open={tab} panels={panels} />
    </Page>
  )
}

interface SubjectLineProps {
  readonly one: Evaluation
  readonly subject: Schemas['Subject'] | undefined
}

function SubjectLine({ one, subject }: SubjectLineProps) {
  if (one.subject_id === null) {
    return (
      <Text size="sm" c="dimmed" mt="xs">
        No subject: this decision rates nobody.
      </Text>
    )
  }
  return (
    <Text size="sm" mt="xs">
      {' '}
      Subject:{' '}
      <PageLink to={`/subjects/${one.subject_id}`} inherit>
        {subject?.name ?? `subject ${one.subject_id.slice(-8)}`}
      </PageLink>
    </Text>
  )
}

function ExplanationTab({ one }: { readonly one: Evaluation }) {
  const { data } = useSuspenseQuery(explanationQuery(one.evaluation_id))
  return <ExplanationView outcome={data.outcome} explanation={data.explanation} lists={one.lists} />
}

function InputsAndVersionsTab({ one }: { readonly one: Evaluation }) {
  const { definition, receipt } = one
  const { data } = useSuspenseQuery(explanationQuery(one.evaluation_id))
  const names = useEntryNames(data.explanation.factors, one.lists)
  return (
    <Stack gap="md">
      <DecisionInputs inputs={data.explanation.inputs} names={names} />
      <VersionsUsed definition={definition} lists={one.lists} />
      <Section title="Receipt">
        <Facts
          of={[
            ['Receipt', <CopyValue key="receipt" value={receipt.receipt_id} name="the receipt id" />],
            ['Manifest hash', <CopyValue key="manifest" value={receipt.manifest_hash} name="the manifest hash" />],
            ['Document hash', <CopyValue key="document" value={one.document_hash} name="the document hash" />],
            ['Valid at', <DateTime key="valid" at={receipt.valid_at} />],
            ['Known at', <DateTime key="known" at={receipt.known_at} />],
            ['Engine', `version ${one.engine}`],
          ]}
        />
      </Section>
    </Stack>
  )
}

function Downloads({ one }: { readonly one: Evaluation }) {
  const may = usePermission()
  const { evaluation_id } = one
  const certificate = useApiMutation(
    () => probity.GET('/api/evaluations/{evaluation_id}/certificate', { params: { path: { evaluation_id } } }),
    { invalidates: [], onDone: (signed) => saveJson(`certificate-${evaluation_id}.json`, signed) },
  )
  const pack = useApiMutation(() => readPack(evaluation_id), {
    invalidates: [],
    onDone: (bytes) => saveFile(`evaluation-pack-${evaluation_id}.zip`, bytes),
  })
  return (
    <Group gap="xs">
      <ProblemNote problem={certificate.problem ?? pack.problem} />
      {may('compareEvaluations') && (
        <SearchButton to="/evaluations/compare" search={{ one: evaluation_id }} variant="default">
          Compare
        </SearchButton>
      )}
      {may('getCertificate') && (
        <Button variant="default" loading={certificate.isRunning} onClick={() => certificate.run(undefined)}>
          Certificate
        </Button>
      )}
      {may('getEvaluationPack') && (
        <Button variant="default" loading={pack.isRunning} onClick={() => pack.run(undefined)}>
          Examiner’s package
        </Button>
      )}
    </Group>
  )
}
