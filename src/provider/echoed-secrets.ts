/**
 * Finds the credential of a request in what came back for it. Providers repeat keys in headers and in error texts; a reader of a
 * stored answer must not learn them.
 */
import { listCredentialMembers } from './credential-members.ts'
import type { RequestSecrets } from './fill-credentials.ts'
import { undoEscapes } from './undo-escapes.ts'

/** Shorter values occur in answers by chance. */
export const MIN_SECRET_LENGTH = 8
export const HIDDEN_SECRET = '[credential]'
/** An error text of one system may be quoted by another, and that by a third. */
const MAX_NESTED_ESCAPES = 4

/** Every form in which a secret member or the access token may be repeated. Members that are not secret are left out. */
export function listSecretForms(
  manifest: Parameters<typeof listCredentialMembers>[0],
  { members, access_token }: RequestSecrets & { readonly members: ReadonlyMap<string, Buffer> },
): string[] {
  const shapes = listCredentialMembers(manifest)
  const secrets = shapes.flatMap(({ name, secret }) => {
    const value = members.get(name)?.toString('utf8') ?? ''
    return secret ? [value] : []
  })
  const plain = [...secrets, access_token ?? ''].filter((value) => value.length >= MIN_SECRET_LENGTH)
  const pairs = listPairs(shapes, members, plain)
  return [...new Set([...plain, ...pairs].flatMap(listForms))]
}

/** User name and password, as Basic authentication joins them before it encodes them. */
function listPairs(
  shapes: ReturnType<typeof listCredentialMembers>,
  members: ReadonlyMap<string, Buffer>,
  secrets: readonly string[],
): string[] {
  const names = shapes.flatMap(({ name, secret }) => (secret ? [] : [members.get(name)?.toString('utf8') ?? '']))
  return names.flatMap((name) => secrets.map((secret) => `${name}:${secret}`))
}

function listForms(text: string): string[] {
  const bytes = Buffer.from(text)
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(text),
    new URLSearchParams({ s: text }).toString().slice(2),
  ]
}

/** Whether one of them has a form in it, as it is or behind escapes of JSON, XML or URLs. */
export function hasSecret(bodies: readonly Buffer[], forms: readonly string[]): boolean {
  const needles = forms.flatMap(listNeedles)
  return needles.length > 0 && bodies.some((body) => hasNeedle(body, needles))
}

function hasNeedle(body: Buffer, needles: readonly Buffer[]): boolean {
  for (const text of listLevels(body)) if (needles.some((needle) => text.includes(needle))) return true
  return false
}

/** A secret may contain what looks like an escape. It is undone in the body, hence also here. */
const listNeedles = (form: string): Buffer[] =>
  [...listLevels(Buffer.from(form))].filter((text, level) => level === 0 || text.length >= MIN_SECRET_LENGTH)

/** The bytes, then what they are after each level of escapes. */
function* listLevels(bytes: Buffer): Generator<Buffer> {
  let text = bytes
  for (let level = 0; level <= MAX_NESTED_ESCAPES; level++) {
    yield text
    const undone = undoEscapes(text)
    if (undone === text) return
    text = undone
  }
}

/** The headers with each value that repeats a secret replaced as a whole. */
export const hideSecrets = (
  headers: Readonly<Record<string, string>>,
  forms: readonly string[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      hasSecret([Buffer.from(value)], forms) ? HIDDEN_SECRET : value,
    ]),
  )
