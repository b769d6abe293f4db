/** The report of a case as a document: what was decided and by whom, what it rests on, and how to check it. */
import { toName } from '#kernel/auth/actor-names.ts'
import type { ReportBlock, ReportDocument, ReportFormat, ReportSection } from '#kernel/report-template.ts'
import { describeState, describeTest, numberEvidence } from './case-state.ts'
import { type CollectedCase, MOST_EVENTS } from './collect-case.ts'
import { describeEntered, describeEvidenceContent, EVIDENCE_HASHES } from './evidence-content.ts'
import { writeParagraph } from './paragraph-text.ts'

type Step = CollectedCase['steps'][number]
type TimelineEntry = CollectedCase['timeline'][number]

const toWords = (code: string): string => code.replaceAll('_', ' ')
const toSentence = (code: string): string => toWords(code).replace(/^./, (first) => first.toUpperCase())
const shorten = (content_hash: string): string => `${content_hash.slice(0, 12)}…`

const originTexts: Readonly<Record<CollectedCase['investigation']['origin'], string>> = {
  request: 'on request',
  alert: 'from an alert',
  trigger: 'because the list of triggers asks for it',
  schedule: 'because it was due',
}

function arrangeCase(data: CollectedCase, format: ReportFormat): ReportSection {
  const { investigation, playbook, subjects, alerts, names } = data
  const others = subjects.filter(({ part }) => part !== 'primary')
  return {
    title: 'The case',
    blocks: [
      {
        kind: 'facts',
        items: [
          { label: 'Reference', value: investigation.reference, style: 'strong' },
          { label: 'Title', value: investigation.title },
          { label: 'About', value: `${investigation.subject.name}, ${investigation.subject.subject_type}` },
          ...others.map(({ name, subject_type, part }) => ({
            label: 'Also about',
            value: `${name}, ${subject_type}, ${toWords(part)}`,
          })),
          {
            label: 'Opened',
            value: `${format.instant(investigation.created_at)} by ${toName(names, investigation.created_by)}, ${originTexts[investigation.origin]}`,
          },
          { label: 'Priority', value: investigation.priority },
          { label: 'Worked on by', value: toName(names, investigation.assignee) },
          {
            label: 'Playbook',
            value: `${playbook.title}, ${investigation.playbook.key} version ${investigation.playbook.version}`,
          },
          { label: 'Playbook SHA-256', value: investigation.playbook.content_hash, style: 'code' },
          {
            label: 'Access',
            value: investigation.is_restricted
              ? 'Restricted: only people on its access list may see it. Do not discuss it with the customer.'
              : 'Everybody whose role reads investigations',
          },
          { label: 'Investigation', value: investigation.investigation_id, style: 'code' },
        ],
      },
      {
        kind: 'table',
        title: 'Alerts that it looks into',
        columns: [
          { title: 'First seen', width: 3 },
          { title: 'Priority', width: 2 },
          { title: 'What', width: 6 },
          { title: 'State', width: 4 },
        ],
        rows: alerts.map((alert) => [
          format.instant(alert.first_seen_at),
          alert.priority,
          alert.sentence !== null && alert.sentence !== alert.title ? `${alert.title}: ${alert.sentence}` : alert.title,
          describeAlert(alert, data),
        ]),
        empty: 'No alert is linked to the case.',
      },
    ],
  }
}

const nameCode = ({ reason_titles }: CollectedCase, code: string | null): string =>
  code === null ? '–' : (reason_titles[code] ?? code)

function describeAlert(alert: CollectedCase['alerts'][number], data: CollectedCase): string {
  const { names } = data
  if (alert.dismissed_by !== null)
    return `dismissed (${nameCode(data, alert.reason_code)}) by ${toName(names, alert.dismissed_by)}`
  if (alert.escalated_by !== null) return `escalated by ${toName(names, alert.escalated_by)}`
  return alert.state
}

function arrangeNarrative(data: CollectedCase, format: ReportFormat): ReportSection {
  const { narrative, names } = data
  const getEvidenceName = numberEvidence(data)
  if (!narrative) return { title: 'Narrative', blocks: [{ kind: 'text', text: 'Nobody has written a narrative yet.' }] }
  const { version, written_at, written_by, is_sealed } = narrative
  const by = `Version ${version}, written by ${toName(names, written_by)}, ${format.instant(written_at)}`
  return {
    title: 'Narrative',
    blocks: [
      {
        kind: 'note',
        text: `${by}${is_sealed ? '; it is the sealed one' : ''}. E1, E2 … name items of the evidence below.`,
      },
      ...narrative.paragraphs.map(({ kind, text, cites, cites_more }): ReportBlock => {
        const names = [...cites.map(getEvidenceName), ...(cites_more ? ['evidence that is not shown'] : [])]
        const cited = names.length === 0 ? '' : ` [${names.join(', ')}]`
        return { kind: 'text', text: `${writeParagraph({ kind, text })}${cited}` }
      }),
    ],
  }
}

function arrangeEvidence(data: CollectedCase, format: ReportFormat): ReportSection {
  const getEvidenceName = numberEvidence(data)
  return {
    title: 'Evidence',
    blocks: [
      {
        kind: 'table',
        columns: [
          { title: 'No.', width: 0, style: 'strong' },
          { title: 'What', width: 4 },
          { title: 'What it is and says', width: 7 },
          { title: 'Source', width: 4 },
          { title: 'Obtained', width: 0 },
          { title: 'Attached by', width: 2 },
          { title: 'Hash, cut', width: 0, style: 'code' },
        ],
        rows: data.evidence.map((item) => [
          getEvidenceName(item.evidence_id),
          `${item.title ?? 'Erased'}${item.is_test ? ' (test)' : ''}${item.detached_at === null ? '' : ` (detached: ${item.detach_reason ?? ''})`}`,
          describeEvidenceContent(item.kind, data.contents[item.evidence_id], { format, names: data.names }),
          [item.source, item.reference].filter((part) => part !== null).join(', ') || '–',
          format.day(item.obtained_at),
          toName(data.names, item.added_by),
          shorten(item.content_hash),
        ]),
        empty: 'No evidence is attached to the case.',
      },
      {
        kind: 'note',
        text: `${EVIDENCE_HASHES} The archive has all hashes in full, and no documents or answers of providers: those stay in the service.`,
      },
    ],
  }
}

function describeResult(step: Step, data: CollectedCase, format: ReportFormat): string {
  const parts: string[] = []
  const decision = data.decisions.find(({ evaluation_id }) => evaluation_id === step.result?.id)
  if (decision)
    parts.push(
      decision.outcome.family === 'rule'
        ? `${decision.outcome.hit ? 'Hit' : 'No hit'} by ${decision.definition_key} version ${decision.definition_version}`
        : `Rated ${decision.outcome.band}, score ${format.share(decision.outcome.score_bps)}, by ${decision.definition_key} version ${decision.definition_version}`,
      ...decision.reasons.map(({ title }) => title),
    )
  const task = data.tasks.find(({ task_id }) => task_id === step.task_id)
  if (task?.result) parts.push(task.result)
  if (step.reused_from !== null) parts.push(`an earlier answer of ${format.instant(step.reused_from)}`)
  if (step.entered) parts.push(`answer ${describeEntered(step.entered, data.names)}`)
  if (step.evidence_id !== null) parts.push(`see ${numberEvidence(data)(step.evidence_id)}`)
  if (step.cost) parts.push(`cost ${step.cost.amount} ${step.cost.currency}`)
  if (step.waiver) parts.push(`waived by ${toName(data.names, step.waiver.waived_by)}: ${step.waiver.reason}`)
  if (step.problem) parts.push(step.problem.detail ?? step.problem.code)
  const condition = data.playbook.conditions[step.step_key]
  if (step.state === 'skipped' && !step.problem && condition !== undefined)
    parts.push(`Left out: needed only if ${condition}.`)
  return parts.join('; ') || '–'
}

/** As the pages of the case call them. */
const stepStateTexts: Readonly<Record<string, string>> = { succeeded: 'done', indeterminate: 'outcome unknown' }

/** A step or task that a case did not wait for when it ended. */
const describePart = (state: string, { investigation }: CollectedCase): string =>
  ['closed', 'merged', 'ended'].includes(investigation.state) && ['pending', 'waiting', 'open'].includes(state)
    ? 'not needed'
    : (stepStateTexts[state] ?? state)

function arrangeWork(data: CollectedCase, format: ReportFormat): ReportSection {
  const { steps, tasks, requests, names } = data
  return {
    title: 'What was gathered and done',
    blocks: [
      {
        kind: 'table',
        title: 'Steps of the playbook',
        columns: [
          { title: 'Step', width: 4, style: 'strong' },
          { title: 'Kind', width: 2 },
          { title: 'State', width: 2 },
          { title: 'Ended', width: 3 },
          { title: 'Result', width: 6 },
        ],
        rows: steps.map((step) => [
          `${step.title ?? step.step_key}${step.is_required ? '' : ' (optional)'}`,
          step.kind,
          describePart(step.state, data),
          format.instant(step.ended_at),
          describeResult(step, data, format),
        ]),
        empty: 'The playbook has no steps for this subject.',
      },
      {
        kind: 'table',
        title: 'Tasks',
        columns: [
          { title: 'Task', width: 5, style: 'strong' },
          { title: 'Checklist', width: 6 },
          { title: 'Ended', width: 4 },
        ],
        rows: tasks.map((task) => [
          // The table above has the results of steps.
          task.step_key === null && task.result !== null ? `${task.title}: ${task.result}` : task.title,
          task.checklist.map(({ text, is_done }) => `${is_done ? 'Done' : 'Open'}: ${text}`).join('; ') || '–',
          task.ended_at === null
            ? describePart(task.state, data)
            : `${task.state}, ${format.instant(task.ended_at)} by ${toName(names, task.ended_by)}`,
        ]),
        empty: 'The case has no tasks.',
      },
      {
        kind: 'table',
        title: 'Requests for information',
        columns: [
          { title: 'Asked', width: 4 },
          { title: 'Question', width: 5 },
          { title: 'State', width: 2 },
          { title: 'Answer', width: 5 },
        ],
        rows: requests.map((request) => [
          `${request.addressee}, ${format.instant(request.asked_at)}, by ${toName(names, request.asked_by)}`,
          request.question,
          request.state,
          [request.answer, request.evidence_id && `see ${numberEvidence(data)(request.evidence_id)}`]
            .filter(Boolean)
            .join('; ') || '–',
        ]),
        empty: 'Nobody outside the case was asked.',
      },
    ],
  }
}

const kindTexts: Readonly<Record<string, string>> = {
  proposed: 'Outcome proposed',
  withdrawn: 'Proposal withdrawn',
  returned: 'Proposal returned',
  noted: 'Note written',
  step_succeeded: 'Step done',
  step_running: 'Step begun',
  step_waiting: 'Step waits',
  step_indeterminate: 'Step with an unknown outcome',
  answer_entered: 'Answer entered in place of the provider',
}

const taskTexts: Readonly<Record<string, string>> = {
  open: 'Task opened again',
  done: 'Task done',
  cancelled: 'Task cancelled',
}

function describeEvent({ kind, data: named }: TimelineEntry, data: CollectedCase): string {
  const {
    step_key,
    task_id,
    evidence_id,
    entered_by,
    outcome,
    assignee,
    version,
    state,
    gathering,
    waiting_for,
    seal_no,
  } = named as Record<string, string | number | undefined>
  const taskText = kind === 'task_changed' ? taskTexts[String(state)] : undefined
  const details = [
    step_key && (data.steps.find((step) => step.step_key === step_key)?.title ?? String(step_key)),
    !step_key && task_id && data.tasks.find((task) => task.task_id === task_id)?.title,
    evidence_id && numberEvidence(data)(String(evidence_id)),
    outcome && nameCode(data, String(outcome)),
    assignee && toName(data.names, String(assignee)),
    entered_by && toName(data.names, String(entered_by)),
    version && `version ${version}`,
    taskText === undefined && state && toWords(String(state)),
    gathering && toWords(String(gathering)),
    waiting_for && `for ${toWords(String(waiting_for))}`,
    seal_no && `seal ${seal_no}`,
  ].filter(Boolean)
  const text = taskText ?? kindTexts[kind] ?? toSentence(kind)
  return details.length === 0 ? text : `${text}: ${details.join(', ')}`
}

/** Other events say the same: a step that ended, or evidence that was attached. A task that is opened again is said by no other. */
const isRepeated = ({ kind, data: { step_key, state } }: TimelineEntry): boolean =>
  ['gathering', 'step_running', 'step_waiting'].includes(kind) ||
  (['task_added', 'task_changed'].includes(kind) && step_key !== undefined && state !== 'open')

function arrangeTimeline(data: CollectedCase, format: ReportFormat): ReportSection {
  const { timeline, names } = data
  const blocks: ReportBlock[] = [
    {
      kind: 'table',
      columns: [
        { title: 'When', width: 3 },
        { title: 'Who', width: 3 },
        { title: 'What', width: 5, style: 'strong' },
        { title: 'Written with it', width: 5 },
      ],
      rows: timeline
        .filter((entry) => !isRepeated(entry))
        .map((entry) => [
          format.instant(entry.recorded_at),
          toName(names, entry.recorded_by),
          describeEvent(entry, data),
          entry.note ?? '–',
        ]),
      empty: 'Nothing has happened.',
    },
  ]
  const left_out = timeline.length === MOST_EVENTS ? `, and those before the newest ${MOST_EVENTS}` : ''
  blocks.push({
    kind: 'note',
    text: `The beginnings of steps are left out${left_out}; the archive of the case has all events.`,
  })
  return { title: 'Who did what', blocks }
}

function arrangeSeal({ seal, names, investigation }: CollectedCase, format: ReportFormat): ReportSection {
  if (!seal)
    return {
      title: 'Seal',
      blocks: [{ kind: 'text', text: 'The case was never closed, so nothing of it is sealed yet.' }],
    }
  return {
    title: 'Seal, and how to verify the case',
    blocks: [
      {
        kind: 'facts',
        items: [
          {
            label: 'Seal',
            value: `number ${seal.seal_no}, ${format.instant(seal.sealed_at)} by ${toName(names, seal.sealed_by)}`,
          },
          { label: 'SHA-256 of the seal', value: seal.manifest_hash, style: 'code' },
          { label: 'Signed with the key', value: seal.key_id, style: 'code' },
        ],
      },
      {
        kind: 'list',
        items: [
          `Ask for the archive of ${investigation.reference} (“Examiner’s package” on its page): it holds the signed seal, the narrative, the list of the evidence with its hashes, and the timeline.`,
          'Run “probity verify pack FILE.zip --key PUBLIC_KEY”. It needs no connection. It checks the signatures, every file, and that what was closed is what was proposed.',
          'Take the public key from somebody other than the sender of the archive. The SHA-256 of seal.json is the one above, computed over its canonical form.',
        ],
      },
    ],
  }
}

export function arrangeReport(data: CollectedCase, format: ReportFormat): ReportDocument {
  const { investigation } = data
  return {
    title: 'Investigation',
    subtitle: `${investigation.reference} · ${investigation.subject.name}`,
    reference: investigation.reference,
    blocks: [describeState(data, format), ...describeTest(data)],
    sections: [
      arrangeCase(data, format),
      arrangeNarrative(data, format),
      arrangeEvidence(data, format),
      arrangeWork(data, format),
      arrangeTimeline(data, format),
      arrangeSeal(data, format),
    ],
  }
}
