/** The guided start: five steps that do the real thing with the operations of the API. Progress is what the tenant has. */
import './guide.css'
import { Alert, Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { ResultMark } from '#console/ui/decision/outcome.tsx'
import { Icon } from '#console/ui/icons.tsx'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { formatPoints, MAX_POINTS } from '#console/ui/points.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { ActivateStep, ActivationWaits } from './activate-step.tsx'
import {
  canDoStep,
  chooseStep,
  countDone,
  type Step,
  type StepName,
  stepNames,
  type ThresholdRun,
} from './guide-steps.ts'
import { useStoredProgress } from './guide-storage.ts'
import { ImportStep } from './import-step.tsx'
import { RateStep } from './rate-step.tsx'
import { ReplayStep } from './replay-step.tsx'
import { latestDecisionQuery, useGuideProgress } from './tenant-facts.ts'
import { ThresholdImpact, ThresholdStep } from './threshold-step.tsx'
import { WhoCan } from './who-can.tsx'

export default function GuidePage() {
  const navigate = useNavigate()
  const [stored, store] = useStoredProgress()
  const progress = useGuideProgress({ isOpen: true })
  const { hasBegun } = stored
  useEffect(() => {
    if (!hasBegun) store({ hasBegun: true, isDismissed: false })
  })
  return (
    <Page
      title="Guided start"
      about="Each step works on your own tenant. You can leave at any time and continue later; your progress is kept."
      width="text"
      actions={
        <Button
          variant="default"
          onClick={() => {
            store({ isDismissed: true })
            navigate({ to: '/' })
          }}
        >
          Dismiss the guide
        </Button>
      }
    >
      {progress === undefined ? (
        <ListSkeleton />
      ) : (
        <Steps
          steps={progress.steps}
          list_key={progress.facts.own_lists.find(({ head_version }) => head_version > 0)?.list_key ?? null}
          run={progress.facts.threshold_run}
          onReplayed={() => store({ hasReplayed: true })}
        />
      )}
    </Page>
  )
}

interface StepsProps {
  readonly steps: readonly Step[]
  /** The list of the tenant that was brought in. */
  readonly list_key: string | null
  readonly run: ThresholdRun | null
  readonly onReplayed: () => void
}

function Steps({ steps, list_key, run, onReplayed }: StepsProps) {
  const may = usePermission()
  const [chosen, setChosen] = useState<StepName | null>(null)
  const open = steps.find(({ name }) => name === chosen) ?? chooseStep(steps, (step) => canDoStep(step, may))
  const done = countDone(steps)
  return (
    <Stack gap="md">
      <Text size="sm" role="status">
        {done} of {steps.length} steps done
      </Text>
      {done === steps.length && <Finished />}
      <ol className="guide">
        {steps.map((step, place) => (
          <li key={step.name} aria-label={`Step ${place + 1}: ${step.title}`} data-state={step.state}>
            <span className="guide-mark" aria-hidden="true">
              {step.state === 'done' ? <Icon name="check" size={16} /> : place + 1}
            </span>
            <div className="guide-step">
              <Group gap="xs">
                <Title order={2} size="h4">
                  {step.title}
                </Title>
                <StepMark step={step} />
              </Group>
              <Text size="sm" c="dimmed">
                {step.about}
              </Text>
              {step.state === 'done' && <StepResult name={step.name} list_key={list_key} />}
              {step.name === 'threshold' && run !== null && <ThresholdImpact run_id={run.run_id} />}
              {step.name === 'replay' && step.state !== 'blocked' && canDoStep(step, may) ? (
                <ReplayStep onReplayed={onReplayed} />
              ) : (
                step.state !== 'done' &&
                (step === open || step.state === 'waiting' ? (
                  <StepBody step={step} list_key={list_key} isMeasuring={run?.isOngoing ?? false} />
                ) : (
                  step.state === 'ready' &&
                  (canDoStep(step, may) ? (
                    <Group>
                      <Button size="xs" variant="default" onClick={() => setChosen(step.name)}>
                        Open this step<span className="sr-only">: {step.title}</span>
                      </Button>
                    </Group>
                  ) : (
                    <WhoCan step={step} />
                  ))
                ))
              )}
            </div>
          </li>
        ))}
      </ol>
    </Stack>
  )
}

const marks = {
  done: ['teal', 'done'],
  waiting: ['cyan', 'waiting for approval'],
  ready: ['gray', 'open'],
  blocked: ['gray', 'later'],
} as const

function StepMark({ step: { state } }: { readonly step: Step }) {
  const [color, words] = marks[state]
  return (
    <Badge variant="light" tt="none" color={color}>
      {words}
    </Badge>
  )
}

interface StepBodyProps {
  readonly step: Step
  readonly list_key: string | null
  /** Its impact run shows its progress above. */
  readonly isMeasuring: boolean
}

function StepBody({ step, list_key, isMeasuring }: StepBodyProps) {
  const may = usePermission()
  if (step.state === 'blocked') return <Text size="sm">First do step {stepNumber(step.after)}.</Text>
  if (step.state === 'waiting') return <ActivationWaits />
  if (!canDoStep(step, may)) return <WhoCan step={step} />
  switch (step.name) {
    case 'import':
      return <ImportStep />
    case 'activate':
      return list_key === null ? null : <ActivateStep list_key={list_key} />
    case 'rate':
      return <RateStep />
    case 'threshold':
      return isMeasuring ? null : <ThresholdStep />
    case 'replay':
      return null
  }
}

const stepNumber = (name: StepName | null): number => (name === null ? 1 : stepNames.indexOf(name) + 1)

/** Where to see what a step made. */
function StepResult({ name, list_key }: { readonly name: StepName; readonly list_key: string | null }) {
  const may = usePermission()
  const { data: decision } = useQuery({
    ...latestDecisionQuery,
    enabled: name === 'rate' && may('listEvaluations'),
    throwOnError: false,
  })
  if ((name === 'import' || name === 'activate') && list_key !== null) {
    return (
      <SearchLink
        to={`/datasets/${list_key}`}
        search={{ origin: 'own', tab: name === 'import' ? 'versions' : 'activations' }}
        size="sm"
      >
        {name === 'import' ? 'Open the list and its versions' : 'See when it came into force, and why'}
      </SearchLink>
    )
  }
  if (name === 'rate' && decision) {
    return (
      <Group gap="xs" role="group" aria-label="Result of the rating">
        <ResultMark of={decision} isLarge />
        {decision.score_bps !== null && (
          <Text size="sm">
            with a score of <b className="number">{formatPoints(decision.score_bps)}</b> of {formatPoints(MAX_POINTS)}
          </Text>
        )}
        <PageLink to={`/evaluations/${decision.evaluation_id}`} size="sm">
          Open the decision and its reasons
        </PageLink>
      </Group>
    )
  }
  return null
}

function Finished() {
  return (
    <Alert color="teal" icon={<Icon name="check" />} title="You have been through the whole cycle" role="status">
      <Stack gap="xs">
        <Text size="sm">
          Policy, decision, change and proof are now in your tenant. Next: upload your customers and rate them together.
        </Text>
        <Group gap="xs">
          <ButtonLink to="/subjects" size="xs">
            Open subjects
          </ButtonLink>
          <ButtonLink to="/" size="xs" variant="default">
            Go to the home page
          </ButtonLink>
        </Group>
      </Stack>
    </Alert>
  )
}
