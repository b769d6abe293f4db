/** Wire contract of provider calls, their state and the use of providers. */
import {
  CalendarDate,
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
  RestrictionInForce,
  Revision,
  reasonText,
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { credentialStore } from '#modules/provider-credentials/index.ts'

const { environments, providerModes } = credentialStore

const CapabilityName = text(100, { pattern: '^[a-z][a-z0-9_.-]*$', examples: ['company.lookup'] })
export const ProviderParams = closed({ provider_key: Slug({ examples: ['company-registry'] }) })
export const CallParams = closed({ call_id: Id() })

export const NewCall = closed({
  capability: CapabilityName,
  input: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    description: 'As the capability declares it.',
    examples: [{ number: '00000006' }],
  }),
  subject_id: Type.Optional(
    nullable(Id({ description: 'Whom it is about: what comes back is encrypted under its key.' })),
  ),
})

export const callStates = [
  'waiting',
  'sent',
  'answered',
  'quarantined',
  'failed',
  'refused',
  'outcome_unknown',
] as const

const CallAttempt = closed(
  {
    attempt_no: integer(1, 1000),
    page_no: integer(1, 100, { description: 'Which page of the answer it asked for; 1 where it is not in pages.' }),
    token: Id({ description: 'Made for this attempt: its answer is stored by it.' }),
    intended_at: Timestamp(),
    sent_at: nullable(Timestamp({ description: 'Null: nothing was sent.' })),
    deadline_at: nullable(Timestamp()),
    outcome: nullable(oneOf(['answered', 'failed', 'refused', 'not_sent', 'unknown'])),
    fault: nullable(text(100, { description: 'A fixed word, never a text of the provider.' })),
    http_status: nullable(integer(100, 599)),
    duration_ms: nullable(Count),
    ended_at: nullable(Timestamp()),
    cost: nullable(text(40, { examples: ['0.40 EUR'] })),
    credential_id: nullable(Id()),
    credential_version: nullable(integer(1, 1_000_000)),
  },
  { title: 'ProviderAttempt' },
)

const callMembers = {
  call_id: Id(),
  provider_key: Slug(),
  provider_version: integer(1, 1_000_000_000),
  capability: CapabilityName,
  contract_key: nullable(Slug()),
  state: oneOf(callStates),
  promise: oneOf(['free', 'keyed', 'once'], {
    description: 'free: may be repeated; keyed: repeated under one idempotency key; once: sent at most once.',
  }),
  mode: oneOf(providerModes),
  environment: oneOf(environments),
  subject_id: nullable(Id()),
  job_id: nullable(Id()),
  repeats_call_id: nullable(Id()),
  attempts: Count,
  fault: nullable(text(100)),
  answered_at: nullable(Timestamp()),
  admission_id: nullable(Id()),
  restriction_id: RestrictionInForce(),
  created_at: Timestamp(),
  created_by: text(200),
}
export const ProviderCallItem = closed(callMembers, { title: 'ProviderCallItem' })
export const ProviderCallPage = pageOf(ProviderCallItem)
export const ProviderCall = closed(
  {
    ...callMembers,
    request: nullable(
      closed({
        method: text(20, { description: 'Of a tool: tools/call.' }),
        url: Type.String({
          description: 'As the manifest writes it: values of the input are not shown. Of a tool: its server and name.',
        }),
        headers: listOf(Type.String(), 100, { description: 'Names only.' }),
      }),
    ),
    attempts_made: listOf(CallAttempt, 1000),
    answer: nullable(
      closed({
        source: oneOf(['provider', 'builtin', 'recorded', 'fixture', 'person']),
        result: oneOf(['found', 'not_found']),
        http_status: nullable(integer(100, 599)),
        payload_id: Id(),
        media_type: text(200),
        byte_size: Count,
        answered_at: Timestamp(),
        answered_by: text(200),
        reason: nullable(text(1000)),
        made_by: nullable(
          Type.Unsafe<Readonly<Record<string, unknown>>>({
            type: 'object',
            description: 'The plugin with its version and hashes, or the tool with its pin, that made the payload.',
          }),
        ),
      }),
    ),
    repeated_by_call_id: nullable(Id()),
  },
  { title: 'ProviderCall' },
)
export const ProviderCallRequest = closed(
  {
    call_id: Id(),
    capability: CapabilityName,
    subject_id: nullable(Id()),
    input: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', description: 'As the caller gave it.' }),
    request: nullable(
      closed(
        {
          method: Type.String({ description: 'Of a tool: tools/call.' }),
          url: Type.String({ description: 'With the values of the input. Of a tool: its server and name.' }),
          headers: Type.Record(Type.String(), Type.String(), { description: 'By name.' }),
          body: nullable(Type.String()),
        },
        {
          description:
            'As it was prepared, with placeholders such as `{{credential.api_key}}`; null where nothing is sent, or a plugin makes it.',
        },
      ),
    ),
  },
  { title: 'ProviderCallRequest' },
)
export const CallQuery = closed({
  ...pageQuery,
  provider_key: Type.Optional(Slug()),
  capability: Type.Optional(CapabilityName),
  subject_id: Type.Optional(Id()),
  state: Type.Optional(oneOf(callStates)),
  from: Type.Optional(Timestamp({ description: 'Made at this instant or later.' })),
  to: Type.Optional(Timestamp({ description: 'Made before this instant.' })),
})

export const CallRepeat = closed({ reason: reasonText(1000) })
export const ManualAnswer = closed({
  result: oneOf(['found', 'not_found']),
  media_type: text(200, { examples: ['application/json'] }),
  content: text(1_000_000, { description: 'What the provider answered, as text.' }),
  is_unusable: Type.Optional(
    Type.Boolean({
      description: 'true: the provider really answered so, although the source contract refuses it.',
    }),
  ),
  reason: reasonText(1000, { description: 'How it is known.' }),
})

export const ModeChange = closed({
  mode: oneOf(providerModes, {
    description: 'live calls the provider; recorded repeats its stored answers; fixtures answers from the manifest.',
  }),
  environment: Type.Optional(oneOf(environments, { description: 'Whose credential live calls use; live by default.' })),
  reason: reasonText(1000),
  expected_revision: ExpectedRevision,
})
export const ProviderModeView = closed(
  {
    provider_key: Slug(),
    mode: oneOf(providerModes),
    environment: oneOf(environments),
    forced: Type.Boolean({ description: 'The operator serves all calls of this installation from recorded answers.' }),
    reason: nullable(text(1000)),
    updated_at: nullable(Timestamp()),
    updated_by: nullable(text(200)),
    revision: Revision,
  },
  { title: 'ProviderMode' },
)

export const ProviderStatus = closed(
  {
    provider_key: Slug(),
    version: integer(1, 1_000_000_000),
    kind: oneOf(['http', 'builtin', 'mcp', 'plugin']),
    mode: oneOf(providerModes),
    environment: oneOf(environments),
    credential_members: listOf(
      closed({ name: text(60), secret: Type.Boolean(), max_length: integer(1, 1_000_000) }),
      20,
      { description: 'What its credential holds, as the manifest in force declares it; empty: none is needed.' },
    ),
    gap: nullable(text(40, { description: 'Why its credential cannot be used; null: it can, or none is needed.' })),
    refused: listOf(
      closed({
        capability: CapabilityName,
        code: text(100),
        message: text(1000),
        tool: nullable(closed({ server_key: text(96), tool: text(128) })),
      }),
      100,
      {
        description:
          'Capabilities whose calls are answered with 503, and why: the plugin cannot run, or `tool` is not what was pinned.',
      },
    ),
    breaker: oneOf(['closed', 'open', 'half_open']),
    open_until: nullable(Timestamp()),
    in_flight: Count,
    rate_available: nullable(Type.Number({ description: 'Requests that may be sent now; null: no limit.' })),
    calls_today: Count,
    calls_per_day: nullable(Count),
    spend_this_month: text(40, { examples: ['12.40'] }),
    spend_per_month: nullable(text(40)),
    currency: nullable(text(3, { description: 'Of the costs and the budget; null: the manifest has neither.' })),
    last_call_at: nullable(Timestamp({ description: 'When it was asked last, in any mode.' })),
    last_call_mode: nullable(
      oneOf(providerModes, { description: 'Of that call. Only `live` asked the provider; the others are tests.' }),
    ),
    last_test_call_at: nullable(
      Timestamp({ description: 'The newest recorded or fixture call, among the newest 100 calls.' }),
    ),
    last_fault: nullable(text(100, { description: 'Of calls that were sent to the provider.' })),
    last_fault_at: nullable(Timestamp()),
    last_answer_at: nullable(Timestamp({ description: 'When the provider answered last.' })),
  },
  { title: 'ProviderStatus' },
)

export const UsageQuery = closed({
  from: Type.Optional(CalendarDate({ description: 'First day, in UTC; 30 days ago by default.' })),
  to: Type.Optional(CalendarDate({ description: 'Last day, in UTC; today by default.' })),
})
export const ProviderUsage = closed(
  {
    provider_key: Slug(),
    from: CalendarDate(),
    to: CalendarDate(),
    items: listOf(
      closed({
        capability: CapabilityName,
        sent: Count,
        answered: Count,
        failed: Count,
        refused: Count,
        unknown: Count,
        cost: nullable(text(40, { examples: ['12.40 EUR'] })),
      }),
      1000,
    ),
    days: listOf(
      closed({ day: CalendarDate(), sent: Count, answered: Count, failed: Count, refused: Count, unknown: Count }),
      4000,
      { description: 'In UTC, oldest first; days on which nothing was sent are left out.' },
    ),
  },
  { title: 'ProviderUsage' },
)

export const TestReply = closed(
  {
    outcome: oneOf(['answered', 'quarantined', 'refused', 'failed', 'waiting']),
    fault: nullable(text(100)),
    call_id: nullable(Id({ description: 'Null where the tools of a tool server were listed.' })),
    result: nullable(oneOf(['found', 'not_found'])),
    admission_id: nullable(Id()),
    duration_ms: nullable(Count),
  },
  { title: 'ProviderTest' },
)
export const TestRequest = closed({
  capability: Type.Optional(CapabilityName),
  input: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
})
export const VerifyRequest = closed({
  version: Type.Optional(integer(1, 1_000_000, { description: 'A staged version; the active one by default.' })),
})
