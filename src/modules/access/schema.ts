/** Wire contract of users, roles and API keys. */
import { roles } from '#kernel/auth/roles.ts'
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
  Revision,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'

const RoleList = listOf(oneOf(roles), roles.length, { uniqueItems: true })
const Email = text(254, {
  pattern: '^[^\\u0000-\\u0020@]+@[^\\u0000-\\u0020@]+$',
  minLength: 3,
  examples: ['ada@example.com'],
})
const Locale = text(35, { pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$', examples: ['en-GB'] })

/** Codes only: a text could tell about somebody's health. */
const AwayReason = oneOf(['leave', 'training', 'travel', 'other'])

export const User = closed(
  {
    user_id: Id(),
    issuer: text(500),
    subject: text(255),
    email: nullable(text(254)),
    name: text(200),
    team: nullable(text(100)),
    locale: nullable(text(35)),
    roles: RoleList,
    origin: oneOf(['built_in', 'external'], {
      description: 'external: roles come from the issuer and are only shown here.',
    }),
    state: oneOf(['invited', 'active', 'inactive']),
    is_mlro: Type.Boolean({ description: 'The designated MLRO sees every restriction that does not exclude them.' }),
    away_from: nullable(Timestamp()),
    away_until: nullable(Timestamp()),
    away_reason: nullable(AwayReason),
    conflicts: listOf(text(300), 20, {
      description: 'Roles of this person that conflict with the segregation of duties.',
    }),
    last_seen_at: nullable(Timestamp()),
    created_at: Timestamp(),
    created_by: text(200),
    updated_at: Timestamp(),
    revision: Revision,
  },
  { title: 'User' },
)
export const UserName = closed({ user_id: Id(), name: text(200) }, { title: 'UserName' })
export const ApiKeyName = closed({ key_id: Id(), name: text(200) }, { title: 'ApiKeyName' })
export const UserPage = pageOf(User)
export const UserParams = closed({ user_id: Id() })
export const UserQuery = closed({
  ...pageQuery,
  state: Type.Optional(oneOf(['invited', 'active', 'inactive'])),
  role: Type.Optional(oneOf(roles)),
})
export const UserInvitation = closed({
  name: text(200),
  email: Email,
  team: Type.Optional(nullable(text(100))),
  locale: Type.Optional(nullable(Locale)),
  roles: RoleList,
})
export const UserChange = closed(
  {
    name: Type.Optional(text(200)),
    team: Type.Optional(nullable(text(100))),
    locale: Type.Optional(nullable(Locale)),
    expected_revision: ExpectedRevision,
  },
  { minProperties: 1 },
)
export const RolesChange = closed({ roles: RoleList, expected_revision: ExpectedRevision })
export const AvailabilityChange = closed({
  away_from: nullable(Timestamp()),
  away_until: nullable(Timestamp()),
  away_reason: Type.Optional(nullable(AwayReason)),
  expected_revision: ExpectedRevision,
})
export const Availability = closed(
  {
    user_id: Id(),
    away_from: nullable(Timestamp()),
    away_until: nullable(Timestamp()),
    away_reason: nullable(AwayReason),
    is_away: Type.Boolean({ description: 'Now. Nobody who is away is assigned work.' }),
  },
  { title: 'Availability' },
)

export const RoleCatalogue = closed(
  {
    items: listOf(
      closed({
        role: oneOf(roles),
        description: text(300),
        operations: listOf(text(100), 1000, { description: 'operationIds this role may call.' }),
      }),
      20,
    ),
    conflicts: listOf(closed({ roles: listOf(oneOf(roles), 2), reason: text(300) }), 20),
  },
  { title: 'RoleCatalogue' },
)

export const ApiKey = closed(
  {
    key_id: Id(),
    name: text(200),
    roles: RoleList,
    state: oneOf(['active', 'revoked']),
    expires_at: nullable(Timestamp()),
    last_used_at: nullable(Timestamp()),
    previous_valid_until: nullable(
      Timestamp({ description: 'Until then the secret before the last rotation still works.' }),
    ),
    created_at: Timestamp(),
    created_by: text(200),
    revoked_at: nullable(Timestamp()),
    revision: Revision,
  },
  { title: 'ApiKey' },
)
export const ApiKeyPage = pageOf(ApiKey)
export const ApiKeyParams = closed({ key_id: Id() })
export const ApiKeyQuery = closed({ ...pageQuery, state: Type.Optional(oneOf(['active', 'revoked'])) })
export const NewApiKey = closed({
  name: text(200),
  roles: listOf(oneOf(roles), roles.length, { uniqueItems: true, minItems: 1 }),
  expires_in_days: Type.Optional(integer(1, 730, { description: 'Without it the key is valid until it is revoked.' })),
})
export const ApiKeyWithSecret = closed(
  {
    key: ApiKey,
    secret: text(200, { description: 'Shown once. Exchange it at POST /api/auth/token.' }),
  },
  { title: 'ApiKeyWithSecret' },
)
export const KeyRotation = closed({
  overlap_minutes: integer(0, 10_080, { description: 'How long the old secret keeps working.' }),
})

export const UsageQuery = closed({ from_on: Type.Optional(CalendarDate()), until_on: Type.Optional(CalendarDate()) })
export const ApiKeyUsage = closed(
  {
    key_id: Id(),
    items: listOf(
      closed({ used_on: CalendarDate(), operation: text(100), status: integer(100, 599), calls: Count }),
      1000,
    ),
  },
  { title: 'ApiKeyUsage' },
)
