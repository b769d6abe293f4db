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
    ...listBase64Forms(bytes),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(text),
    new URLSearchParams({ s: text }).toString().slice(2),
  ]
}

/**
 * Base64 writes three bytes as four characters, so that the same text looks different after one, two or three bytes of something else,
 * such as `Bearer `. The characters at both ends that depend on what is before or after it are left out.
 */
function listBase64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const written = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const own = written.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

/** Whether one of them has a form in it, as it is or behind escapes of JSON, XML or URLs. */
export function hasSecret(bodies: readonly Buffer[], forms: readonly string[]): boolean {
  const needles = forms.flatMap(listNeedles)
  return needles.length > 0 && bodies.some((body) => listReadings(body).some((text) => hasNeedle(text, needles)))
}

/** The body, and where it has zero bytes also as UTF-16 of either order: a text of UTF-8 has none. */
function listReadings(body: Buffer): readonly Buffer[] {
  if (!body.includes(0)) return [body]
  const even = body.subarray(0, body.length - (body.length % 2))
  const swapped = Buffer.from(even).swap16()
  return [body, ...[even, swapped].map((units) => Buffer.from(units.toString('utf16le')))]
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
