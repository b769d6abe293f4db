/** Wire contract of the overview: one section for each role of the caller, each figure with the rows behind it. */
import { roles } from '#kernel/auth/roles.ts'
import { jobStates } from '#kernel/job/queries.ts'
import {
  Count,
  closed,
  DefinitionFamily,
  Id,
  integer,
  listOf,
  nullable,
  oneOf,
  RestrictionInForce,
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { MAX_COUNTED, MAX_ITEMS } from './limits.ts'

const Version = integer(1, Number.MAX_SAFE_INTEGER)
const Principal = text(300)

const Rows = closed(
  {
    operation: text(100, { description: 'operationId that lists the rows.' }),
    path: text(300),
    query: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
  },
  { title: 'RowsBehindFigure', description: 'The request that lists what was counted.' },
)
const Figure = closed(
  {
    count: integer(0, MAX_COUNTED, { description: `Counted up to ${MAX_COUNTED}.` }),
    is_capped: Type.Boolean({ description: 'There may be more.' }),
    rows: Rows,
  },
  { title: 'OverviewFigure' },
)

const items = <S extends Parameters<typeof listOf>[0]>(item: S, description: string) =>
  listOf(item, MAX_ITEMS, { description })

const ChangeInWords = closed(
  {
    cr_id: Id(),
    action: text(100),
    operation: nullable(text(100)),
    summary: text(2000, {
      description: 'The change in words, with what differs and the measured impact.',
      examples: ['OFAC SDN: version 1 → 2, 161 added, 6 changed, 14 customers would rise to high'],
    }),
    approvals: nullable(Count),
    approvers: nullable(Count),
    impact: nullable(
      oneOf(['measured', 'missing', 'not_required'], {
        description: 'missing: the policy requires an impact run before approval, and none has ended.',
      }),
    ),
    created_at: Timestamp(),
    created_by: Principal,
    restriction_id: RestrictionInForce(),
  },
  {
    title: 'ChangeInWords',
    description:
      'operation, approvals, approvers and impact are null, and the summary names the action only, where the caller may not read the ' +
      'change request in full.',
  },
)

const AnalystSection = closed(
  {
    overrides_expiring: Figure,
    next_overrides: items(
      closed({ subject_id: Id(), name: text(500), band: text(100), expires_at: Timestamp() }),
      'Overrides of active subjects that expire within 14 days, the next first.',
    ),
    batches_with_failures: items(
      closed({
        batch_id: Id(),
        family: oneOf(['matrix', 'rule']),
        definition_key: Slug(),
        failed: Count,
        items: Count,
        created_at: Timestamp(),
      }),
      'Of the last 30 days.',
    ),
    uploads_with_rejects: items(
      closed({ bulk_id: Id(), file_name: nullable(text(500)), rejected: Count, rows: Count, created_at: Timestamp() }),
      'Files of subjects of the last 30 days.',
    ),
    decisions_with_actions: items(
      closed({
        evaluation_id: Id(),
        family: oneOf(['matrix', 'rule']),
        definition_key: Slug(),
        subject_id: nullable(Id()),
        subject_name: nullable(text(500)),
        band: nullable(text(100)),
        hit: nullable(Type.Boolean()),
        required_actions: listOf(text(200), 1000),
        decided_at: Timestamp(),
      }),
      'Those among the newest 200 decisions that require an action.',
    ),
  },
  { title: 'AnalystOverview' },
)

const DueDefinition = closed(
  {
    family: DefinitionFamily,
    key: Slug(),
    title: text(200),
    origin: oneOf(['own', 'shared']),
    version: Version,
    stale_since: nullable(Timestamp({ description: 'As the list itself says it.' })),
    review_due_at: nullable(Timestamp()),
  },
  { title: 'DueDefinition' },
)

const EditorSection = closed(
  {
    drafts: items(
      closed({
        family: DefinitionFamily,
        key: Slug(),
        title: text(200),
        based_on: nullable(Version),
        updated_at: Timestamp(),
      }),
      'Drafts that the caller began or changed last.',
    ),
    imports_failed: items(
      closed({
        import_id: Id(),
        list_key: Slug(),
        state: oneOf(['rejected', 'blocked', 'failed']),
        file_name: nullable(text(500)),
        created_at: Timestamp(),
      }),
      'Imports of the last 14 days without a version, unless a later one succeeded.',
    ),
  },
  { title: 'PolicyEditorOverview' },
)

const ApprovalSection = closed(
  {
    waiting: Figure,
    inbox: items(ChangeInWords, 'Change requests the caller may approve, the oldest first.'),
    emergency_changes: Figure,
  },
  { title: 'ApprovalOverview' },
)

const AuditorSection = closed(
  {
    last_verification: nullable(
      closed({
        verification_id: Id(),
        state: oneOf(jobStates),
        intact: nullable(Type.Boolean({ description: 'null: not finished.' })),
        events: nullable(Count),
        faults_total: nullable(Count),
        created_at: Timestamp(),
      }),
    ),
    policy_changes: items(
      closed({
        activation_id: Id(),
        family: DefinitionFamily,
        key: Slug(),
        summary: text(1000),
        effective_from: Timestamp(),
        recorded_at: Timestamp(),
        reason: text(2000),
        actor: Principal,
        proposed_by: nullable(Principal),
        cr_id: nullable(Id()),
      }),
      'What was put in force, rolled back or pinned last.',
    ),
  },
  { title: 'AuditorOverview' },
)

const AdministratorSection = closed(
  {
    keys_to_check: items(
      closed({
        key_id: Id(),
        name: text(200),
        why: oneOf(['expired', 'expiring', 'unused'], {
          description: 'expiring: within 30 days. unused: for 90 days.',
        }),
        expires_at: nullable(Timestamp()),
        last_used_at: nullable(Timestamp()),
        created_at: Timestamp(),
      }),
      'API keys that were not revoked.',
    ),
    users: closed({ active: Figure, invited: Figure, inactive: Figure }),
    failed_jobs: items(
      closed({
        job_id: Id(),
        kind: text(100),
        reason: nullable(text(500, { description: 'Why it failed, as the job says it.' })),
        finished_at: Timestamp(),
        restriction_id: RestrictionInForce(),
      }),
      'Of the last 24 hours.',
    ),
  },
  { title: 'AdministratorOverview' },
)

export const Overview = closed(
  {
    roles: listOf(oneOf(roles), roles.length),
    at: Timestamp(),
    proposals: items(ChangeInWords, 'Change requests of the caller that wait for approval.'),
    definitions_due: nullable(
      items(
        DueDefinition,
        'Definitions in force that are older than their limit or to be reviewed within 14 days; for policy editors, ' +
          'compliance officers and auditors.',
      ),
    ),
    approvals: nullable(ApprovalSection),
    analyst: nullable(AnalystSection),
    policy_editor: nullable(EditorSection),
    auditor: nullable(AuditorSection),
    tenant_admin: nullable(AdministratorSection),
  },
  { title: 'Overview', description: 'A section is null where the caller does not hold its role.' },
)
