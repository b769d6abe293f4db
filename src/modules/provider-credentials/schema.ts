/** Wire contract of provider credentials. Secret values only ever come in. */
import {
  closed,
  DefinitionFamily,
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
} from '#kernel/schema.ts'

export const environments = ['live', 'test'] as const
export type Environment = (typeof environments)[number]
export const Environment = (options: Record<string, unknown> = {}) => oneOf(environments, options)

const KEY_PATTERN = '^(mcp/)?[a-z0-9][a-z0-9_-]{0,99}$'
/** Whose credential it is. */
const CredentialKey = (options: Record<string, unknown> = {}) =>
  Type.String({
    pattern: KEY_PATTERN,
    maxLength: 100,
    description: 'The key of the provider, or mcp/ and the key of a tool server.',
    ...options,
  })

const VersionNumber = integer(1, 1_000_000)
const MemberName = text(60, { pattern: '^[a-z][a-z0-9_]*$', examples: ['api_key'] })

export const MAX_MEMBERS = 20
export const MAX_SECRET_LENGTH = 16_384

export const CredentialVersion = closed(
  {
    version: VersionNumber,
    state: oneOf(['staged', 'active', 'retired', 'destroyed'], {
      description: 'A staged version is stored and not used yet; a retired one may still be used until usable_until.',
    }),
    members: listOf(MemberName, MAX_MEMBERS, {
      description: 'Names of the members that are set; values are never shown.',
    }),
    fingerprint: text(8, {
      description: 'Keyed hash of the values: equal within the tenant where the values are equal.',
      examples: ['9f2a1b2c'],
    }),
    set_at: Timestamp(),
    set_by: text(200),
    expires_at: nullable(Timestamp({ description: 'When the provider ends it, as the provider stated it.' })),
    activated_at: nullable(Timestamp()),
    usable_until: nullable(Timestamp({ description: 'Of a retired version: the end of its overlap.' })),
    last_verified_at: nullable(Timestamp()),
    rejected_at: nullable(Timestamp({ description: 'When the provider refused it.' })),
    last_used_at: nullable(Timestamp()),
    destroyed_at: nullable(Timestamp()),
  },
  { title: 'CredentialVersion' },
)

export const gapReasons = ['absent', 'disabled', 'staged_only', 'incomplete', 'expired', 'rejected'] as const
export type GapReason = (typeof gapReasons)[number]

export const ProviderCredential = closed(
  {
    credential_id: Id(),
    provider_key: CredentialKey({ examples: ['company-registry'] }),
    label: text(100, { examples: ['Main account'] }),
    environment: Environment(),
    state: oneOf(['enabled', 'disabled', 'destroyed']),
    gap: nullable(
      oneOf(gapReasons, { description: 'Why a call would answer 424 with this credential; null: it can be used.' }),
    ),
    active_version: nullable(VersionNumber),
    active_verified_at: nullable(
      Timestamp({ description: 'When the provider last accepted the active version in a verification; null: never.' }),
    ),
    staged_version: nullable(VersionNumber),
    created_at: Timestamp(),
    created_by: text(200),
    updated_at: Timestamp(),
    revision: Revision,
  },
  { title: 'ProviderCredential' },
)
export const ProviderCredentialPage = pageOf(ProviderCredential)
export const CredentialParams = closed({ credential_id: Id() })
export const CredentialVersionParams = closed({
  credential_id: Id(),
  version: Type.String({ pattern: '^[1-9][0-9]{0,6}$', maxLength: 7, examples: ['1'] }),
})
export const CredentialQuery = closed({
  ...pageQuery,
  provider_key: Type.Optional(CredentialKey()),
  environment: Type.Optional(Environment()),
  state: Type.Optional(oneOf(['enabled', 'disabled', 'destroyed'])),
})
export const NewProviderCredential = closed({
  provider_key: CredentialKey({ examples: ['company-registry'] }),
  label: text(100, { description: 'What people call it.', examples: ['Main account'] }),
  environment: Type.Optional(
    Environment({ description: 'Whether it belongs to the live or the test system of the provider; live by default.' }),
  ),
})
export const NewCredentialVersion = closed({
  members: Type.Unsafe<Record<string, string>>({
    type: 'object',
    minProperties: 1,
    maxProperties: MAX_MEMBERS,
    propertyNames: { pattern: '^[a-z][a-z0-9_]*$', maxLength: 60 },
    additionalProperties: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_SECRET_LENGTH,
      pattern: '^[^\\u0000]*$',
      writeOnly: true,
    },
    description: 'The values by name, as the manifest of the provider declares them.',
    examples: [{ api_key: 'as the provider issued it' }],
  }),
  expires_at: Type.Optional(nullable(Timestamp({ description: 'When the provider ends it; null: never.' }))),
})
export const CredentialVersionList = closed({ items: listOf(CredentialVersion, 10_000) })
export const CredentialActivation = closed({
  overlap_s: Type.Optional(
    integer(0, 604_800, {
      default: 0,
      description: 'How long the version before stays usable where the provider rejects this one; at most seven days.',
    }),
  ),
  reason: reasonText(1000),
  expected_revision: ExpectedRevision,
})
export const CredentialReason = closed({ reason: reasonText(1000), expected_revision: ExpectedRevision })
export const DestroyQuery = closed({ reason: reasonText(1000) })

export const CredentialAccess = closed(
  {
    access_id: Id(),
    version: VersionNumber,
    purpose: oneOf(['call', 'token', 'verify', 'list_tools']),
    call_id: nullable(Id()),
    restriction_id: nullable(
      Id({ description: 'Of the call, while it is in force: only people with access to it see this use.' }),
    ),
    accessed_at: Timestamp(),
    accessed_by: text(200),
  },
  { title: 'CredentialAccess' },
)
export const CredentialAccessPage = pageOf(CredentialAccess)
export const AccessQuery = closed({ ...pageQuery })

export const CredentialGap = closed(
  {
    provider_key: CredentialKey({ description: 'The provider, or mcp/ and the key of a tool server.' }),
    credential_key: CredentialKey({
      description: 'What to store the credential under: the provider, or the tool server that it uses.',
    }),
    environment: Environment(),
    reason: oneOf(gapReasons),
    credential_id: nullable(Id()),
    label: nullable(text(100)),
    members: listOf(MemberName, MAX_MEMBERS, { description: 'The members that the provider declares.' }),
    capabilities: listOf(text(100), 200, { description: 'Capabilities of the provider that cannot be called.' }),
    blocked_since: Timestamp({
      description:
        'Since when calls would answer 424: the instant at which the credential was disabled, expired or was rejected; otherwise ' +
        'at which the version of the provider came into force.',
    }),
  },
  { title: 'CredentialGap' },
)
const BlockedDefinition = closed(
  {
    kind: DefinitionFamily,
    key: Slug(),
    version: Type.Integer({ minimum: 1 }),
    title: text(200),
    is_required: Type.Boolean({
      description:
        'False: what needs the provider is left out, and the result says so. True: its operations answer 424.',
    }),
    alternatives: listOf(Slug(), 1000, { description: 'Other providers that can be asked now instead.' }),
  },
  { title: 'BlockedDefinition' },
)
export const CredentialGaps = closed({
  items: listOf(
    closed(
      {
        ...CredentialGap.properties,
        blocks: listOf(BlockedDefinition, 1000, {
          description: 'Matrices, rules and playbooks in force that ask this provider.',
        }),
      },
      { title: 'BlockingGap' },
    ),
    1000,
  ),
  operations: listOf(text(100), 200, {
    description: 'Operations that answer 424 where they use one of these providers.',
  }),
})
