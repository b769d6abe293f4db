/** The steps of the playbook with their state, and the tasks of people below. */
import { Anchor, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { formatDuration, RelativeTime, useNow } from '#console/ui/date-time.tsx'
import { toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { StepState } from './case-badges.tsx'
import { toStepElement } from './case-pointers.ts'
import type { Investigation, Step } from './investigation-queries.ts'
import { StepActs } from './step-acts.tsx'
import { Tasks } from './tasks.tsx'

export function StepsColumn({ investigation }: { readonly investigation: Investigation }) {
  const { steps, playbook, gathering_problem } = investigation
  return (
    <Stack gap="md">
      <section aria-labelledby="steps">
        <Title order={2} size="h5" id="steps" tabIndex={-1} mb={4}>
          Steps
        </Title>
        <Text size="xs" c="dimmed" mb="xs">
          <PageLink to={`/playbooks/${playbook.key}`} inherit underline="always">
            {playbook.key}
          </PageLink>
          , version {playbook.version}
        </Text>
        {gathering_problem !== null && (
          <Text size="sm" c="red" role="status">
            {String(gathering_problem['detail'] ?? 'Nothing could be gathered.')}
          </Text>
        )}
        <ol className="case-steps">
          {steps.map((step) => (
            <StepItem key={step.step_key} step={step} investigation={investigation} />
          ))}
        </ol>
      </section>
      <Tasks investigation={investigation} />
    </Stack>
  )
}

interface StepItemProps {
  readonly step: Step
  readonly investigation: Investigation
}

function StepItem({ step, investigation }: StepItemProps) {
  const { steps } = investigation
  const { step_key, title, kind, is_required, problem, waiver, not_before, reused_from } = step
  const titleOf = (key: string) => steps.find((one) => one.step_key === key)?.title ?? key
  const waitsFor = step.state === 'pending' ? step.needs.filter((key) => !isSettled(steps, key)) : []
  return (
    <li id={toStepElement(step_key)} tabIndex={-1} className="case-step" data-state={step.state}>
      <div className="case-step-head">
        <span className="case-step-title">{title ?? step_key}</span>
        <StepState state={step.state} />
      </div>
      <Text size="xs" c="dimmed" component="div">
        {toWords(kind)}
        {!is_required && ', optional'}
        <StepFigures step={step} />
        <StepResult step={step} />
      </Text>
      {waitsFor.length > 0 && (
        <Text size="xs" c="dimmed">
          after {waitsFor.map(titleOf).join(', ')}
        </Text>
      )}
      {not_before !== null && (
        <Text size="xs" c="dimmed">
          tried again <RelativeTime at={not_before} />
        </Text>
      )}
      {reused_from !== null && (
        <Text size="xs" c="dimmed">
          answer of <RelativeTime at={reused_from} /> used
        </Text>
      )}
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

const isSettled = (steps: readonly Step[], key: string): boolean =>
  ['succeeded', 'skipped', 'waived'].includes(steps.find(({ step_key }) => step_key === key)?.state ?? '')

/** Duration, attempts and cost. */
function StepFigures({ step: { started_at, ended_at, attempt, cost, kind } }: { readonly step: Step }) {
  const now_ms = useNow()
  const until = ended_at ?? new Date(now_ms).toISOString()
  return (
    <>
      {started_at !== null && kind !== 'task' && ` · ${formatDuration(started_at, until)}`}
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
      <PageLink to={to} inherit underline="always">
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
