/** Everything wrong with a manifest, with the place of each fault. What depends on lists and contracts is checked by the module. */
import { isIPv6 } from 'node:net'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { hasOwnMeaning, isAllowedHeader } from '#kernel/egress/headers.ts'
import type { Static, TSchema } from '#kernel/schema.ts'
import { describeSchemaFault, omitImplied } from '#kernel/schema-messages.ts'
import {
  checkArguments,
  checkIdempotencyHeader,
  checkLiteralPath,
  checkRequest,
  listAuthHeaders,
} from './check-request.ts'
import { checkUrl } from './check-url.ts'
import { checkUse } from './check-use.ts'
import { listAuthMembers, listCredentialMembers } from './credential-members.ts'
import { appendStep, type Finding, FindingList } from './findings.ts'
import {
  type Auth,
  type AuthKind,
  authSchemas,
  BuiltinManifest,
  CredentialShape,
  DEFAULT_OK,
  type HttpCapability,
  HttpManifest,
  McpManifest,
  PluginProviderManifest,
  toCapabilityPromise,
} from './manifest.ts'
import { parseTemplate } from './templates.ts'

const MAX_MANIFEST_BYTES = 256 * 1024
const MAX_FINDINGS = 100

const schemas = {
  http: HttpManifest,
  builtin: BuiltinManifest,
  mcp: McpManifest,
  plugin: PluginProviderManifest,
} as const
type ManifestKind = keyof typeof schemas

export function checkManifest(text: unknown): Finding[] {
  const findings = new FindingList()
  const given = typeof text === 'object' && text !== null ? (text as { kind?: unknown }).kind : undefined
  const kind = given ?? 'http'
  if (typeof kind !== 'string' || !Object.hasOwn(schemas, kind)) {
    const names = Object.keys(schemas).map((each) => `"${each}"`)
    findings.error('kind_unknown', '/kind', `The kind of a provider is one of ${names.join(', ')}.`)
    return findings.list
  }
  if (Buffer.byteLength(JSON.stringify(text) ?? '') > MAX_MANIFEST_BYTES) {
    findings.error('manifest_too_large', '', `A manifest has at most ${MAX_MANIFEST_BYTES / 1024} KiB.`)
    return findings.list
  }
  checkSchema(schemas[kind as ManifestKind], text, '', findings)
  if (findings.list.length > 0) return findings.list.slice(0, MAX_FINDINGS)
  // Its schema was checked a line before: each check gets the manifest of its kind.
  checks[kind as ManifestKind](text as never, findings)
  return findings.list.slice(0, MAX_FINDINGS)
}

const validators = new Map<TSchema, ValidateFunction>()
/** The schemas are our own, and the meta-schema takes longer to compile than any of them. */
const AJV_OPTIONS = { allErrors: true, strict: false, meta: false, validateSchema: false }

function checkSchema(schema: TSchema, value: unknown, pointer: string, findings: FindingList): void {
  const validate = validators.get(schema) ?? new Ajv2020(AJV_OPTIONS).compile(schema)
  validators.set(schema, validate)
  if (validate(value)) return
  for (const error of omitImplied(validate.errors ?? [])) {
    if (error.keyword === 'anyOf') continue
    const [at, message] = describeSchemaFault(error)
    findings.error('manifest_invalid', `${pointer}${at}`, message)
  }
}

const checks: { readonly [K in ManifestKind]: (manifest: Static<(typeof schemas)[K]>, findings: FindingList) => void } =
  {
    http: checkHttp,
    builtin: checkBuiltin,
    mcp: checkTools,
    plugin: checkPluginProvider,
  }

function checkBuiltin({ capabilities }: BuiltinManifest, findings: FindingList): void {
  const names = Object.keys(capabilities)
  if (names.length === 0)
    findings.error('capabilities_missing', '/capabilities', 'A provider has at least one capability.')
  for (const name of names.filter((each) => each !== 'registry.lookup')) {
    findings.error(
      'capability_unknown',
      appendStep('/capabilities', name),
      'The one capability that is built in is registry.lookup.',
    )
  }
}

function checkHttp(manifest: HttpManifest, findings: FindingList): void {
  const { capabilities, auth } = manifest
  checkHosts(manifest, findings)
  checkMembers(manifest, findings)
  if (auth) checkAuth(auth, manifest, findings)
  for (const [name, capability] of Object.entries(capabilities)) {
    const pointer = appendStep('/capabilities', name)
    checkRequest(capability, { manifest, pointer, findings })
    checkCapability(capability, pointer, findings)
  }
  checkUse(manifest, findings)
}

function checkPluginProvider(manifest: PluginProviderManifest, findings: FindingList): void {
  checkHosts(manifest, findings)
  checkMembers(manifest, findings)
  if (manifest.auth) checkAuth(manifest.auth, manifest, findings)
  for (const [name, capability] of Object.entries(manifest.capabilities)) {
    const pointer = appendStep('/capabilities', name)
    checkArguments(capability, pointer, findings)
    checkResponse(capability, pointer, findings)
    checkIdempotencyHeader(capability.idempotency_header, new Set(listAuthHeaders(manifest)), { pointer, findings })
  }
  checkUse(manifest, findings)
}

function checkTools(manifest: McpManifest, findings: FindingList): void {
  for (const [name, capability] of Object.entries(manifest.capabilities)) {
    checkArguments(capability, appendStep('/capabilities', name), findings)
  }
  checkUse(manifest, findings)
}

/** A host is written as URL parsers write it, so that it can be compared. */
function checkHosts({ hosts }: Pick<HttpManifest, 'hosts'>, findings: FindingList): void {
  hosts.forEach((host, index) => {
    const url = `https://${isIPv6(host) ? `[${host}]` : host}`
    const isPlain = URL.canParse(url) && [host, `[${host}]`].includes(new URL(url).hostname) && !host.endsWith('.')
    if (!isPlain)
      findings.error('host_invalid', `/hosts/${index}`, 'A host is a name such as api.example.com, without a port.')
  })
}

function checkMembers(manifest: Pick<HttpManifest, 'auth' | 'credential'>, findings: FindingList): void {
  const declared = listCredentialMembers(manifest).map(({ name }) => name)
  declared.forEach((name, index) => {
    if (declared.indexOf(name) !== index) {
      findings.error('member_repeated', `/credential/members/${index}/name`, `The member ${name} is declared twice.`)
    }
  })
  for (const { name } of listAuthMembers(isKnownAuth(manifest.auth) ? manifest.auth : undefined)) {
    if (!declared.includes(name)) {
      findings.error('member_missing', '/credential/members', `The authentication uses the member ${name}: declare it.`)
    }
  }
}

/** The authentication of a tool server, and the members of its credential. */
export function checkAuthentication(
  settings: Pick<HttpManifest, 'hosts' | 'auth' | 'credential'>,
  findings: FindingList,
): void {
  const before = findings.list.length
  if (settings.credential) checkSchema(CredentialShape, settings.credential, '/credential', findings)
  if (findings.list.length > before) return
  checkMembers(settings, findings)
  if (settings.auth) checkAuth(settings.auth, settings, findings)
}

const isKnownAuth = (auth: Auth | undefined): auth is Auth =>
  auth !== undefined &&
  Object.hasOwn(authSchemas, auth.kind) &&
  (auth.kind !== 'header' || typeof auth.value === 'string')

function checkAuth(auth: Auth, manifest: Pick<HttpManifest, 'hosts'>, findings: FindingList): void {
  if (!Object.hasOwn(authSchemas, auth.kind)) {
    findings.error('auth_unknown', '/auth/kind', `This must be one of ${Object.keys(authSchemas).join(', ')}.`)
    return
  }
  const before = findings.list.length
  checkSchema(authSchemas[auth.kind as AuthKind], auth, '/auth', findings)
  if (findings.list.length > before) return
  if (auth.kind === 'oauth2_client_credentials') {
    checkUrl(auth.token_url, { manifest, pointer: '/auth/token_url', findings })
    checkLiteralPath(auth.token_url, '/auth/token_url', findings)
    if (/[{}]/.test(auth.token_url)) {
      findings.error('template_invalid', '/auth/token_url', 'The URL of the token endpoint has no placeholders.')
    }
  }
  if (auth.kind !== 'header') return
  if (!isAllowedHeader(auth.name) || (hasOwnMeaning(auth.name) && auth.name.toLowerCase() !== 'authorization'))
    findings.error('header_not_allowed', '/auth/name', 'A request cannot set this header.')
  const template = parseTemplate(auth.value)
  if (!template)
    findings.error('template_invalid', '/auth/value', 'Braces only enclose placeholders such as {credential.api_key}.')
  const secrets = template?.filter((part) => typeof part !== 'string') ?? []
  if (template && !secrets.some(({ source }) => source === 'credential')) {
    findings.error('credential_missing', '/auth/value', 'The value uses no credential, such as {credential.api_key}.')
  }
  if (secrets.some(({ source }) => source === 'input')) {
    findings.error('input_not_allowed', '/auth/value', 'An input has no part in the authentication.')
  }
}

/** Which statuses and media types are answers. */
function checkResponse(
  { response = {} }: Pick<HttpCapability, 'response'>,
  pointer: string,
  findings: FindingList,
): void {
  const { ok = DEFAULT_OK, not_found = [], media_types = [] } = response
  not_found.forEach((status, index) => {
    const at = `${pointer}/response/not_found/${index}`
    if (ok.includes(status)) findings.error('status_ambiguous', at, `The status ${status} is "ok" too.`)
    if ([401, 403, 429].includes(status)) {
      findings.error(
        'status_ambiguous',
        at,
        `The status ${status} says that the request was refused, not that nothing was found.`,
      )
    }
  })
  media_types.forEach((type, index) => {
    if (!/^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(type)) {
      findings.error(
        'media_type_invalid',
        `${pointer}/response/media_types/${index}`,
        'Write it such as application/json, in lower case, without parameters.',
      )
    }
  })
}

function checkCapability(capability: HttpCapability, pointer: string, findings: FindingList): void {
  const { response = {}, pages, retry, idempotency_header, request, safe } = capability
  const { media_types = [] } = response
  checkResponse(capability, pointer, findings)
  if (pages && !/^(\/([^~/]|~[01])*)+$/.test(pages.next)) {
    findings.error(
      'pointer_invalid',
      `${pointer}/pages/next`,
      'This must be a JSON pointer into the response, such as /links/next.',
    )
  }
  if (pages) {
    media_types.forEach((type, index) => {
      if (type === 'application/json' || type.endsWith('+json')) return
      findings.error(
        'pages_need_json',
        `${pointer}/response/media_types/${index}`,
        'Pages are joined to one JSON document: list JSON media types only, or leave out "pages".',
      )
    })
  }
  const promise = toCapabilityPromise(capability)
  if (promise === 'once' && request.method === 'GET') {
    findings.warn(
      'safe_not_declared',
      `${pointer}/safe`,
      'A GET request that is not declared "safe": true is never repeated, and a person decides when its outcome is unknown.',
    )
  }
  if (promise === 'once' && retry?.on?.some((cause) => cause !== 'connect')) {
    findings.warn(
      'retry_without_effect',
      `${pointer}/retry/on`,
      'A request that may be sent only once is repeated only when nothing was sent. Declare "safe" or an "idempotency_header".',
    )
  }
  if (safe && idempotency_header) {
    findings.warn('idempotency_not_needed', `${pointer}/idempotency_header`, 'A safe request needs no idempotency key.')
  }
}
