/** Wire contract of tokens: exchange, content and revocation. */
import { roles } from '#kernel/auth/roles.ts'
import { problems } from '#kernel/problem.ts'
import { closed, Id, integer, listOf, nullable, oneOf, reasonText, Timestamp, Type, text } from '#kernel/schema.ts'

export const TokenRequest = closed({
  api_key: text(200, { description: 'As shown once when the key was made: pk_…' }),
})

export const TokenReply = closed(
  {
    access_token: text(8192),
    token_type: oneOf(['Bearer']),
    expires_in: integer(1, 86400, { description: 'Seconds.' }),
    token_id: text(255),
    roles: listOf(oneOf(roles), 10),
  },
  { title: 'Token' },
)

export const DemoPeople = closed(
  {
    items: listOf(
      closed({
        tenant_id: Id(),
        slug: text(100),
        name: text(200),
        people: listOf(closed({ user_id: Id(), name: text(255), roles: listOf(oneOf(roles), 10) }), 100),
      }),
      20,
    ),
  },
  { title: 'DemoPeople' },
)

export const DemoSessionRequest = closed({ user_id: Id({ description: 'One of the people of the demo tenants.' }) })

export const RevokeRequest = closed({
  token_id: text(255, { description: 'The jti claim of the token, of any issuer.' }),
  expires_at: Type.Optional(Timestamp({ description: 'When the token expires; 24 hours from now if absent.' })),
  reason: Type.Optional(reasonText(500)),
})
export const RevokedToken = closed(
  {
    token_id: text(255),
    expires_at: Timestamp(),
    reason: nullable(text(500)),
    revoked_at: Timestamp(),
    revoked_by: text(200),
  },
  { title: 'RevokedToken' },
)

export const Me = closed(
  {
    tenant: closed({ tenant_id: Id(), slug: text(100), name: text(200) }),
    principal: text(200),
    name: nullable(text(255)),
    roles: listOf(oneOf(roles), 10),
    issuer: text(500),
    token_id: text(255),
    issued_at: Timestamp(),
    expires_at: Timestamp(),
    operations: listOf(text(100), 1000, { description: 'operationIds this token may call.' }),
  },
  { title: 'Me' },
)

export const Jwks = closed(
  { keys: Type.Array(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })) },
  { title: 'Jwks' },
)

export const PermissionQuery = closed({
  method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: text(500, { description: 'With or without /api, with real identifiers or {placeholders}.' }),
})
export const Permission = closed(
  {
    allowed: Type.Boolean(),
    operation: nullable(text(100)),
    required_roles: listOf(oneOf(roles), 10),
    held_roles: listOf(oneOf(roles), 10),
    governed: Type.Boolean({ description: 'The approval policy may turn the change into a change request.' }),
    code: nullable(oneOf(Object.keys(problems))),
    reason: text(500),
  },
  { title: 'Permission' },
)

export const SignInProviders = closed(
  {
    items: listOf(
      closed({
        issuer: text(500),
        client_id: text(255),
        authorization_endpoint: text(1000),
        token_endpoint: text(1000),
        scopes: listOf(text(100), 20),
      }),
      100,
    ),
    has_demo_people: Type.Boolean({ description: 'Whether GET /api/auth/demo-people exists on this server.' }),
  },
  { title: 'SignInProviders' },
)
