/** A plugin package as it is typed or chosen: templates, and the request that uploads it. Pure. */
import { findObjectFault } from '#console/ui/json-fault.ts'

export interface ZipFile {
  readonly name: string
  readonly size_bytes: number
  readonly base64: string
  /** Of its manifest; empty where that cannot be read. */
  readonly plugin_key: string
}

export interface PackageDraft {
  readonly way: 'zip' | 'typed'
  readonly zip: ZipFile | null
  /** plugin.json. */
  readonly manifest: string
  readonly source: string
  readonly note: string
}

type Manifest = Readonly<Record<string, unknown>>

export const blankDraft: PackageDraft = { way: 'zip', zip: null, manifest: '', source: '', note: '' }

/** As the server has it. */
export const MAX_ZIP_BYTES = 256 * 1024

export const parseManifest = (text: string): Manifest | null =>
  text.trim() === '' || findObjectFault(text, 'A manifest') !== null ? null : (JSON.parse(text) as Manifest)

const DEFAULT_ENTRY = 'plugin.js'

export const getEntry = (manifest: Manifest | null): string => {
  const entry = manifest?.['entry']
  return typeof entry === 'string' && entry !== '' ? entry : DEFAULT_ENTRY
}

export interface PackageUpload {
  readonly zip?: string
  readonly package?: { manifest: Record<string, unknown>; files: Record<string, string> }
  readonly note?: string
}

/** Null while something is missing. */
export function toUpload({ way, zip, manifest: text, source, note }: PackageDraft): PackageUpload | null {
  const noted = note.trim() === '' ? {} : { note }
  if (way === 'zip') return zip === null ? null : { zip: zip.base64, ...noted }
  const manifest = parseManifest(text)
  if (manifest === null) return null
  return { package: { manifest: { ...manifest }, files: { [getEntry(manifest)]: source } }, ...noted }
}

/** Empty where the manifest names none. */
export function getKey(manifest: Manifest | null): string {
  const key = manifest?.['plugin_key']
  return typeof key === 'string' ? key : ''
}

/** The key that the manifest of the package names: the server takes no other one. */
export const getDraftKey = ({ way, zip, manifest }: PackageDraft): string =>
  way === 'typed' ? getKey(parseManifest(manifest)) : (zip?.plugin_key ?? '')

/** `1.2.3` → `1.2.4`: an upload with other content needs another version. */
export const raiseVersion = (version: unknown): unknown => {
  const parts = typeof version === 'string' ? /^(\d+\.\d+\.)(\d+)/.exec(version) : null
  return parts ? `${parts[1]}${Number(parts[2]) + 1}` : version
}

const createExample = (name: string, directors: number, score_bps: number) => ({
  name,
  input: { directors },
  output: { score_bps, reason_code: directors <= 1 ? 'FEW_DIRECTORS' : 'HAS_BOARD' },
})

/** A factor that is valid as it is. */
export const template: Pick<PackageDraft, 'manifest' | 'source'> = {
  manifest: JSON.stringify(
    {
      plugin_key: 'few-directors',
      version: '1.0.0',
      kind: 'factor',
      api: 1,
      entry: DEFAULT_ENTRY,
      title: 'Few directors',
      description: 'Scores a company that has one director or none.',
      inputs: {
        type: 'object',
        additionalProperties: false,
        required: ['directors'],
        properties: { directors: { type: 'integer', minimum: 0, maximum: 1000 } },
      },
      score_min_bps: 0,
      score_max_bps: 6000,
      examples: [
        createExample('no director', 0, 6000),
        createExample('one director', 1, 6000),
        createExample('a board', 5, 0),
      ],
    },
    null,
    2,
  ),
  source: `/** A company with one director or none scores 6,000 of 10,000 points. */
export function factor(inputs) {
  const isFew = inputs.directors <= 1
  return { score_bps: isFew ? 6000 : 0, reason_code: isFew ? 'FEW_DIRECTORS' : 'HAS_BOARD' }
}
`,
}
