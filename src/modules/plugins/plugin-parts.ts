/**
 * Converts a package to entries of a registry version and back, one for each member of the manifest, each example and each file, so
 * that versions are compared part by part. Texts are kept exactly: the registry would normalise them.
 */
import { hash } from 'node:crypto'
import type { documentStore } from '#modules/definitions/index.ts'

/** A package as it was uploaded: parsed, or as bytes where it cannot be read. */
export type StoredPackage =
  | {
      readonly manifest: Readonly<Record<string, unknown>>
      /** Texts by path. */
      readonly files: Readonly<Record<string, string>>
      /** Publisher and signature; null where it is not signed. */
      readonly signature: unknown
    }
  | { readonly bytes: Uint8Array }

interface PluginPart extends documentStore.DocumentEntry {
  readonly part: 'manifest' | 'example' | 'file' | 'signature' | 'package'
  readonly name: string
  readonly position: number
  /** JSON in ASCII. */
  readonly json?: string
  readonly base64?: string
  readonly text?: string
}

const NON_ASCII = /[\u007f-\uffff]/g
const PLAIN_TEXT = /^[\t\n\r\x20-\x7e]*$/

const toAsciiJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(NON_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Readable where the text is plain ASCII, which no normalisation changes. */
const toTextMembers = (text: string): Pick<PluginPart, 'text' | 'base64'> =>
  PLAIN_TEXT.test(text) ? { text } : { base64: Buffer.from(text, 'utf8').toString('base64') }

const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** A key of the registry has no invisible characters and is short: other names are replaced by their hash. */
const toName = (name: string): string => (SAFE_NAME.test(name) ? name : `sha256-${hash('sha256', name, 'hex')}`)

export function toPluginEntries(stored: StoredPackage): PluginPart[] {
  if ('bytes' in stored) {
    return [{ part: 'package', name: 'package', position: 0, base64: Buffer.from(stored.bytes).toString('base64') }]
  }
  const { examples, ...members } = stored.manifest
  if (Object.keys(stored.manifest).length + Object.keys(stored.files).length === 0) {
    return toPluginEntries({ bytes: Buffer.from('{"manifest":{},"files":{}}') })
  }
  // A list without examples has no parts that it could be read from again.
  const isList = Array.isArray(examples) && examples.length > 0
  return [
    ...Object.entries(isList ? members : stored.manifest).map(
      ([name, value], position): PluginPart => ({
        part: 'manifest',
        name: toName(name),
        position,
        json: toAsciiJson({ [name]: value }),
      }),
    ),
    ...(isList ? examples : []).map(
      (example, position): PluginPart => ({
        part: 'example',
        name: `example-${position + 1}`,
        position,
        json: toAsciiJson(example),
      }),
    ),
    ...(stored.signature === null
      ? []
      : [{ part: 'signature', name: 'signature', position: 0, json: toAsciiJson(stored.signature) } as const]),
    ...Object.entries(stored.files).map(
      ([name, text], position): PluginPart => ({
        part: 'file',
        name: toName(name),
        position,
        json: toAsciiJson(name),
        ...toTextMembers(text),
      }),
    ),
  ]
}

/** One member of a manifest, from its stored entry. */
export const readManifestPart = (data: string): Readonly<Record<string, unknown>> =>
  JSON.parse((JSON.parse(data) as PluginPart).json ?? '{}') as Record<string, unknown>

const readText = ({ text, base64 = '' }: PluginPart): string => text ?? Buffer.from(base64, 'base64').toString('utf8')

export function fromPluginEntries(entries: readonly documentStore.DocumentEntry[]): StoredPackage {
  const select = (part: PluginPart['part']) =>
    (entries as readonly PluginPart[])
      .filter((entry) => entry.part === part)
      .toSorted((a, b) => a.position - b.position)
  const [whole] = select('package')
  if (whole) return { bytes: Buffer.from(whole.base64 ?? '', 'base64') }
  const members = select('manifest').flatMap(({ json = '{}' }) => Object.entries(JSON.parse(json) as object))
  const examples = select('example').map(({ json = 'null' }) => JSON.parse(json) as unknown)
  if (examples.length > 0) members.push(['examples', examples])
  const manifest: Readonly<Record<string, unknown>> = Object.fromEntries(members)
  const files = Object.fromEntries(
    select('file').map((entry) => [JSON.parse(entry.json ?? '""') as string, readText(entry)]),
  )
  const signature = JSON.parse(select('signature')[0]?.json ?? 'null') as unknown
  return { manifest, files, signature }
}
