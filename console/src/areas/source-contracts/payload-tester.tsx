/** Checks a payload with a version or the draft of a contract: each step of admission, places, facts and the JSON form. */
import '#console/ui/registry.css'
import './source-contracts.css'
import { Alert, Anchor, Button, FileButton, Group, SegmentedControl, Stack, Text, Textarea } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { type DragEvent, type ReactNode, useRef, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { Findings } from '#console/ui/decision/findings.tsx'
import {
  describeDemand,
  describeKeyword,
  formatViolationPlace,
  toPayloadPointer,
  type Violation,
} from '#console/ui/definition/violations.ts'
import { formatCount, toWords } from '#console/ui/format.ts'
import { findPosition, isJson } from '#console/ui/json-position.ts'
import { LocatedJson } from '#console/ui/located-json.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { Section } from '#console/ui/section.tsx'
import { type AdmissionStep, toAdmissionSteps } from './admission-steps.ts'
import type { Contract } from './contract-model.ts'
import { RecordFacts } from './record-facts.tsx'
import { ResultBadge } from './result-badge.tsx'

type Check = Schemas['ContractCheck']
type Finding = Schemas['Finding']

export interface TestedPayload {
  readonly payload: unknown
  readonly check: Check
}

interface PayloadTesterProps {
  readonly title: string
  readonly contract_key: string
  readonly version: number | 'draft'
  readonly contract: Contract
  /** Called before each check, to save what is being edited. */
  readonly beforeCheck?: () => Promise<void>
  readonly submit?: string
  /** What can be done with a checked payload. */
  readonly renderActions?: (tested: TestedPayload) => ReactNode
}

const isXmlText = (text: string): boolean => text.trimStart().startsWith('<')

export function PayloadTester(props: PayloadTesterProps) {
  const { title, contract_key, version, contract, beforeCheck, submit = 'Check payload', renderActions } = props
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState('')
  const [tested, setTested] = useState<{ readonly text: string; readonly check: Check } | null>(null)
  const isXml = isXmlText(text)
  const check = useApiMutation(
    async () => {
      await beforeCheck?.()
      return probity.POST('/api/source-contracts/{contract_key}/versions/{version}/check', {
        params: { path: { contract_key, version: String(version) } },
        body: { text, media_type: isXml ? 'application/xml' : 'application/json' },
      })
    },
    { invalidates: [], onDone: (answer) => setTested({ text, check: answer }) },
  )
  const findings = check.problem?.members['findings'] as readonly Finding[] | undefined
  async function take(file: File | null | undefined) {
    if (file) setText(await file.text())
  }
  function drop(event: DragEvent) {
    event.preventDefault()
    take(event.dataTransfer.files[0])
  }
  function show(pointer: string) {
    const place = findPosition(text, pointer)
    if (!place || !field.current) return
    field.current.focus()
    field.current.setSelectionRange(place.from, place.to)
  }
  return (
    <Section title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          check.run(undefined)
        }}
      >
        <Stack gap="sm">
          <Textarea
            ref={field}
            label="Payload"
            description="Paste or drop JSON or XML as the provider sends it. Nothing is stored."
            required
            autosize
            minRows={6}
            maxRows={18}
            spellCheck={false}
            classNames={{ input: 'mono' }}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={drop}
          />
          <Group gap="xs">
            <Button type="submit" size="xs" loading={check.isRunning}>
              {submit}
            </Button>
            <FileButton onChange={take} accept=".json,.xml,application/json,text/xml">
              {(button) => (
                <Button size="xs" variant="default" {...button}>
                  Choose file
                </Button>
              )}
            </FileButton>
            {(contract.examples ?? []).length > 0 && (
              <Anchor
                component="button"
                type="button"
                size="xs"
                onClick={() => setText(JSON.stringify(contract.examples?.[0]?.payload, null, 2))}
              >
                Use the first example
              </Anchor>
            )}
          </Group>
          {findings ? (
            <Findings findings={findings} title="The contract cannot be applied yet" />
          ) : (
            <ProblemNote problem={check.problem} />
          )}
        </Stack>
      </form>
      {tested && !check.isRunning && (
        <TestResult
          check={tested.check}
          text={tested.text}
          contract={contract}
          isStale={tested.text !== text}
          onShow={show}
          {...(renderActions && { renderActions })}
        />
      )}
    </Section>
  )
}

interface TestResultProps {
  readonly check: Check
  readonly text: string
  readonly contract: Contract
  /** The text was changed since. */
  readonly isStale: boolean
  readonly onShow: (pointer: string) => void
  readonly renderActions?: (tested: TestedPayload) => ReactNode
}

const views = ['steps', 'facts', 'payload'] as const

function TestResult({ check, text, contract, isStale, onShow, renderActions }: TestResultProps) {
  const [view, setView] = useState<(typeof views)[number]>('steps')
  const isXml = isXmlText(text)
  const payload: unknown = isXml ? check.converted : isJson(text) ? JSON.parse(text) : null
  const toPointer = (violation: Pick<Violation, 'pointer' | 'record_index'>) =>
    toPayloadPointer(violation, contract.records_at ?? '', payload)
  return (
    <Stack gap="sm" mt="md" role="status" aria-label="Result of the check">
      <Group gap="xs">
        <ResultBadge result={check.result} size="lg" />
        <Text size="sm">
          {formatCount(check.record_count, 'record')}
          {check.incomplete && ', some of them refused'}
          {check.violations.length > 0 &&
            `, ${formatCount(check.violations.length + check.more_violations, 'violation')}`}
          {check.notes.length > 0 && `, ${formatCount(check.notes.length, 'note')}`}
        </Text>
      </Group>
      {isStale && (
        <Text size="xs" c="dimmed">
          The payload was changed after this check.
        </Text>
      )}
      {renderActions && payload !== null && renderActions({ payload, check })}
      <SegmentedControl
        size="xs"
        aria-label="Parts of the result"
        value={view}
        onChange={(chosen) => setView(chosen as typeof view)}
        data={[
          { value: 'steps', label: 'Steps' },
          { value: 'facts', label: 'Facts' },
          { value: 'payload', label: isXml ? 'As JSON' : 'Payload' },
        ]}
      />
      {view === 'steps' && (
        <>
          <Steps
            steps={toAdmissionSteps(check, contract, isXml)}
            {...(!isXml && { onShow: (violation) => onShow(toPointer(violation)) })}
          />
          {check.more_violations > 0 && (
            <Text size="xs" c="dimmed">
              {formatCount(check.more_violations, 'more violation')} not listed.
            </Text>
          )}
        </>
      )}
      {view === 'facts' && <RecordFacts records={check.records} facts={contract.facts ?? []} />}
      {view === 'payload' &&
        (payload === null ? (
          <Alert color="gray">The payload cannot be read, so there is nothing to show.</Alert>
        ) : (
          <LocatedJson
            name="Payload as JSON"
            value={payload}
            marks={check.violations.map((violation) => ({
              pointer: toPointer(violation),
              text: describeKeyword(violation),
            }))}
          />
        ))}
      {(check.provenance.source !== null || check.provenance.as_of !== null) && (
        <Text size="xs" c="dimmed">
          Source: {check.provenance.source ?? 'not stated'}. Date: {check.provenance.as_of ?? 'not stated'}.
        </Text>
      )}
      {check.lists.length > 0 && (
        <Text size="xs" c="dimmed">
          Checked with {check.lists.map(({ list_key, version }) => `${list_key} version ${version}`).join(', ')}.
        </Text>
      )}
    </Stack>
  )
}

const stepWords = {
  passed: ['✓', 'passed'],
  failed: ['✗', 'failed'],
  noted: ['!', 'passed with notes'],
  skipped: ['–', 'nothing to check'],
  not_reached: ['·', 'not reached'],
} as const

interface StepsProps {
  readonly steps: readonly AdmissionStep[]
  /** Selects the place in the text. */
  readonly onShow?: (violation: Violation) => void
}

function Steps({ steps, onShow }: StepsProps) {
  return (
    <ol className="steps" aria-label="Steps of admission">
      {steps.map(({ name, title, state, violations, notes }) => (
        <li key={name} data-step={state}>
          <span className="step-sign" aria-hidden="true">
            {stepWords[state][0]}
          </span>
          <div>
            <Text size="sm" component="div">
              <b>{title}</b> <span className="quiet">{stepWords[state][1]}</span>
            </Text>
            <ul className="plain-list">
              {violations.map((violation, place) => (
                <li key={`${violation.pointer} ${place}`}>
                  <ViolationText violation={violation} {...(onShow && { onShow })} />
                </li>
              ))}
              {notes.map((note, place) => (
                <li key={`${note.code} ${note.pointer} ${place}`}>
                  <Text size="sm">
                    Note: {describeNote(note.code)} at <span className="pointer">{formatViolationPlace(note)}</span>
                  </Text>
                </li>
              ))}
            </ul>
          </div>
        </li>
      ))}
    </ol>
  )
}

const describeNote = (code: string): string =>
  code === 'unknown_member'
    ? 'field that the contract does not declare'
    : code === 'age_unknown'
      ? 'the age of the data is not known'
      : code.startsWith('check_failed:')
        ? `check “${code.slice('check_failed:'.length)}” does not hold`
        : toWords(code)

interface ViolationTextProps {
  readonly violation: Violation
  readonly onShow?: (violation: Violation) => void
}

export function ViolationText({ violation, onShow }: ViolationTextProps) {
  const place = <span className="pointer">{formatViolationPlace(violation)}</span>
  return (
    <Text size="sm" component="div">
      <b>{describeKeyword(violation)}</b> at{' '}
      {onShow ? (
        <Anchor component="button" type="button" size="sm" onClick={() => onShow(violation)}>
          {place}
        </Anchor>
      ) : (
        place
      )}
      . {describeDemand(violation.expected)}
    </Text>
  )
}
