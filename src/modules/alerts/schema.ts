/** Wire contract of alerts, reports, the acts on them, and their history. */
import {
  Count,
  closed,
  ExpectedRevision,
  Id,
  integer,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  Revision,
  reasonText,
  Slug,
  Timestamp,
  Type,
  text,
  titleText,
} from '#kernel/schema.ts'
import { alertStates, priorities } from './model.ts'

export const PriorityName = oneOf(priorities)
export const Source = Type.String({
  pattern: '^[a-z][a-z0-9_-]{0,39}$',
  maxLength: 40,
  description: 'Who reports. The service itself reports as rule, matrix or contract.',
  examples: ['payment-monitor'],
})
export const DedupKey = text(300, {
  description: 'The same for every report of the same match. Do not put names of people into it.',
  examples: ['watchlist:4711:account:12'],
})
const FactName = Type.String({ pattern: '^[a-z][a-z0-9_]{0,59}$', maxLength: 60, examples: ['list_entry'] })
const Principal = text(200, { description: 'user: and the id of a person, or another actor.' })
const Note = reasonText(4000, { description: 'For people who work on the alert. Never shown to viewer and service.' })
export const ReasonCode = Type.String({
  pattern: '^[A-Z][A-Z0-9_]{0,59}$',
  maxLength: 60,
  description: 'A code of the list reason-codes whose area is alert.',
  examples: ['ALR_FALSE_MATCH'],
})

const FactChange = closed(
  {
    name: text(60),
    before: nullable(Type.String({ maxLength: 500 })),
    after: nullable(Type.String({ maxLength: 500 })),
  },
  { title: 'AlertFactChange' },
)
const explanationMembers = {
  sentence: text(1000),
  fields: listOf(
    closed({
      name: text(200),
      subject_value: nullable(Type.String({ maxLength: 500, pattern: '^[^\\u0000]*$' })),
      matched_value: nullable(Type.String({ maxLength: 500, pattern: '^[^\\u0000]*$' })),
      agrees: nullable(Type.Boolean({ description: 'null: the two were not compared.' })),
    }),
    50,
    { description: 'Values side by side: of the subject, and of what it was matched with.' },
  ),
  references: listOf(
    closed({
      kind: Slug(),
      id: text(300),
      version: nullable(integer(1, Number.MAX_SAFE_INTEGER)),
    }),
    20,
    { description: 'What the alert refers to: a decision, a list entry, a payload.' },
  ),
}
const ExplanationView = closed(explanationMembers, { title: 'AlertExplanation' })

export const Alert = closed(
  {
    alert_id: Id(),
    source: text(40),
    rule_code: nullable(text(100, { description: 'The entry of the list alert-rules that raised it.' })),
    subject_id: nullable(Id()),
    subject_name: nullable(text(500)),
    title: text(300),
    dedup_key: text(300),
    facts: Type.Array(closed({ name: text(60), value: Type.String({ maxLength: 500 }) }), {
      description: 'What makes this match differ from another.',
    }),
    fingerprint: text(64, {
      description: 'Salted hash of the facts: the same inside this alert while they are the same.',
    }),
    changes: nullable(
      Type.Array(FactChange, {
        description:
          'What changed since the alert that was closed before, or since the report before. Empty: the facts of the closed alert ' +
          'are the same, and it was opened again at a higher priority.',
      }),
    ),
    previous_alert_id: nullable(Id({ description: 'The closed alert of the same match.' })),
    explanation: ExplanationView,
    priority: PriorityName,
    highest_priority: oneOf(priorities, {
      description: 'The highest that it ever had: decides whether a dismissal needs a second person.',
    }),
    state: oneOf(alertStates),
    queue_key: nullable(text(100)),
    assignee: nullable(Principal),
    clock: nullable(
      closed(
        {
          kind: oneOf(['service', 'statutory']),
          state: oneOf(['running', 'paused', 'missed']),
          started_at: Timestamp(),
          due_at: Timestamp(),
        },
        { title: 'AlertClock', description: 'The clock that ends first; null: none runs.' },
      ),
    ),
    occurrences: Count,
    first_seen_at: Timestamp(),
    last_seen_at: Timestamp(),
    snoozed_until: nullable(Timestamp()),
    dismissal: nullable(
      closed(
        {
          state: oneOf(['proposed', 'done']),
          reason_code: text(60),
          needs_second_person: Type.Boolean(),
          proposed_by: nullable(Principal),
          proposed_at: nullable(Timestamp()),
          dismissed_by: nullable(Principal),
          dismissed_at: nullable(Timestamp()),
        },
        { title: 'AlertDismissal' },
      ),
    ),
    escalated_by: nullable(Principal),
    escalated_at: nullable(Timestamp()),
    investigation_id: nullable(Id()),
    restriction_id: nullable(
      Id({ description: 'While it is in force; for compliance officers, who may impose it, also before and after.' }),
    ),
    is_restricted: Type.Boolean({ description: 'true: only people on the access list of its restriction see it.' }),
    is_erased: Type.Boolean({
      description: 'true: whom it names was erased, and its texts with them. An open one can be dismissed.',
    }),
    created_at: Timestamp(),
    created_by: Principal,
    updated_at: Timestamp(),
    revision: Revision,
  },
  { title: 'Alert' },
)
export const AlertPage = pageOf(Alert)
export const AlertParams = closed({ alert_id: Id() })
export const AlertQuery = closed({
  ...pageQuery,
  state: Type.Optional(oneOf([...alertStates, 'open'], { description: 'open: new, claimed or snoozed.' })),
  priority: Type.Optional(PriorityName),
  source: Type.Optional(Source),
  subject_id: Type.Optional(Id()),
  queue_key: Type.Optional(Slug()),
  assignee: Type.Optional(Id({ description: 'Id of a person.' })),
  dismissal: Type.Optional(
    oneOf(['proposed', 'waiting_for_me'], {
      description:
        'proposed: a second person has to confirm. waiting_for_me: of these, what somebody else has proposed.',
    }),
  ),
  sort: Type.Optional(
    oneOf(['newest', 'urgent'], {
      default: 'newest',
      description:
        'urgent: open alerts, highest priority first, newest first among equals. Clocks and snoozing do not change the order.',
    }),
  ),
})

export const AlertRequest = closed({
  source: Type.String({
    ...Source,
    description: 'A name of your own. rule, matrix and contract are reserved for the service itself (422).',
  }),
  dedup_key: DedupKey,
  title: titleText(300, {
    description: 'What happened, in one sentence.',
    examples: ['Name resembles a listed party'],
  }),
  priority: PriorityName,
  subject_id: Type.Optional(nullable(Id())),
  facts: Type.Optional(
    listOf(closed({ name: FactName, value: text(500) }), 50, {
      description:
        'What would make it another match, each name once. After a dismissal only other facts, or a higher priority, open an alert.',
    }),
  ),
  explanation: Type.Optional(closed(explanationMembers)),
  reference: Type.Optional(
    nullable(text(300, { description: 'Your name for this report.', examples: ['payment:93'] })),
  ),
  restriction_id: Type.Optional(
    nullable(
      Id({ description: 'A restriction that you may see. The alert then joins others of this restriction only.' }),
    ),
  ),
})
export const RaisedAlert = closed(
  {
    outcome: oneOf(['opened', 'joined', 'counted', 'suppressed'], {
      description:
        'opened: a new alert. joined: one more occurrence of an open one. counted: it was closed with the same facts, at this ' +
        'priority or a higher one. ' +
        'suppressed: counted on a suppression.',
    }),
    alert_id: nullable(Id()),
    suppression_id: nullable(Id()),
    occurrences: Count,
    previous_alert_id: nullable(Id()),
    changes: nullable(Type.Array(FactChange, { description: 'null for callers who may not read alerts.' })),
  },
  { title: 'RaisedAlert' },
)

export const AlertPatch = closed({
  priority: PriorityName,
  note: Type.Optional(nullable(Note)),
  expected_revision: ExpectedRevision,
})
export const ClaimRequest = closed({
  queue_key: Type.Optional(nullable(Slug({ description: 'Only alerts of this queue.' }))),
})
export const Claim = closed({ alert: nullable(Alert) }, { title: 'AlertClaim' })
export const AssignRequest = closed({
  user_id: Id({ description: 'Who works on it from now on. The person must be able to see it.' }),
  note: Type.Optional(nullable(Note)),
  expected_revision: ExpectedRevision,
})
export const ReleaseRequest = closed({ note: Type.Optional(nullable(Note)), expected_revision: ExpectedRevision })
export const WakeRequest = closed({ note: Type.Optional(nullable(Note)), expected_revision: ExpectedRevision })
export const SnoozeRequest = closed({
  until: Timestamp({ description: 'Opens again then, or earlier when its facts change.' }),
  note: Type.Optional(nullable(Note)),
  expected_revision: ExpectedRevision,
})
export const DismissRequest = closed({
  reason_code: ReasonCode,
  note: Type.Optional(nullable(Note)),
  expected_revision: ExpectedRevision,
})
export const DecideDismissalRequest = closed({
  note: Type.Optional(nullable(Note)),
  expected_revision: ExpectedRevision,
})
export const EscalateRequest = closed({
  note: Note,
  playbook_key: Type.Optional(
    nullable(Slug({ description: 'By which playbook; what the list investigation-triggers says when absent.' })),
  ),
  expected_revision: ExpectedRevision,
})

export const CommentRequest = closed({ text: reasonText(4000) })
export const Comment = closed(
  { comment_id: Id(), alert_id: Id(), text: text(4000), created_at: Timestamp(), created_by: Principal },
  { title: 'AlertComment' },
)
const HistoryEntry = closed(
  {
    entry: text(40, { description: 'The number of the change, or the id of a comment.' }),
    event: text(40),
    state: nullable(oneOf(alertStates)),
    changes: Type.Array(
      closed({
        member: text(40),
        before: nullable(Type.String({ maxLength: 300 })),
        after: nullable(Type.String({ maxLength: 300 })),
      }),
    ),
    note: nullable(text(4000)),
    recorded_at: Timestamp(),
    recorded_by: Principal,
  },
  { title: 'AlertHistoryEntry' },
)
export const HistoryPage = pageOf(HistoryEntry)
export const HistoryQuery = closed(pageQuery)

const Occurrence = closed(
  {
    occurrence_id: Id(),
    outcome: oneOf(['opened', 'joined', 'counted']),
    fingerprint: text(64),
    reference: nullable(text(300)),
    priority: nullable(oneOf(priorities, { description: 'As it was reported; null: reported before it was stored.' })),
    seen_at: Timestamp(),
    reported_by: Principal,
  },
  { title: 'AlertOccurrence' },
)
export const OccurrencePage = pageOf(Occurrence)

export const MAX_BULK = 2000
export const BulkRequest = closed({
  alert_ids: Type.Array(Id(), { minItems: 1, maxItems: MAX_BULK, uniqueItems: true }),
  action: oneOf(['assign', 'release', 'snooze', 'dismiss', 'confirm_dismissal', 'escalate', 'prioritise']),
  user_id: Type.Optional(Id({ description: 'For assign.' })),
  until: Type.Optional(Timestamp({ description: 'For snooze.' })),
  reason_code: Type.Optional(ReasonCode),
  priority: Type.Optional(PriorityName),
  note: Type.Optional(nullable(Note)),
  dry_run: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Only say for each alert which rule would be broken. At most 200 alerts.',
    }),
  ),
})
const BulkItem = closed(
  {
    alert_id: Id(),
    done: Type.Boolean(),
    state: nullable(oneOf(alertStates)),
    code: nullable(text(60, { description: 'The problem that prevented it.' })),
    detail: nullable(text(1000, { description: 'The rule that it breaks.' })),
  },
  { title: 'AlertBulkItem' },
)
export const BulkResult = closed(
  {
    job_id: nullable(
      Id({
        description:
          'Above 200 alerts a job does it; its result has, of each refused alert, `position` in alert_ids (from 1), `code` and `detail`.',
      }),
    ),
    done: Count,
    refused: Count,
    items: Type.Array(BulkItem),
  },
  { title: 'AlertBulkResult' },
)
