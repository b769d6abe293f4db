/**
 * A request as a plugin makes it, checked before it is sent: only to hosts that are listed, with headers that a request may set.
 * `{credential.x}` in a header stays a placeholder until it is sent; nothing else is a template.
 */
import { isAllowedHeader, isHeaderValue } from '#kernel/egress/headers.ts'
import { listAuthHeaders } from './check-request.ts'
import { checkUrl } from './check-url.ts'
import { listCredentialMembers } from './credential-members.ts'
import { FindingList } from './findings.ts'
import type { PluginProviderManifest } from './manifest.ts'
import { type RenderedRequest, type RenderedValue, renderRequest } from './render-request.ts'
import { parseTemplate } from './templates.ts'

export interface PluginRequest {
  readonly method: string
  readonly url: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** What a request cannot be; the message names the place, and no value. */
export class PluginRequestRefused extends Error {
  override readonly name = 'PluginRequestRefused'
}

const refuse = (message: string): never => {
  throw new PluginRequestRefused(message)
}

export function toRenderedRequest(
  manifest: Pick<PluginProviderManifest, 'auth' | 'credential' | 'hosts'>,
  { method, url, query = {}, headers = {}, body }: PluginRequest,
): RenderedRequest {
  const findings = new FindingList()
  const [address = '', search] = splitQuery(url)
  checkUrl(address, { manifest, pointer: '/url', findings })
  const [fault] = findings.list.filter(({ severity }) => severity === 'error')
  if (fault) refuse(`The URL of the request is refused (${fault.code}): ${fault.message}`)
  const rendered = renderRequest(
    { ...(manifest.auth && { auth: manifest.auth }) },
    { request: { method: 'GET', url: 'https://host' } },
    {},
  )
  const parameters = new URLSearchParams(search)
  for (const [name, value] of Object.entries(query)) parameters.append(name, value)
  const own = renderHeaders(manifest, headers)
  const text = body === undefined || body === null ? null : typeof body === 'string' ? body : JSON.stringify(body)
  if (text !== null && method === 'GET') refuse('A GET request has no body.')
  const type: Record<string, RenderedValue> =
    text !== null && own['content-type'] === undefined
      ? { 'content-type': [typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'] }
      : {}
  return {
    method,
    url: parameters.size > 0 ? `${address}?${parameters}` : address,
    headers: { ...own, ...type, ...rendered.headers },
    body: text,
    client_certificate: rendered.client_certificate,
  }
}

const splitQuery = (url: string): string[] => {
  const at = url.indexOf('?')
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)]
}

function renderHeaders(
  manifest: Pick<PluginProviderManifest, 'auth' | 'credential'>,
  headers: Readonly<Record<string, string>>,
): Record<string, RenderedValue> {
  const taken = new Set(listAuthHeaders(manifest))
  const members = new Set(listCredentialMembers(manifest).map(({ name }) => name))
  const rendered: Record<string, RenderedValue> = {}
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase()
    if (!isAllowedHeader(name)) refuse('A request cannot set one of its headers.')
    if (taken.has(name) || Object.hasOwn(rendered, name)) refuse(`The header ${name} is set already.`)
    if (!isHeaderValue(value)) refuse(`The header ${name} is not one line of visible ASCII.`)
    rendered[name] = (parseTemplate(value) ?? [value]).map((part) => {
      if (typeof part === 'string') return part
      if (part.source !== 'credential' || !members.has(part.name))
        return refuse(`The header ${name} has an unknown placeholder.`)
      return { credential: part.name }
    })
  }
  return rendered
}
