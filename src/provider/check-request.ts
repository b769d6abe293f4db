/** Checks the request of a capability: its templates, and that each placeholder is allowed where it is. */
import { hasOwnMeaning, isAllowedHeader, isHeaderValue } from '#kernel/egress/headers.ts'
import { checkUrl } from './check-url.ts'
import { listCredentialMembers } from './credential-members.ts'
import { appendStep, type FindingList } from './findings.ts'
import type { HttpCapability, HttpManifest, McpCapability } from './manifest.ts'
import { type Placeholder, parseTemplate } from './templates.ts'

export interface RequestContext {
  readonly manifest: HttpManifest
  /** Of the capability. */
  readonly pointer: string
  readonly findings: FindingList
}

type ParameterLocation = 'path' | 'query' | 'header' | 'body'

export function checkRequest(capability: HttpCapability, context: RequestContext): void {
  const { request, input } = capability
  const { manifest, pointer, findings } = context
  const check = new TemplateCheck(capability, context)
  checkInputSchema(input, `${pointer}/input`, findings)
  const url_pointer = `${pointer}/request/url`
  if (checkUrl(request.url, { manifest, pointer: url_pointer, findings })) check.text(request.url, url_pointer, 'path')
  checkLiteralPath(request.url, url_pointer, findings)
  for (const [name, text] of Object.entries(request.query ?? {})) {
    const at = appendStep(`${pointer}/request/query`, name)
    if (name === '' || /[{}\p{Cc}]/u.test(name))
      findings.error('name_invalid', at, 'The name of a parameter is plain text.')
    check.text(text, at, 'query')
  }
  checkHeaders(capability, context, check)
  checkBody(capability, context, check)
  check.reportUnused()
}

/** What a tool is given: placeholders of the input only. */
export function checkArguments(
  { input, arguments: args }: Pick<McpCapability, 'input'> & Partial<Pick<McpCapability, 'arguments'>>,
  pointer: string,
  findings: FindingList,
): void {
  checkInputSchema(input, `${pointer}/input`, findings)
  if (!args) return
  const check = new TemplateCheck({ input }, { manifest: {}, pointer, findings })
  check.json(args, `${pointer}/arguments`)
  check.reportUnused()
}

function checkInputSchema(input: HttpCapability['input'], pointer: string, findings: FindingList): void {
  for (const [index, name] of (input.required ?? []).entries()) {
    if (!Object.hasOwn(input.properties, name)) {
      findings.error('input_unknown', `${pointer}/required/${index}`, 'No property has this name.')
    }
  }
  for (const [name, property] of Object.entries(input.properties)) {
    const at = appendStep(`${pointer}/properties`, name)
    const { type, minLength = 0, maxLength, minimum, maximum, format } = property
    const isText = type === 'string'
    const isNumber = type === 'integer' || type === 'number'
    if (!isText && (property.minLength !== undefined || maxLength !== undefined || format !== undefined)) {
      findings.error('input_schema_invalid', at, 'minLength, maxLength and format belong to text.')
    }
    if (!isNumber && (minimum !== undefined || maximum !== undefined)) {
      findings.error('input_schema_invalid', at, 'minimum and maximum belong to numbers.')
    }
    if (maxLength !== undefined && minLength > maxLength) {
      findings.error('input_schema_invalid', at, 'minLength is greater than maxLength.')
    }
    if (minimum !== undefined && maximum !== undefined && minimum > maximum) {
      findings.error('input_schema_invalid', at, 'minimum is greater than maximum.')
    }
  }
}

/** A step to the parent folder would make the path depend on the URL parser. */
export function checkLiteralPath(url: string, pointer: string, findings: FindingList): void {
  const path = url.replace(/^[a-z]+:\/\/[^/]*/, '')
  const hasStep = path.split('/').some((segment) => ['.', '..'].includes(segment.replaceAll(/%2e/gi, '.')))
  if (hasStep) findings.error('url_invalid', pointer, 'The path has no "." or ".." segments.')
}

function checkHeaders(
  { request, idempotency_header }: HttpCapability,
  context: RequestContext,
  check: TemplateCheck,
): void {
  const { manifest, pointer, findings } = context
  const seen = new Set(listAuthHeaders(manifest))
  for (const [name, text] of Object.entries(request.headers ?? {})) {
    const at = appendStep(`${pointer}/request/headers`, name)
    if (!isAllowedHeader(name)) findings.error('header_not_allowed', at, 'A request cannot set this header.')
    if (seen.has(name.toLowerCase())) findings.error('header_repeated', at, 'This header is set already.')
    if (!isHeaderValue(text)) findings.error('header_invalid', at, 'A header is one line of visible ASCII.')
    seen.add(name.toLowerCase())
    check.text(text, at, 'header')
  }
  checkIdempotencyHeader(idempotency_header, seen, context)
}

export function listAuthHeaders({ auth }: Pick<HttpManifest, 'auth'>): string[] {
  if (auth?.kind === 'header') return [String(auth.name).toLowerCase()]
  return auth?.kind === 'basic' || auth?.kind === 'oauth2_client_credentials' ? ['authorization'] : []
}

/** A key that another value replaces is never sent, and the request would be repeated as if it had one. */
export function checkIdempotencyHeader(
  name: HttpCapability['idempotency_header'],
  seen: ReadonlySet<string>,
  { pointer, findings }: Pick<RequestContext, 'pointer' | 'findings'>,
): void {
  if (!name) return
  const at = `${pointer}/idempotency_header`
  if (!isAllowedHeader(name) || hasOwnMeaning(name)) {
    findings.error('header_not_allowed', at, 'This header has a meaning of its own: it cannot carry a key.')
  } else if (seen.has(name.toLowerCase())) {
    const message = 'The authentication or the request sets this header already: name another one for the key.'
    findings.error('header_repeated', at, message)
  }
}

function checkBody({ request }: HttpCapability, { pointer, findings }: RequestContext, check: TemplateCheck): void {
  const { body } = request
  if (!body) return
  const at = `${pointer}/request/body`
  if ((body.json === undefined) === (body.form === undefined)) {
    findings.error('body_invalid', at, 'A body has either "json" or "form".')
    return
  }
  if (request.method === 'GET') findings.error('body_invalid', at, 'A GET request has no body.')
  for (const [name, text] of Object.entries(body.form ?? {})) check.text(text, appendStep(`${at}/form`, name), 'body')
  check.json(body.json, `${at}/json`)
}

interface TemplateContext extends Omit<RequestContext, 'manifest'> {
  readonly manifest: Pick<HttpManifest, 'auth' | 'credential'>
}

class TemplateCheck {
  readonly #capability: Pick<HttpCapability, 'input'>
  readonly #context: TemplateContext
  readonly #members: ReadonlySet<string>
  readonly #used = new Set<string>()

  constructor(capability: Pick<HttpCapability, 'input'>, context: TemplateContext) {
    this.#capability = capability
    this.#context = context
    this.#members = new Set(listCredentialMembers(context.manifest).map(({ name }) => name))
  }

  text(text: string, pointer: string, place: ParameterLocation): void {
    const template = parseTemplate(text)
    if (!template) {
      const message = 'Braces only enclose placeholders such as {input.number}.'
      this.#context.findings.error('template_invalid', pointer, message)
      return
    }
    for (const [index, part] of template.entries()) {
      if (typeof part !== 'string') this.#check(part, pointer, place)
      else if (part.endsWith('$') && index < template.length - 1) {
        const message = 'A placeholder has no $ before it: write {input.number}.'
        this.#context.findings.error('template_invalid', pointer, message)
      }
    }
  }

  json(value: unknown, pointer: string): void {
    if (typeof value === 'string') this.text(value, pointer, 'body')
    else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) this.json(member, appendStep(pointer, name))
    }
  }

  reportUnused(): void {
    const { pointer, findings } = this.#context
    for (const name of Object.keys(this.#capability.input.properties)) {
      if (!this.#used.has(name)) {
        findings.warn(
          'input_unused',
          appendStep(`${pointer}/input/properties`, name),
          'The request does not use this input.',
        )
      }
    }
  }

  #check({ source, name }: Placeholder, pointer: string, place: ParameterLocation): void {
    const { findings } = this.#context
    if (source === 'credential') this.#checkCredential(name, pointer, place)
    else if (!Object.hasOwn(this.#capability.input.properties, name)) {
      findings.error('input_unknown', pointer, `The capability has no input ${name}.`)
    } else {
      this.#used.add(name)
      if (place === 'path' && !this.#capability.input.required?.includes(name)) {
        findings.error('input_not_required', pointer, `The input ${name} is part of the path, so it must be required.`)
      }
    }
  }

  #checkCredential(name: string, pointer: string, place: ParameterLocation): void {
    const { findings } = this.#context
    if (place !== 'header') {
      const message =
        'A credential is sent in a header only: URLs and bodies are stored, and URLs are logged on their way.'
      findings.error('credential_not_allowed', pointer, message)
    } else if (!this.#members.has(name)) {
      findings.error('credential_unknown', pointer, `The credential has no member ${name}.`)
    }
  }
}
