/** The steps of the playbook with their state, and the tasks of people below. */
import { Anchor, Button, Group, Progress, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { formatDuration, RelativeTime, useNow } from '#console/ui/date-time.tsx'
import { definitionsQuery, getDefinitionKey, playbookKind } from '#console/ui/decision/definition-kind.ts'
import { formatCount, toSentence, toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { AddStep } from './add-step.tsx'
import { describeNotNeeded, isNotNeeded, StepState } from './case-badges.tsx'
import { toStepElement } from './case-pointers.ts'
import { EnteredAnswer } from './entered-answer.tsx'
import { type Investigation, isNotFound, isOpen, isSettled, type Step } from './investigation-queries.ts'
import { BeginLeftSteps, StepActs } from './step-acts.tsx'
import { describeReason, type StepCondition } from './step-reasons.ts'
import { Tasks } from './tasks.tsx'
import { useStepConditions } from './use-step-conditions.ts'

interface StepsColumnProps {
  readonly investigation: Investigation
  readonly isAdding: boolean
  readonly onAdding: (isAdding: boolean) => void
}

export function StepsColumn({ investigation, isAdding, onAdding }: StepsColumnProps) {
  const may = usePermission()
  const { steps, playbook, gathering_problem } = investigation
  const canAdd = isOpen(investigation) && may('createInvestigationStep')
  const getCondition = useStepConditions(investigation)
  return (
    <Stack gap="md">
      <section aria-labelledby="steps">
        <Group justify="space-between" gap="xs" mb={4}>
          <Title order={2} size="h5" id="steps" tabIndex={-1}>
            Steps
          </Title>
          {canAdd && (
            <Button size="compact-xs" variant="default" aria-label="Add a step" onClick={() => onAdding(true)}>
              Add
            </Button>
          )}
        </Group>
        <Text size="xs" c="dimmed" mb="xs">
          <PlaybookLink of={playbook} />, version {playbook.version}
        </Text>
        <StepsProgress investigation={investigation} />
        {gathering_problem !== null && (
          <Text size="sm" c="red" role="status">
            {String(gathering_problem['detail'] ?? 'Nothing could be gathered.')}
          </Text>
        )}
        <BeginLeftSteps investigation={investigation} />
        <ol className="case-steps">
          {steps.map((step) => (
            <StepItem
              key={step.step_key}
              step={step}
              condition={getCondition(step.step_key)}
              investigation={investigation}
            />
          ))}
        </ol>
      </section>
      <Tasks investigation={investigation} />
      {isAdding && canAdd && <AddStep investigation={investigation} onClose={() => onAdding(false)} />}
    </Stack>
  )
}

function PlaybookLink({ of: { key } }: { readonly of: Investigation['playbook'] }) {
  const may = usePermission()
  const { data } = useQuery({ ...definitionsQuery(playbookKind), enabled: may('listPlaybooks'), throwOnError: false })
  return (
    <PageLink to={`/playbooks/${key}`} inherit>
      {data?.find((one) => getDefinitionKey(one) === key)?.title ?? key}
    </PageLink>
  )
}

/** Read aloud as steps end, because the list itself changes in many places. */
function StepsProgress({ investigation }: { readonly investigation: Investigation }) {
  const counted = investigation.steps.filter(
    ({ state }) => state !== 'skipped' && !isNotNeeded({ state, of: investigation }),
  )
  const done = counted.filter(({ state }) => state === 'succeeded').length
  const waived = counted.filter(({ state }) => state === 'waived').length
  const running = counted.filter(({ state }) => state === 'running').length
  if (counted.length === 0) return null
  return (
    <div className="case-progress">
      <Progress
        size="sm"
        value={((done + waived) / counted.length) * 100}
        color="teal"
        aria-label="Steps done or waived"
        animated={running > 0}
      />
      <Text size="xs" c="dimmed" role="status">
        {done} of {formatCount(counted.length, 'step')} done{waived > 0 && `, ${waived} waived`}
        {running > 0 && `, ${running} running`}
      </Text>
    </div>
  )
}

/** Kinds that come later are shown by their names. */
const kindTexts: Readonly<Record<string, string>> = {
  task: 'Task',
  provider: 'Call of a provider',
  evaluation: 'Decision',
}

interface StepItemProps {
  readonly step: Step
  readonly condition: StepCondition | null
  readonly investigation: Investigation
}

function StepItem({ step, condition, investigation }: StepItemProps) {
  const { steps } = investigation
  const { step_key, title, kind, is_required, problem, waiver, not_before, reused_from, entered } = step
  const getTitle = (key: string) => steps.find((one) => one.step_key === key)?.title ?? key
  const isOver = isNotNeeded({ state: step.state, of: investigation })
  const waitsFor = step.state === 'pending' && !isOver ? step.needs.filter((key) => !isSettled(steps, key)) : []
  const reason = isOver
    ? describeNotNeeded(investigation)
    : describeReason({ ...step, condition, after: step.needs.map(getTitle) })
  return (
    <li id={toStepElement(step_key)} tabIndex={-1} className="case-step" data-state={isOver ? 'skipped' : step.state}>
      <div className="case-step-head">
        <span className="case-step-title">{title ?? step_key}</span>
        <StepState state={step.state} of={investigation} />
      </div>
      <Text size="xs" c="dimmed" component="div">
        {kindTexts[kind] ?? toSentence(kind)}
        {!is_required && ', optional'}
        <StepFigures step={step} />
        <StepResult step={step} />
      </Text>
      {waitsFor.length > 0 && (
        <Text size="xs" c="dimmed">
          after {waitsFor.map(getTitle).join(', ')}
        </Text>
      )}
      {reason !== null && (
        <Text size="xs" c="dimmed">
          {reason}
        </Text>
      )}
      {not_before !== null && (
        <Text size="xs" c="dimmed">
          tried again <RelativeTime at={not_before} />
        </Text>
      )}
      {isNotFound(step) && <Text size="xs">Answer: not found.</Text>}
      {reused_from !== null && (
        <Text size="xs" c="dimmed">
          answer of <RelativeTime at={reused_from} /> used
        </Text>
      )}
      {entered !== null && <EnteredAnswer of={entered} />}
      {problem !== null && <StepProblem problem={problem} />}
      <StepActs investigation={investigation} step={step} />
      {waiver !== null && (
        <Text size="xs">
          Waived by <Principal of={waiver.waived_by} isAlwaysNamed />: “{waiver.reason}”
        </Text>
      )}
    </li>
  )
}

/** Duration, attempts and cost. A step that was waived did not run until then. */
function StepFigures({ step: { started_at, ended_at, attempt, cost, kind, state } }: { readonly step: Step }) {
  const now_ms = useNow()
  const until = ended_at ?? new Date(now_ms).toISOString()
  const hasRun = kind !== 'task' && state !== 'waived' && state !== 'skipped'
  return (
    <>
      {started_at !== null && hasRun && ` · ${formatDuration(started_at, until)}`}
      {attempt > 1 && ` · attempt ${attempt}`}
      {cost !== null && ` · ${cost.amount} ${cost.currency}`}
    </>
  )
}

const resultPaths: Readonly<Record<string, string>> = {
  evaluation: '/evaluations',
  provider_call: '/providers/calls',
  document: '/documents',
}

function StepResult({ step: { result, call_id } }: { readonly step: Step }) {
  const path = result === null ? undefined : resultPaths[result.kind]
  const to = path !== undefined && result !== null ? `${path}/${result.id}` : call_id && `/providers/calls/${call_id}`
  if (!to) return null
  return (
    <>
      {' · '}
      <PageLink to={to} inherit>
        open
      </PageLink>
    </>
  )
}

function StepProblem({ problem }: { readonly problem: NonNullable<Step['problem']> }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Text size="xs" component="div" className="case-problem">
      {toWords(problem.code)}{' '}
      {problem.detail !== null && (
        <Anchor component="button" type="button" inherit aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Less' : 'More'}
        </Anchor>
      )}
      {isOpen && <div className="break">{problem.detail}</div>}
    </Text>
  )
}
