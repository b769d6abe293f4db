/** Wire contract of the audit record. */
import {
  Count,
  closed,
  Family,
  Id,
  listOf,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  RestrictionInForce,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'

const Seal = closed({ seq: Count, prev_hash: text(64), hash: text(64) })

const AnyFamily = Family({ description: 'Kind of definition, such as list, matrix or rule.', examples: ['matrix'] })

export const AuditEventView = closed(
  {
    event_id: Id(),
    recorded_at: Timestamp(),
    actor: text(300),
    operation: text(200),
    object_type: text(100),
    object_id: text(500),
    request_id: nullable(text(100)),
    detail: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Keyed hashes of before and after; for configuration also the members that differ.',
    }),
    outcome: oneOf(['done', 'proposed', 'executed'], {
      description:
        'proposed: nothing was changed yet, the change request `cr_id` waits for approval. executed: the change request was approved, ' +
        'and the change made. done: made without approval.',
    }),
    cr_id: nullable(Id({ description: 'The change request that was made or executed.' })),
    approved_by: listOf(text(300), 5, { description: 'Who approved what was executed, in order.' }),
    restriction_id: RestrictionInForce(),
    seal: nullable(Seal),
  },
  { title: 'AuditEvent', description: '`seal` is null until the event is chained, about a second after its commit.' },
)
export const AuditEventPage = pageOf(AuditEventView)
export const AuditEventParams = closed({ event_id: Id() })
export const AuditQuery = closed({
  ...pageQuery,
  actor: Type.Optional(text(300)),
  operation: Type.Optional(text(200)),
  object_type: Type.Optional(text(100)),
  object_id: Type.Optional(text(500)),
  from_at: Type.Optional(Timestamp()),
  until_at: Type.Optional(Timestamp()),
})
/** Most actors and object types that the answer names; a search can name any other. */
export const MAX_FILTER_VALUES = 1000
export const AuditFilters = closed(
  {
    actors: listOf(
      closed({ actor: text(300), name: nullable(text(200, { description: 'Of a person; null for keys.' })) }),
      MAX_FILTER_VALUES,
    ),
    operations: listOf(closed({ operation: text(200), summary: text(300) }), 1000),
    object_types: listOf(text(100), MAX_FILTER_VALUES),
  },
  { title: 'AuditFilters' },
)
export const AuditObjectParams = closed({ object_type: text(100), object_id: text(500) })
export const AuditObjectQuery = closed(pageQuery)

const Statement = closed({
  activation_id: Id(),
  kind: text(50),
  effective_from: Timestamp(),
  recorded_at: Timestamp(),
  retroactive: Type.Boolean({ description: 'It took effect before it was recorded.' }),
  reason: text(2000),
  actor: text(300, { description: 'Who put it in force: the last approver where four eyes were needed.' }),
  cr_id: nullable(Id()),
  proposed_by: nullable(text(300)),
  approvals: listOf(closed({ approved_by: text(300), approved_at: Timestamp() }), 5),
})
const VersionAt = nullable(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

export const AsOfItem = closed(
  {
    family: AnyFamily,
    key: text(100),
    title: text(200),
    via: nullable(oneOf(['tenant-own', 'tenant-pin', 'shared'])),
    version: VersionAt,
    label: nullable(text(100)),
    content_hash: nullable(text(64)),
    activation: nullable(Statement),
    overlay: nullable(closed({ version: VersionAt, content_hash: text(64), activation: Statement })),
    known_now: nullable(
      closed(
        { version: VersionAt, overlay_version: VersionAt },
        { description: 'What was in force at that instant as known now.' },
      ),
    ),
  },
  { title: 'AsOfItem', description: '`known_now` is null when no later statement changes the answer.' },
)
export const AsOfQuery = closed({
  ...pageQuery,
  at: Timestamp({ description: 'The requested instant.' }),
  known_at: Type.Optional(
    Timestamp({ description: 'As known at this instant; when absent, at the requested instant.' }),
  ),
  family: Type.Optional(AnyFamily),
})
export const AsOfPage = closed(
  {
    at: Timestamp(),
    known_at: Timestamp(),
    settled: Type.Boolean({
      description: 'false: so recent that a transaction in progress may still change the answer.',
    }),
    record: nullable(
      closed(
        { seq: Count, hash: text(64), event_id: Id(), recorded_at: Timestamp() },
        { description: 'The last event in the chain that was recorded by `known_at`.' },
      ),
    ),
    items: Type.Array(AsOfItem),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  },
  { title: 'AsOfPage' },
)

export const CheckpointView = closed(
  {
    tenant_id: Id(),
    seq: Count,
    hash: text(64),
    created_at: Timestamp(),
    key_id: text(64),
    signature: text(200),
  },
  { title: 'AuditCheckpoint' },
)
const EarlierKey = closed(
  { key_id: text(64), public_key: text(100), succession: text(200) },
  { description: 'It signed before a rotation. `succession` is its own signature under the key that followed.' },
)
export const CheckpointPage = closed(
  {
    items: Type.Array(CheckpointView),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    public_key: text(100, { description: 'Raw Ed25519 public key, base64url. Keep it with the checkpoints.' }),
    key_id: text(64),
    earlier_keys: listOf(EarlierKey, 100),
  },
  { title: 'AuditCheckpoints' },
)
export const CheckpointQuery = closed(pageQuery)

const FaultView = closed({
  seq: nullable(Count),
  event_id: nullable(Id()),
  fault: oneOf([
    'link_missing',
    'link_altered',
    'event_missing',
    'event_altered',
    'event_not_authentic',
    'event_planted',
    'chain_truncated',
    'head_altered',
    'checkpoint_altered',
    'checkpoint_contradicted',
  ]),
  detail: text(500),
})
export const VerificationReport = closed(
  {
    intact: Type.Boolean(),
    events: Count,
    head_seq: Count,
    head_hash: text(64),
    checkpoints: Count,
    unsealed: Count,
    faults: listOf(FaultView, 1000),
    faults_total: Count,
  },
  { title: 'AuditVerificationReport' },
)

const run = {
  job_id: Id(),
  state: oneOf(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
  created_at: Timestamp(),
  created_by: text(300),
}
export const VerificationView = closed(
  { verification_id: Id(), ...run, report: nullable(VerificationReport) },
  { title: 'AuditVerification' },
)
export const VerificationPage = pageOf(
  closed(
    {
      verification_id: Id(),
      ...run,
      intact: nullable(Type.Boolean()),
      events: nullable(Count),
      faults_total: nullable(Count),
    },
    { title: 'AuditVerificationSummary', description: 'The last three are null until it has ended.' },
  ),
)
export const VerificationQuery = closed(pageQuery)
export const VerificationParams = closed({ verification_id: Id() })
export const VerificationRequest = closed({})

export const ExportRequest = closed({
  from_at: Type.Optional(
    Timestamp({ description: 'The whole chain is walked; only events from here on carry their content.' }),
  ),
  until_at: Type.Optional(Timestamp()),
})
export const ExportView = closed(
  {
    export_id: Id(),
    ...run,
    events: nullable(Count),
    size_bytes: nullable(Count),
    sha256: nullable(text(64)),
    content: nullable(text(200, { description: 'Path of the download.' })),
  },
  { title: 'AuditExport' },
)
export const ExportParams = closed({ export_id: Id() })
