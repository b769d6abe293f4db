/**
 * The manifest of a provider: what can be asked, how a request is made from the input, and what the response means. It is data without
 * expressions. check-manifest.ts checks what a schema cannot say.
 */
import { closed, integer, listOf, nullable, oneOf, type Static, Type, text } from '#kernel/schema.ts'

export const MAX_RESPONSE_BYTES = 8 * 1024 * 1024
export const MAX_MEMBER_LENGTH = 16_384
const NAME_PATTERN = '^[a-z][a-z0-9_]{0,59}$'
const CAPABILITY_PATTERN = '^[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*$'
const HOST_PATTERN = '^[a-z0-9.:_\\[\\]-]+$'
const AMOUNT_PATTERN = '^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,4})?$'

const byName = <S extends Parameters<typeof Type.Record>[1]>(pattern: string, value: S, max: number) =>
  Type.Record(Type.String({ pattern, maxLength: 100 }), value, { additionalProperties: false, maxProperties: max })

const Amount = closed({
  amount: Type.String({ pattern: AMOUNT_PATTERN, description: 'Decimal number as text, such as 0.40.' }),
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
})

const Scalar = Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] })

export const InputProperty = closed({
  type: oneOf(['string', 'integer', 'number', 'boolean']),
  title: Type.Optional(text(200)),
  description: Type.Optional(text(1000)),
  enum: Type.Optional(listOf(Scalar, 500, { minItems: 1, uniqueItems: true })),
  minLength: Type.Optional(integer(0, 10_000)),
  maxLength: Type.Optional(integer(1, 10_000)),
  minimum: Type.Optional(Type.Number()),
  maximum: Type.Optional(Type.Number()),
  format: Type.Optional(oneOf(['date'])),
})
export type InputProperty = Static<typeof InputProperty>

/** JSON Schema of the input, as far as a request can be made from it: a closed object of scalar members. */
export const InputSchema = closed({
  type: oneOf(['object']),
  title: Type.Optional(text(200)),
  description: Type.Optional(text(1000)),
  properties: byName(NAME_PATTERN, InputProperty, 50),
  required: Type.Optional(listOf(text(60), 50, { uniqueItems: true })),
  additionalProperties: Type.Unsafe<false>({ const: false }),
})
export type InputSchema = Static<typeof InputSchema>

const RequestBody = closed({
  json: Type.Optional(Type.Unsafe<unknown>({ description: 'Texts in it may be templates.' })),
  form: Type.Optional(
    Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: 2000 }), { maxProperties: 50 }),
  ),
})

export const RequestTemplate = closed({
  method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  url: text(2000, { description: 'Without a query; {input.x} may stand in the path.' }),
  query: Type.Optional(
    Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: 2000 }), { maxProperties: 50 }),
  ),
  headers: Type.Optional(
    Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: 4000 }), { maxProperties: 50 }),
  ),
  body: Type.Optional(nullable(RequestBody)),
})
export type RequestTemplate = Static<typeof RequestTemplate>

const ResponseRules = closed({
  ok: Type.Optional(listOf(integer(200, 299), 20, { minItems: 1, uniqueItems: true })),
  not_found: Type.Optional(listOf(integer(200, 499), 20, { uniqueItems: true })),
  media_types: Type.Optional(listOf(text(100), 10, { minItems: 1, uniqueItems: true })),
  max_bytes: Type.Optional(integer(1, MAX_RESPONSE_BYTES)),
})

export const retryFaults = ['timeout', 'reset', 'connect'] as const

const RetryRules = closed({
  on: Type.Optional(
    listOf(Type.Unsafe<number | (typeof retryFaults)[number]>({ anyOf: [integer(400, 599), oneOf(retryFaults)] }), 50, {
      uniqueItems: true,
    }),
  ),
  attempts: Type.Optional(integer(1, 10)),
  base_ms: Type.Optional(integer(1, 60_000)),
  max_ms: Type.Optional(integer(1, 600_000)),
  honour_retry_after_s: Type.Optional(integer(0, 3600)),
})

const Cost = closed({
  amount: Type.String({ pattern: AMOUNT_PATTERN }),
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  per: Type.Optional(
    oneOf(['answered', 'sent'], {
      description: 'Whether the provider charges every request, as by default, or only those that it answers.',
    }),
  ),
})

export const HttpCapability = closed({
  title: Type.Optional(text(200)),
  contract_key: text(100),
  input: InputSchema,
  safe: Type.Optional(
    Type.Boolean({ description: 'The request changes nothing at the provider, so it may be repeated.' }),
  ),
  idempotency_header: Type.Optional(nullable(text(100))),
  request: RequestTemplate,
  response: Type.Optional(ResponseRules),
  pages: Type.Optional(nullable(closed({ next: text(500), max: integer(1, 100) }))),
  retry: Type.Optional(RetryRules),
  timeout_ms: Type.Optional(integer(100, 120_000)),
  cost: Type.Optional(nullable(Cost)),
})
export type HttpCapability = Static<typeof HttpCapability>

export const BuiltinCapability = closed({
  title: Type.Optional(text(200)),
  contract_key: Type.Optional(nullable(text(100))),
  list_key: text(100),
})
export type BuiltinCapability = Static<typeof BuiltinCapability>

/** By kind: one schema for each gives a finding that names the member, not "no alternative fits". */
export const authSchemas = {
  none: closed({ kind: oneOf(['none']) }),
  header: closed({ kind: oneOf(['header']), name: text(100), value: text(1000) }),
  basic: closed({
    kind: oneOf(['basic']),
    username: Type.Optional(text(60)),
    password: Type.Optional(text(60)),
  }),
  oauth2_client_credentials: closed({
    kind: oneOf(['oauth2_client_credentials']),
    token_url: text(2000),
    scope: Type.Optional(nullable(text(1000))),
    audience: Type.Optional(nullable(text(1000))),
    client_auth: Type.Optional(oneOf(['basic', 'post'])),
  }),
  mtls: closed({
    kind: oneOf(['mtls']),
    certificate: Type.Optional(text(60)),
    private_key: Type.Optional(text(60)),
  }),
} as const
export type AuthKind = keyof typeof authSchemas
export type Auth = { [K in AuthKind]: Static<(typeof authSchemas)[K]> }[AuthKind]

export const CredentialMember = closed({
  name: Type.String({ pattern: NAME_PATTERN, maxLength: 60 }),
  title: Type.Optional(text(200)),
  secret: Type.Optional(Type.Boolean()),
  max: Type.Optional(integer(1, MAX_MEMBER_LENGTH)),
})

export const CredentialShape = closed({ members: listOf(CredentialMember, 20, { minItems: 1 }) })

const ManifestFixture = closed({
  capability: Type.Optional(text(100)),
  when: Type.Optional(Type.Record(Type.String({ maxLength: 100 }), Scalar, { maxProperties: 50 })),
  status: Type.Optional(integer(200, 599)),
  headers: Type.Optional(
    Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: 2000 }), { maxProperties: 20 }),
  ),
  body: Type.Optional(Type.Unsafe<unknown>({ description: 'Sent as JSON.' })),
  fault: Type.Optional(text(100)),
})
export type ManifestFixture = Static<typeof ManifestFixture>

/** How much it may be used, and how it is tried. */
const useMembers = {
  limits: Type.Optional(
    closed({
      per_second: Type.Optional(Type.Number({ minimum: 0.001, maximum: 1000 })),
      burst: Type.Optional(integer(1, 10_000)),
      concurrent: Type.Optional(integer(1, 1000)),
    }),
  ),
  budget: Type.Optional(
    closed({
      calls_per_day: Type.Optional(integer(1, 100_000_000)),
      spend_per_month: Type.Optional(Amount),
      on_reached: Type.Optional(oneOf(['refuse'])),
    }),
  ),
  breaker: Type.Optional(
    closed({
      failures: Type.Optional(integer(1, 1000)),
      window_s: Type.Optional(integer(1, 3600)),
      open_s: Type.Optional(integer(1, 3600)),
    }),
  ),
  test: Type.Optional(
    nullable(closed({ capability: text(100), input: Type.Record(Type.String({ maxLength: 100 }), Scalar) })),
  ),
  fixtures: Type.Optional(listOf(ManifestFixture, 200)),
}

/** Which hosts it has, and how it authenticates the tenant. */
const connectionMembers = {
  auth: Type.Optional(Type.Unsafe<Auth>({ type: 'object', required: ['kind'] })),
  credential: Type.Optional(CredentialShape),
  hosts: listOf(Type.String({ pattern: HOST_PATTERN, maxLength: 253 }), 20, { minItems: 1, uniqueItems: true }),
}

const nameMembers = {
  provider_key: Type.Optional(text(100)),
  title: text(200),
  description: Type.Optional(text(2000)),
}

export const HttpManifest = closed({
  kind: Type.Optional(oneOf(['http'])),
  ...nameMembers,
  capabilities: byName(CAPABILITY_PATTERN, HttpCapability, 50),
  ...connectionMembers,
  ...useMembers,
})
export type HttpManifest = Static<typeof HttpManifest>

export const BuiltinManifest = closed({
  kind: oneOf(['builtin']),
  ...nameMembers,
  capabilities: byName(CAPABILITY_PATTERN, BuiltinCapability, 50),
})
export type BuiltinManifest = Static<typeof BuiltinManifest>

/** A tool of a registered server. What the tool does is said by its pinned definition. */
export const McpCapability = closed({
  title: Type.Optional(text(200)),
  tool: text(128),
  contract_key: text(100),
  input: InputSchema,
  arguments: Type.Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      description: 'What the tool is given; texts in it may be templates. Without it, the input as it is.',
    }),
  ),
  safe: Type.Optional(
    Type.Boolean({
      description:
        'The call may be repeated. It counts only where the pinned tool is annotated read-only or idempotent.',
    }),
  ),
  retry: Type.Optional(RetryRules),
  timeout_ms: Type.Optional(integer(100, 120_000)),
  cost: Type.Optional(nullable(Cost)),
})
export type McpCapability = Static<typeof McpCapability>

export const McpManifest = closed({
  kind: oneOf(['mcp']),
  ...nameMembers,
  server_key: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,95}$' }),
  capabilities: byName(CAPABILITY_PATTERN, McpCapability, 50),
  ...useMembers,
})
export type McpManifest = Static<typeof McpManifest>

/** The request is made, and the response read, by a plugin; sending it is done by the service. */
export const PluginCapability = closed({
  title: Type.Optional(text(200)),
  contract_key: text(100),
  input: InputSchema,
  safe: Type.Optional(
    Type.Boolean({ description: 'The request changes nothing at the provider, so it may be repeated.' }),
  ),
  idempotency_header: Type.Optional(nullable(text(100))),
  response: Type.Optional(ResponseRules),
  retry: Type.Optional(RetryRules),
  timeout_ms: Type.Optional(integer(100, 120_000)),
  cost: Type.Optional(nullable(Cost)),
})
export type PluginCapability = Static<typeof PluginCapability>

export const PluginProviderManifest = closed({
  kind: oneOf(['plugin']),
  ...nameMembers,
  plugin_key: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,99}$' }),
  capabilities: byName(CAPABILITY_PATTERN, PluginCapability, 50),
  ...connectionMembers,
  ...useMembers,
})
export type PluginProviderManifest = Static<typeof PluginProviderManifest>

export type ProviderManifest = HttpManifest | BuiltinManifest | McpManifest | PluginProviderManifest
export type ProviderKind = 'builtin' | 'http' | 'plugin' | 'mcp'

/** Values of an input, as a caller gives them. */
export type ProviderInput = Readonly<Record<string, unknown>>

/**
 * `free`: may be repeated. `keyed`: may be repeated with the same idempotency key. `once`: never sent a second time when it may have
 * arrived.
 */
export type CapabilityPromise = 'free' | 'keyed' | 'once'

export function toCapabilityPromise(
  capability: Pick<HttpCapability, 'safe' | 'idempotency_header'>,
): CapabilityPromise {
  if (capability.safe === true) return 'free'
  return capability.idempotency_header ? 'keyed' : 'once'
}

export const DEFAULT_OK: readonly number[] = [200]
export const DEFAULT_NOT_FOUND = [404]
export const DEFAULT_MEDIA_TYPES = ['application/json']
export const DEFAULT_MAX_BYTES = 2 * 1024 * 1024
export const DEFAULT_TIMEOUT_MS = 15_000

export const getMaxBytes = ({ response }: Pick<HttpCapability, 'response'>): number =>
  response?.max_bytes ?? DEFAULT_MAX_BYTES

export const getTimeoutMs = ({ timeout_ms }: Pick<HttpCapability, 'timeout_ms'>): number =>
  timeout_ms ?? DEFAULT_TIMEOUT_MS
