/**
 * Decides whether a bearer token is genuine and whom it identifies. It knows nothing of requests, revocations or tenant states,
 * and reports only a code for a refused token: a reason would help an attacker.
 */
import { createHash, hash } from 'node:crypto'
import { compactVerify } from 'jose'
import { type Cache, declareCache } from '../cache/caches.ts'
import type { Egress } from '../egress/egress.ts'
import { fail } from '../problem.ts'
import { parseStrictJson } from '../strict-json.ts'
import { isUuid, SYSTEM_TENANT } from '../uuid.ts'
import { createKeySet, type KeySet, type KeySource, type TokenAlgorithm } from './key-sets.ts'

export interface TrustedIssuer {
  /** Compared with `iss` character by character. */
  readonly issuer: string
  readonly audience: string
  readonly algorithms: readonly TokenAlgorithm[]
  /** The tenants it may issue tokens for; `*` is for the built-in issuer only. */
  readonly tenants: readonly string[] | '*'
  readonly tenant_claim: string
  readonly roles_claim: string
  /** From the role names of the token to ours, unmapped ones are dropped; null takes them as they are (built-in only). */
  readonly role_map: Readonly<Record<string, readonly string[]>> | null
  readonly keys: KeySource
  readonly built_in: boolean
}

export type Principal = `user:${string}` | `key:${string}`

export interface VerifiedToken {
  readonly issuer: string
  readonly subject: string
  readonly token_id: string
  readonly tenant_id: string
  readonly roles: readonly string[]
  readonly issued_at_s: number
  readonly expires_at_s: number
  readonly principal: Principal
  readonly display_name: string | null
  readonly built_in: boolean
  /** Its audience is the address of the tool protocol (RFC 8707), not the API. */
  readonly is_for_tools: boolean
}

export interface TokenVerifierOptions {
  readonly issuers: readonly TrustedIssuer[]
  /** The address of the tool protocol, an audience of every issuer; null where the server does not know its own address. */
  readonly tool_resource?: string | null
  readonly knownRoles: ReadonlySet<string>
  readonly now?: () => number
  readonly cache: Cache<CachedToken>
  /** Needed for issuers whose keys are fetched. */
  readonly egress?: Pick<Egress, 'request'>
  readonly on_key_failure?: (issuer: string, error: unknown) => void
}

interface Validity {
  readonly not_before_s: number
  readonly expires_at_s: number
}

/** A token that was verified before. */
export interface CachedToken {
  readonly verified: VerifiedToken
  readonly validity: Validity
  readonly verified_at_ms: number
}

/** Keyed by the hash of the token: a token itself is never stored. */
export const verifiedTokens = declareCache<CachedToken>({
  name: 'verified_tokens',
  summary: 'Tokens whose signature was verified within the last minute.',
  bound: { max_entries: 10_000 },
})

export interface TokenVerifier {
  verify(token: string): Promise<VerifiedToken>
  /** The result without waiting, if this token was verified within the last minute. */
  getCached(token: string): CachedToken | undefined
  /** Whether a cached result may still be used. */
  isStillValid(known: CachedToken): boolean
}

export const MAX_TOKEN_BYTES = 8192
export const MAX_LIFETIME_S = 24 * 60 * 60

const SKEW_S = 30
const MAX_ROLES = 32
const MAX_TEXT_LENGTH = 255
/** Also how long a token can outlive the withdrawal of its key. */
const CACHE_TTL_MS = 60_000

const COMPACT_JWS = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/
/** Each of these changes how the rest must be read; a verifier that ignored it would read something else. */
const UNSUPPORTED_HEADERS = ['crit', 'b64', 'cty', 'zip', 'enc']
const TOKEN_TYPES = ['jwt', 'at+jwt']

interface IssuerKeys {
  readonly issuer: TrustedIssuer
  readonly keys: KeySet
}

type JsonObject = ReadonlyMap<string, unknown>

export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { knownRoles, tool_resource = null, now = Date.now } = options
  const authorities = new Map<unknown, IssuerKeys>()
  for (const issuer of options.issuers) {
    checkConfiguration(issuer, knownRoles)
    if (authorities.has(issuer.issuer)) throw new Error(`token issuer ${issuer.issuer} is configured twice`)
    authorities.set(issuer.issuer, { issuer, keys: createIssuerKeySet(issuer, options) })
  }
  const { cache } = options

  function isStillValid({ validity, verified_at_ms }: CachedToken): boolean {
    const now_ms = now()
    const age_ms = now_ms - verified_at_ms
    // A negative age means that the clock was set back: the age of the entry is unknown.
    return age_ms >= 0 && age_ms < CACHE_TTL_MS && compareWithNow(validity, now_ms / 1000) === 'current'
  }

  function getCached(token: string): CachedToken | undefined {
    if (token.length > MAX_TOKEN_BYTES) return undefined
    const known = cache.get(hashToken(token))
    return known && isStillValid(known) ? known : undefined
  }

  async function verify(token: string): Promise<VerifiedToken> {
    const known = getCached(token)
    if (known) return known.verified
    const { header, payload } = readCompactJws(token)
    const authority = authorities.get(payload.get('iss')) ?? fail('token_invalid')
    await checkSignature(token, header, authority)
    const { verified, validity } = readClaims(payload, authority.issuer, { knownRoles, tool_resource })
    const now_ms = now()
    const when = compareWithNow(validity, now_ms / 1000)
    if (when !== 'current') fail(when === 'past' ? 'token_expired' : 'token_invalid')
    cache.set(hashToken(token), { verified, validity, verified_at_ms: now_ms })
    return verified
  }

  return { verify, getCached, isStillValid }
}

/** Never the system tenant, whose rows every tenant can read. */
export function isTenantId(value: unknown): value is string {
  return typeof value === 'string' && isUuid(value) && value !== SYSTEM_TENANT
}

/** Text that a log, a column and a terminal can hold: no control characters, no lone surrogates. */
export function isPlainText(value: unknown): value is string {
  return (
    typeof value === 'string' && value.length > 0 && value.length <= MAX_TEXT_LENGTH && !/[\p{Cc}\p{Cs}]/u.test(value)
  )
}

function createIssuerKeySet(issuer: TrustedIssuer, options: TokenVerifierOptions): KeySet {
  const { now, egress, on_key_failure } = options
  return createKeySet(issuer.keys, {
    ...(now && { now }),
    ...(egress && { egress }),
    ...(on_key_failure && { on_failure: (error: unknown) => on_key_failure(issuer.issuer, error) }),
  })
}

/** A mistake in the configuration could admit everybody, so it stops the process. */
function checkConfiguration(trusted: TrustedIssuer, knownRoles: ReadonlySet<string>): void {
  const { issuer, audience, algorithms, tenants, role_map, keys, built_in } = trusted
  const assertConfig = (holds: boolean, rule: string) => {
    if (!holds) throw new Error(`token issuer ${issuer}: ${rule}`)
  }
  assertConfig(issuer !== '' && audience !== '', 'issuer and audience must not be empty')
  assertConfig(algorithms.length > 0, 'at least one algorithm is needed')
  assertConfig(
    algorithms.every((alg) => ['RS256', 'ES256', 'EdDSA'].includes(alg)),
    'only RS256, ES256 and EdDSA are trusted',
  )
  assertConfig(tenants !== '*' || built_in, 'only the built-in issuer may speak for every tenant')
  assertConfig(
    tenants === '*' || tenants.every(isTenantId),
    'a tenant must be a lower-case UUID and not the system tenant',
  )
  assertConfig(role_map !== null || built_in, 'an external issuer needs a map of roles')
  const unknown = Object.values(role_map ?? {})
    .flat()
    .filter((role) => !knownRoles.has(role))
  assertConfig(unknown.length === 0, `its map names unknown roles: ${unknown.join(', ')}`)
  assertConfig(keys.kind !== 'oidc' || keys.issuer_url === issuer, 'discovery must use the issuer itself')
}

function hashToken(token: string): string {
  return hash('sha256', token, 'base64')
}

function readCompactJws(token: string): { header: JsonObject; payload: JsonObject } {
  const segments = token.length <= MAX_TOKEN_BYTES ? COMPACT_JWS.exec(token) : null
  if (!segments) fail('token_invalid')
  const [, header = '', payload = '', signature = ''] = segments
  decodeBase64url(signature)
  return { header: readObject(decodeBase64url(header)), payload: readObject(decodeBase64url(payload)) }
}

/** Encoding again detects left-over bits: a signature must have one spelling, or a token has many hashes. */
function decodeBase64url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : fail('token_invalid')
}

/** A map, since an object inherits names that are not in the token. */
function readObject(bytes: Buffer): JsonObject {
  let value: unknown
  try {
    value = parseStrictJson(bytes)
  } catch {
    // The message of the parser is meant for request bodies, not for tokens.
    fail('token_invalid')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail('token_invalid')
  return new Map(Object.entries(value))
}

async function checkSignature(token: string, header: JsonObject, { issuer, keys }: IssuerKeys): Promise<void> {
  const alg = issuer.algorithms.find((allowed) => allowed === header.get('alg')) ?? fail('token_invalid')
  const kid = header.get('kid')
  const typ = header.get('typ')
  const is_readable =
    (kid === undefined || isPlainText(kid)) &&
    (typ === undefined || (typeof typ === 'string' && TOKEN_TYPES.includes(typ.toLowerCase()))) &&
    !UNSUPPORTED_HEADERS.some((name) => header.has(name))
  if (!is_readable) fail('token_invalid')
  const key = (await keys.find(alg, kid)) ?? fail('token_invalid')
  await compactVerify(token, key, { algorithms: [alg] }).catch(() => fail('token_invalid'))
}

/** All claims of a signed token; its time is checked elsewhere. */
function readClaims(
  payload: JsonObject,
  issuer: TrustedIssuer,
  { knownRoles, tool_resource }: { knownRoles: ReadonlySet<string>; tool_resource: string | null },
): { verified: VerifiedToken; validity: Validity } {
  const subject = requirePlainText(payload.get('sub'))
  const token_id = requirePlainText(payload.get('jti'))
  const issued_at_s = requireSeconds(payload.get('iat'))
  const expires_at_s = requireSeconds(payload.get('exp'))
  const nbf = payload.get('nbf')
  const name = payload.get('name')
  const lifetime_s = expires_at_s - issued_at_s
  if (lifetime_s <= 0 || lifetime_s > MAX_LIFETIME_S) fail('token_invalid')
  const is_for_api = matchesAudience(issuer.audience, payload.get('aud'))
  const is_for_tools = tool_resource !== null && matchesAudience(tool_resource, payload.get('aud'))
  if (!is_for_api && !is_for_tools) fail('token_invalid')
  const verified: VerifiedToken = Object.freeze({
    issuer: issuer.issuer,
    subject,
    token_id,
    tenant_id: readTenant(payload.get(issuer.tenant_claim), issuer),
    roles: Object.freeze(readRoles(payload.get(issuer.roles_claim), issuer, knownRoles)),
    issued_at_s,
    expires_at_s,
    principal: issuer.built_in ? toBuiltInPrincipal(subject) : toExternalPrincipal(issuer.issuer, subject),
    // A name is only displayed: an unusable one is left out.
    display_name: isPlainText(name) ? name : null,
    built_in: issuer.built_in,
    is_for_tools: !is_for_api,
  })
  const not_before_s = Math.max(issued_at_s, nbf === undefined ? 0 : requireSeconds(nbf))
  return { verified, validity: { not_before_s, expires_at_s } }
}

function compareWithNow({ not_before_s, expires_at_s }: Validity, now_s: number): 'future' | 'current' | 'past' {
  if (now_s < not_before_s - SKEW_S) return 'future'
  return now_s < expires_at_s + SKEW_S ? 'current' : 'past'
}

function requirePlainText(value: unknown): string {
  return isPlainText(value) ? value : fail('token_invalid')
}

function requireSeconds(value: unknown): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : fail('token_invalid')
}

function matchesAudience(audience: string, aud: unknown): boolean {
  if (!Array.isArray(aud)) return aud === audience
  return aud.includes(audience) && aud.every((entry) => typeof entry === 'string')
}

function readTenant(claim: unknown, { tenants }: TrustedIssuer): string {
  if (claim === undefined || claim === null) fail('tenant_context_missing')
  if (!isTenantId(claim)) fail('token_invalid')
  return tenants === '*' || tenants.includes(claim) ? claim : fail('token_invalid')
}

function readRoles(claim: unknown, { role_map }: TrustedIssuer, knownRoles: ReadonlySet<string>): string[] {
  if (!Array.isArray(claim) || claim.length > MAX_ROLES) fail('token_invalid')
  const names = claim.map(requirePlainText)
  const ours = role_map ? names.flatMap((name) => (Object.hasOwn(role_map, name) ? (role_map[name] ?? []) : [])) : names
  return ours.every((role) => knownRoles.has(role)) ? [...new Set(ours)] : fail('token_invalid')
}

function toBuiltInPrincipal(subject: string): Principal {
  const [, kind, id] = /^(user|key):(.+)$/.exec(subject) ?? []
  return id !== undefined && isUuid(id) ? `${kind === 'key' ? 'key' : 'user'}:${id}` : fail('token_invalid')
}

/** The same person always gets the same id: a version 8 UUID of the issuer and its subject. */
function toExternalPrincipal(issuer: string, subject: string): Principal {
  const bytes = createHash('sha256').update(`${issuer}\0${subject}`).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const id = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return `user:${id}`
}
