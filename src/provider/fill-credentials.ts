/** Inserts credentials into a rendered request, for sending, or placeholders for them, for the ledger. */
import { isHeaderValue } from '#kernel/egress/headers.ts'
import { encodeForm, type RenderedPart, type RenderedRequest, type RenderedValue } from './render-request.ts'

export interface RequestSecrets {
  readonly members?: ReadonlyMap<string, Buffer> | Readonly<Record<string, string>>
  readonly access_token?: string
}

/** What egress needs of a request. */
export interface ReadyRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly client_certificate?: { readonly cert: string; readonly key: string }
}

/** A request as it is stored: it shows where secrets were, and none of them. */
export interface StoredRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** A member that the request needs is missing, or cannot be sent where it belongs. Never with its value. */
export class CredentialNotUsable extends Error {
  override readonly name = 'CredentialNotUsable'
  readonly member: string
  constructor(member: string, why: string) {
    super(`The member ${member} of the credential ${why}.`)
    this.member = member
  }
}

export function fillCredentials(request: RenderedRequest, secrets: RequestSecrets): ReadyRequest {
  const fill = (value: RenderedValue) => value.map((part) => fillPart(part, secrets)).join('')
  const headers = Object.entries(request.headers).map(([name, value]) => {
    const text = fill(value)
    if (!isHeaderValue(text)) throw new CredentialNotUsable(name, 'holds characters that no header can have')
    return [name, text] as const
  })
  const { body, client_certificate } = request
  const text =
    body === null || typeof body === 'string' ? body : encodeForm(body.form.map(([name, value]) => [name, fill(value)]))
  return {
    method: request.method,
    url: request.url,
    headers: Object.fromEntries(headers),
    ...(text !== null && { body: Buffer.from(text) }),
    ...(client_certificate && {
      client_certificate: {
        cert: getMember(secrets, client_certificate.certificate),
        key: getMember(secrets, client_certificate.private_key),
      },
    }),
  }
}

export function toStoredRequest({ method, url, headers, body }: RenderedRequest): StoredRequest {
  const show = (value: RenderedValue) => value.map(showPart).join('')
  return {
    method,
    url,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, show(value)])),
    body:
      body === null || typeof body === 'string'
        ? body
        : body.form.map(([name, value]) => `${name}=${show(value)}`).join('&'),
  }
}

function fillPart(part: RenderedPart, secrets: RequestSecrets): string {
  if (typeof part === 'string') return part
  if ('credential' in part) return getMember(secrets, part.credential)
  if ('access_token' in part) {
    if (secrets.access_token === undefined) throw new CredentialNotUsable('access_token', 'is missing')
    return secrets.access_token
  }
  const encode = part.form_encoded ? (text: string) => encodeForm([['', text]]).slice(1) : (text: string) => text
  const [username, password] = part.basic.map((name) => encode(getMember(secrets, name)))
  // RFC 7617: a colon would end the user name.
  if (username?.includes(':')) throw new CredentialNotUsable(part.basic[0], 'holds a colon')
  return Buffer.from(`${username}:${password}`).toString('base64')
}

function showPart(part: RenderedPart): string {
  if (typeof part === 'string') return part
  if ('credential' in part) return `{{credential.${part.credential}}}`
  if ('access_token' in part) return '{{access_token}}'
  return part.basic.map((name) => `{{credential.${name}}}`).join(':')
}

function getMember({ members }: RequestSecrets, name: string): string {
  const value = members instanceof Map ? (members.get(name) as Buffer | undefined) : getOwn(members ?? {}, name)
  if (value === undefined) throw new CredentialNotUsable(name, 'is missing')
  return value.toString()
}

const getOwn = (members: object, name: string): string | undefined =>
  Object.hasOwn(members, name) ? (members as Record<string, string>)[name] : undefined
