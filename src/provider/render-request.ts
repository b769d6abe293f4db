/**
 * Makes a request from a capability and its input. Each value is encoded for the place where it is inserted: it can add no path segment,
 * no query parameter, no header, and never changes the host. Credentials stay placeholders until fillCredentials.
 */
import { MAX_URL_LENGTH } from '#kernel/egress/targets.ts'
import type { Auth, HttpCapability, HttpManifest, ProviderInput } from './manifest.ts'
import { getOnlyPlaceholder, parseTemplate, type Template } from './templates.ts'

/** A secret that is inserted last: a member, the two of Basic authentication, or the access token. */
export type SecretPart =
  | { readonly credential: string }
  | { readonly basic: readonly [username: string, password: string]; readonly form_encoded: boolean }
  | { readonly access_token: true }
export type RenderedPart = string | SecretPart
export type RenderedValue = readonly RenderedPart[]

export interface RenderedRequest {
  readonly method: string
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, RenderedValue>>
  /** Fields are joined when the credentials are known. */
  readonly body: string | { readonly form: readonly (readonly [name: string, value: RenderedValue])[] } | null
  readonly client_certificate: { readonly certificate: string; readonly private_key: string } | null
}

/** A value that no encoding makes safe at its place. `name` is that of the input. */
export class InputNotRenderable extends Error {
  override readonly name = 'InputNotRenderable'
  readonly input_name: string
  constructor(input_name: string, place: string, why = '') {
    super(`The input ${input_name} cannot be used in ${place} of the request${why}.`)
    this.input_name = input_name
  }
}

export interface RenderOptions {
  /** Sent in the header that the capability names. */
  readonly idempotency_key?: string
}

export function renderRequest(
  manifest: Pick<HttpManifest, 'auth'>,
  capability: Pick<HttpCapability, 'request' | 'idempotency_header'>,
  input: ProviderInput,
  { idempotency_key }: RenderOptions = {},
): RenderedRequest {
  const { request, idempotency_header } = capability
  const headers: Record<string, RenderedValue> = {}
  for (const [name, text] of Object.entries(request.headers ?? {})) {
    const value = renderHeader(expectTemplate(text), input)
    if (value) headers[name.toLowerCase()] = value
  }
  if (idempotency_header && idempotency_key !== undefined) headers[idempotency_header.toLowerCase()] = [idempotency_key]
  const body = renderBody(request.body ?? null, input)
  if (body !== null && headers['content-type'] === undefined) headers['content-type'] = [body.type]
  Object.assign(headers, renderAuthHeader(manifest.auth))
  return {
    method: request.method,
    url: renderUrl(request, input),
    headers,
    body: body?.text ?? null,
    client_certificate: getCertificateMembers(manifest.auth),
  }
}

function renderUrl({ url, query = {} }: HttpCapability['request'], input: ProviderInput): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  const origin = start < 0 ? url : url.slice(0, start)
  const path = start < 0 ? '/' : url.slice(start)
  const segments = path.split('/').map((segment) => renderSegment(expectTemplate(segment), input))
  const parameters = Object.entries(query).flatMap(([name, text]) => {
    const value = renderText(expectTemplate(text), input, 'the query')
    return value === null ? [] : [`${encodeComponent(name)}=${encodeComponent(value)}`]
  })
  const rendered = `${origin}${segments.join('/')}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`
  if (rendered.length > MAX_URL_LENGTH) {
    const why = `: the URL would have ${rendered.length} characters, and ${MAX_URL_LENGTH} are allowed`
    throw new InputNotRenderable(findLongestInput([url, ...Object.values(query)], input), 'the URL', why)
  }
  return rendered
}

/** The name of the input that takes most of the URL. */
function findLongestInput(texts: readonly string[], input: ProviderInput): string {
  const used = texts.flatMap((text) => expectTemplate(text).flatMap((part) => (typeof part === 'string' ? [] : [part])))
  const lengths = used.map(({ name }) => ({ name, length: encodeComponent(getText(input, name) ?? '').length }))
  return lengths.toSorted((a, b) => b.length - a.length)[0]?.name ?? ''
}

/** URL parsers read `.` and `..` as steps, encoded or not; an empty segment moves those behind it. */
function renderSegment(template: Template, input: ProviderInput): string {
  const placeholders = template.filter((part) => typeof part !== 'string')
  if (placeholders.length === 0) return template.join('')
  const [first] = placeholders
  const name = first?.name ?? ''
  const plain = renderText(template, input, 'the path')
  if (plain === null || plain === '' || plain === '.' || plain === '..') throw new InputNotRenderable(name, 'the path')
  return template
    .map((part) => (typeof part === 'string' ? part : encodeComponent(getText(input, part.name) ?? '')))
    .join('')
}

/** Null where an input that is not required is absent: then the query parameter or header is left out. */
function renderText(template: Template, input: ProviderInput, place: string): string | null {
  let text = ''
  for (const part of template) {
    if (typeof part === 'string') {
      text += part
      continue
    }
    if (part.source === 'credential') throw new TypeError(`a credential is used in ${place}`)
    const value = getText(input, part.name)
    if (value === null) return null
    // Encoded, they would be harmless here and may not be at the provider.
    if (/[\p{Cc}\p{Cs}]/u.test(value)) throw new InputNotRenderable(part.name, place)
    text += value
  }
  return text
}

function renderHeader(template: Template, input: ProviderInput): RenderedValue | null {
  const parts: RenderedPart[] = []
  for (const part of template) {
    if (typeof part === 'string') parts.push(part)
    else if (part.source === 'credential') parts.push({ credential: part.name })
    else {
      const value = getText(input, part.name)
      if (value === null) return null
      if (!/^[\x20-\x7e]*$/.test(value)) throw new InputNotRenderable(part.name, 'a header')
      parts.push(value)
    }
  }
  return parts
}

type Body = { readonly type: string; readonly text: string }

function renderBody(body: HttpCapability['request']['body'] | null, input: ProviderInput): Body | null {
  if (body?.form) {
    const fields = Object.entries(body.form).flatMap(([name, text]) => {
      const value = renderText(expectTemplate(text), input, 'a form')
      return value === null ? [] : [[name, value] as const]
    })
    return { type: 'application/x-www-form-urlencoded', text: encodeForm(fields) }
  }
  if (body?.json === undefined) return null
  return { type: 'application/json', text: JSON.stringify(renderJson(body.json, input) ?? null) }
}

/** What a tool is given. */
export function renderArguments(
  { arguments: args }: { readonly arguments?: Readonly<Record<string, unknown>> },
  input: ProviderInput,
): Readonly<Record<string, unknown>> {
  const rendered = JSON.stringify(args === undefined ? input : renderJson(args, input))
  return JSON.parse(rendered) as Readonly<Record<string, unknown>>
}

/** Undefined: a member whose only input is absent is left out. */
function renderJson(value: unknown, input: ProviderInput): unknown {
  if (Array.isArray(value)) return value.map((item) => renderJson(item, input) ?? null)
  if (typeof value === 'object' && value !== null) {
    // fromEntries defines members, so that one called __proto__ is one like any other.
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, renderJson(member, input)]))
  }
  if (typeof value !== 'string') return value
  const template = expectTemplate(value)
  const only = getOnlyPlaceholder(template)
  if (only) return Object.hasOwn(input, only.name) ? input[only.name] : undefined
  return template.map((part) => (typeof part === 'string' ? part : (getText(input, part.name) ?? ''))).join('')
}

function renderAuthHeader(auth: Auth | undefined): Readonly<Record<string, RenderedValue>> {
  switch (auth?.kind) {
    case 'header':
      return { [auth.name.toLowerCase()]: renderHeader(expectTemplate(auth.value), {}) ?? [] }
    case 'basic': {
      const basic = [auth.username ?? 'username', auth.password ?? 'password'] as const
      return { authorization: ['Basic ', { basic, form_encoded: false }] }
    }
    case 'oauth2_client_credentials':
      return { authorization: ['Bearer ', { access_token: true }] }
    default:
      return {}
  }
}

const getCertificateMembers = (auth: Auth | undefined): RenderedRequest['client_certificate'] =>
  auth?.kind === 'mtls'
    ? { certificate: auth.certificate ?? 'certificate', private_key: auth.private_key ?? 'private_key' }
    : null

/** The checks of a manifest refuse what is not a template, so this is a fault of the caller. */
function expectTemplate(text: string): Template {
  const template = parseTemplate(text)
  if (!template) throw new TypeError('the manifest was not checked: it has a brace outside a placeholder')
  return template
}

function getText(input: ProviderInput, name: string): string | null {
  const value = Object.hasOwn(input, name) ? input[name] : undefined
  return value === undefined || value === null ? null : String(value)
}

/** Everything but letters, digits, `-`, `_`, `.` and `~`, so that a URL parser has nothing left to change. */
const encodeComponent = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

/** application/x-www-form-urlencoded, as URLSearchParams writes it. */
export function encodeForm(fields: Iterable<readonly [name: string, value: string]>): string {
  const form = new URLSearchParams()
  for (const [name, value] of fields) form.append(name, value)
  return form.toString()
}
