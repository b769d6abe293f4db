/** Wire contract of investigations: the case, its steps and its timeline. */
import {
  Count,
  closed,
  Id,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  Revision,
  Slug,
  Timestamp,
  Type,
  text,
  titleText,
} from '#kernel/schema.ts'
import { evidenceStore } from '#modules/documents/index.ts'
import { priorities } from '#modules/work/index.ts'
import { actions } from './lifecycle/guards.ts'
import {
  eventCategories,
  gatheringStates,
  investigationStates,
  origins,
  stepReasons,
  stepStates,
  waitingReasons,
} from './model.ts'

export const Principal = text(200, { description: 'user: and the id of a person, or another actor.' })
export const OutcomeCode = Type.String({
  pattern: '^[A-Z][A-Z0-9_]*$',
  maxLength: 60,
  description: 'A code of the list reason-codes whose area is investigation, which the playbook allows.',
  examples: ['INV_NO_SUSPICION'],
})
const AnyMembers = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description })

const members = {
  investigation_id: Id(),
  reference: text(20, { description: 'What people call it. Random, so it does not say how many there are.' }),
  title: text(300),
  state: oneOf(investigationStates),
  gathering: oneOf(gatheringStates, {
    description:
      'none: not begun. blocked: a credential or a plugin is missing. partial: some steps failed or wait for a person.',
  }),
  waiting_for: nullable(oneOf(waitingReasons)),
  waiting_since: nullable(Timestamp()),
  waiting_until: nullable(Timestamp()),
  priority: oneOf(priorities),
  origin: oneOf(origins),
  subject: closed({ subject_id: Id(), name: text(500), subject_type: text(20) }, { title: 'InvestigationSubjectName' }),
  playbook: closed(
    { key: text(100), origin: oneOf(['own', 'shared']), version: Count, content_hash: text(64) },
    { title: 'PinnedPlaybook', description: 'The version that the case follows to its end.' },
  ),
  queue_key: nullable(text(100)),
  assignee: nullable(Principal),
  proposal: nullable(
    closed(
      {
        outcome: text(60),
        proposed_by: Principal,
        proposed_at: Timestamp(),
        proposal_hash: text(64),
        without: Type.Array(text(100), {
          maxItems: 100,
          description:
            'Steps that the outcome needs and that nobody will do. Whoever waived one does not close the investigation.',
        }),
      },
      { title: 'ProposedOutcome' },
    ),
  ),
  outcome: nullable(text(60)),
  closed_by: nullable(Principal),
  closed_at: nullable(Timestamp()),
  seals: Count,
  merged_into: nullable(Id()),
  restriction_id: Id(),
  is_restricted: Type.Boolean({ description: 'true: only people on the access list of its restriction see it.' }),
  is_test: Type.Boolean({
    description: 'true: evidence of it was not given by a live provider, so an outcome rests on a test.',
  }),
  created_at: Timestamp(),
  created_by: Principal,
  updated_at: Timestamp(),
  updated_by: Principal,
  revision: Revision,
}

export const Guard = closed(
  {
    code: text(60),
    detail: text(1000),
    pointer: text(300, {
      description: 'Where something can be done about it: #/steps/{key}, #/tasks/{id}, #/narrative/paragraphs/{place}.',
    }),
  },
  { title: 'MissingGuard' },
)
const NextAction = closed(
  { action: oneOf(actions), is_permitted: Type.Boolean(), missing: Type.Array(Guard) },
  { title: 'NextAction' },
)

export const Step = closed(
  {
    step_key: text(100),
    kind: text(100),
    title: nullable(text(300)),
    origin: oneOf(['playbook', 'person']),
    is_required: Type.Boolean(),
    needs: Type.Array(text(100)),
    state: oneOf(stepStates, {
      description:
        'indeterminate: a call was sent, and nobody knows whether it was answered; a person settles it. ' +
        'skipped: its condition does not apply, or it is optional and cannot be asked.',
    }),
    attempt: Count,
    job_id: nullable(Id()),
    call_id: nullable(Id()),
    task_id: nullable(Id()),
    result: nullable(closed({ kind: text(40), id: Id() }, { title: 'StepResult' })),
    evidence_id: nullable(Id()),
    is_test: Type.Boolean({ description: 'true: no live provider gave the answer.' }),
    contract_result: nullable(AnyMembers('Verdict of the source contract.')),
    cost: nullable(closed({ amount: text(30), currency: text(3) }, { title: 'StepCost' })),
    reused_from: nullable(
      Timestamp({ description: 'When the earlier answer was given that was used instead of a call.' }),
    ),
    not_before: nullable(Timestamp({ description: 'It is tried again then.' })),
    started_at: nullable(Timestamp()),
    ended_at: nullable(Timestamp()),
    problem: nullable(closed({ code: text(60), detail: nullable(text(2000)) }, { title: 'StepProblem' })),
    input: nullable(
      AnyMembers(
        'Of a call of a provider: for each member of its input a value, `{"value": …}`, or a fact about the subject, `{"fact": …}`.',
      ),
    ),
    answer: nullable(
      oneOf(['found', 'not_found'], {
        description: 'Whether the provider found something. A step that succeeded may have found nothing.',
      }),
    ),
    run_ms: nullable(
      Type.Integer({
        minimum: 0,
        description:
          'From its beginning to its end, with what it waited for. null: it did not run, or a person did it.',
      }),
    ),
    reason: nullable(
      closed(
        { code: oneOf(stepReasons), detail: text(4000) },
        { title: 'StepReason', description: 'Why nobody did it, or will. null: it is done, or can still be.' },
      ),
    ),
    entered: evidenceStore.EnteredBy,
    waiver: nullable(
      closed({ waived_by: Principal, waived_at: Timestamp(), reason: text(2000) }, { title: 'StepWaiver' }),
    ),
    revision: Revision,
    updated_at: Timestamp(),
  },
  { title: 'InvestigationStep' },
)
export const StepList = closed({ items: Type.Array(Step) }, { title: 'InvestigationStepList' })

const Counts = closed(
  {
    evidence: Count,
    alerts: Count,
    notes: Count,
    tasks_open: Count,
    tasks: Count,
    information_requests_open: Count,
    information_requests: Count,
    subjects: Count,
    narrative_version: Count,
    people_with_access: Count,
  },
  { title: 'InvestigationCounts' },
)
const CaseClock = closed(
  {
    clock_key: text(100),
    kind: oneOf(['service', 'statutory']),
    state: oneOf(['running', 'paused', 'met', 'missed']),
    started_at: Timestamp(),
    due_at: Timestamp(),
    ended_at: nullable(Timestamp()),
  },
  { title: 'InvestigationClock' },
)
const CaseAlert = closed(
  { alert_id: Id(), title: text(300), priority: oneOf(priorities), state: text(20), linked_at: Timestamp() },
  { title: 'InvestigationAlert' },
)

export const InvestigationSummary = closed(members, { title: 'InvestigationSummary' })
export const InvestigationPage = pageOf(InvestigationSummary)
export const Investigation = closed(
  {
    ...members,
    origin_reference: nullable(text(300)),
    gathering_job_id: nullable(Id()),
    gathering_problem: nullable(AnyMembers('Why nothing could be gathered: code, detail and what is missing.')),
    outcomes: Type.Array(text(60), { description: 'Codes with which the playbook lets it end.' }),
    steps: Type.Array(Step),
    clocks: Type.Array(CaseClock),
    alerts: Type.Array(CaseAlert),
    counts: Counts,
    main_action: nullable(
      oneOf(actions, { description: 'What brings the case forward next; null once it has ended.' }),
    ),
    next_actions: Type.Array(NextAction, {
      description: 'Every act with whether the caller may do it now, and otherwise everything that is missing.',
    }),
  },
  { title: 'Investigation' },
)

export const InvestigationParams = closed({ investigation_id: Id() })
export const InvestigationQuery = closed({
  ...pageQuery,
  state: Type.Optional(oneOf(investigationStates)),
  gathering: Type.Optional(oneOf(gatheringStates)),
  priority: Type.Optional(oneOf(priorities)),
  subject_id: Type.Optional(Id()),
  playbook_key: Type.Optional(Slug()),
  queue_key: Type.Optional(Slug()),
  assignee: Type.Optional(Id({ description: 'Id of a person.' })),
  is_waiting: Type.Optional(oneOf(['true', 'false'])),
})

export const InvestigationRequest = closed({
  subject_id: Id(),
  playbook_key: Slug({ examples: ['edd-person'] }),
  title: Type.Optional(titleText(300, { description: 'That of the playbook when absent.' })),
  priority: Type.Optional(oneOf(priorities, { default: 'medium' })),
  alert_ids: Type.Optional(listOf(Id(), 50, { uniqueItems: true, description: 'Alerts that the case looks into.' })),
  is_restricted: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'true: only I, and people whom I give access, see it. Such a case is never joined, and joins none. Only compliance_officer.',
    }),
  ),
})
export const OpenedInvestigation = closed(
  {
    investigation_id: Id(),
    reference: text(20),
    joined: Type.Boolean({ description: 'true: there was an open case of this subject and playbook.' }),
    job_id: nullable(Id({ description: 'The job that gathers.' })),
    job: nullable(text(100, { description: 'Path of the job.' })),
    warnings: Type.Array(closed({ code: text(60), detail: text(500) }, { title: 'InvestigationWarning' })),
  },
  { title: 'OpenedInvestigation' },
)

export const TimelineQuery = closed({
  ...pageQuery,
  category: Type.Optional(
    oneOf(eventCategories, { description: 'What people did, what the service did, or what providers answered.' }),
  ),
})
const TimelineEntry = closed(
  {
    event_id: Id(),
    kind: text(40),
    category: oneOf(eventCategories),
    data: AnyMembers('Ids, keys and states.'),
    note: nullable(text(4000, { description: 'What was written with it.' })),
    note_state: nullable(
      oneOf(['readable', 'erased', 'altered'], { description: 'null: nothing was written with it.' }),
    ),
    recorded_at: Timestamp(),
    recorded_by: Principal,
  },
  { title: 'InvestigationEvent' },
)
export const TimelinePage = pageOf(TimelineEntry)
