/** Wire contract of tenant-wide settings and of the isolation proof. */
import {
  Count,
  closed,
  ExpectedRevision,
  Id,
  integer,
  listOf,
  nullable,
  oneOf,
  Revision,
  Slug,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'

const Country = text(2, { pattern: '^[A-Z]{2}$', minLength: 2, description: 'ISO 3166-1 alpha-2.', examples: ['DE'] })
const Licence = closed({
  authority: text(200, { description: 'Who granted it.' }),
  kind: text(100),
  reference: Type.Optional(text(100)),
})
const TimeZone = text(64, { pattern: '^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$', examples: ['Europe/Berlin'] })

export const Tenant = closed(
  {
    tenant_id: Id(),
    slug: Slug(),
    name: text(200),
    state: oneOf(['active', 'suspended']),
    demo: Type.Boolean(),
    jurisdictions: listOf(Country, 100),
    licences: listOf(Licence, 100),
    time_zone: text(64),
    residency: nullable(text(100)),
    created_at: Timestamp(),
    updated_at: Timestamp(),
    revision: Revision,
  },
  { title: 'Tenant' },
)
export const TenantChange = closed(
  {
    name: Type.Optional(text(200)),
    jurisdictions: Type.Optional(listOf(Country, 100, { uniqueItems: true })),
    licences: Type.Optional(listOf(Licence, 100)),
    time_zone: Type.Optional(TimeZone),
    residency: Type.Optional(nullable(text(100))),
    expected_revision: ExpectedRevision,
  },
  { minProperties: 1 },
)

const ApprovalRule = closed({
  action: Slug({ description: 'A governed action; GET lists those that exist.' }),
  approvers: integer(0, 5, { description: 'Number of approvers besides the author; 0 for none.' }),
  role: oneOf(['compliance_officer', 'tenant_admin'], {
    description: 'The role an approver must hold: one that may approve.',
  }),
  require_impact: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Approving needs an impact run that still holds; for actions that put a version in force. Versions of source contracts and ' +
        'providers rate no subject and need no run.',
    }),
  ),
})
export const ApprovalPolicy = closed(
  {
    rules: listOf(ApprovalRule, 100),
    actions: listOf(text(100), 200, { description: 'Every action that can be governed.' }),
    updated_at: Timestamp(),
    updated_by: text(200),
    revision: Revision,
  },
  { title: 'ApprovalPolicy' },
)
export const ApprovalPolicyChange = closed({ rules: listOf(ApprovalRule, 100), expected_revision: ExpectedRevision })

const RetentionClass = closed({
  record_class: Slug({
    description: 'One of jobs, import-rejects, provider-payloads, events and audit.',
    examples: ['jobs'],
  }),
  keep_days: nullable(integer(1, 36_500, { description: 'null: kept without limit.' })),
  basis: text(500, { description: 'Why so long: the rule or the decision behind it.' }),
})
export const RetentionPolicy = closed(
  { classes: listOf(RetentionClass, 100), updated_at: Timestamp(), updated_by: text(200), revision: Revision },
  { title: 'RetentionPolicy' },
)
export const RetentionPolicyChange = closed({
  classes: listOf(RetentionClass, 100),
  expected_revision: ExpectedRevision,
})

const Probe = closed({
  probe: text(50),
  attempt: text(300),
  expected: text(100),
  observed: text(100),
  passed: Type.Boolean(),
})
export const IsolationProof = closed(
  {
    passed: Type.Boolean(),
    checked_at: Timestamp(),
    tenant_id: Id(),
    canary_tenant_id: Id(),
    database_role: closed({
      name: text(63),
      superuser: Type.Boolean(),
      bypasses_row_security: Type.Boolean(),
      owns_tables: Type.Boolean(),
    }),
    probes: Count,
    failed: Count,
    tables: listOf(closed({ table: text(63), kind: text(20), probes: listOf(Probe, 20) }), 500),
    policies_sha256: text(64, { description: 'Digest of every row-security policy, to compare over time.' }),
  },
  { title: 'IsolationProof' },
)
