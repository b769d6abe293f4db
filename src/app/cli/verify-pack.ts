/** `verify pack FILE`: checks the archive of a closed investigation offline, with only the file and the public key the reader has. */
import { createHash, hash } from 'node:crypto'
import fs from 'node:fs'
import { findSignatureFaults, type SignedManifest } from '#kernel/audit/signed-manifest.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { DOCUMENTS_FILE, hashSealedFile, PACK_FORMATS, SEAL_FORMATS } from '#kernel/pack-formats.ts'
import { InvalidJson, parseJsonFile } from '#kernel/strict-json.ts'
import { readArchive } from '#plugin/read-archive.ts'
import type { Command } from './command.ts'
import { assertFileExists, readPublicKey } from './verify.ts'

const MAX_BYTES = 512 * 1024 * 1024

export const verifyPack: Command = {
  about: `
FILE is the download of GET /api/investigations/{investigation_id}/pack. With --key, seal and manifest must be signed by that public
key or by the one it named as its successor (GET /api/audit/checkpoints shows it; keep it outside); without it the archive can only be
shown to be consistent in itself. With --document it says which evidence a file is: its SHA-256 is compared with those of
documents.json. Exit code 0 when genuine, 1 when not, or where a file is no evidence of the case, 2 when there is no such file.

Examples:
  npx probity verify pack INV-7C4K-Q2MD.zip --key PUBLIC_KEY
  npx probity verify pack INV-7C4K-Q2MD.zip --key PUBLIC_KEY --document passport.pdf`,
  options: {
    key: { type: 'string', value: 'PUBLIC_KEY', about: 'the public key you hold' },
    document: { type: 'string', multiple: true, value: 'FILE', about: 'a file you have: which evidence is it?' },
    json: { type: 'boolean', about: 'print the report as JSON' },
  },
  positionals: ['FILE'],
  run: async ({ args, terminal }) => {
    const [file] = args.positionals as [string]
    const key = readPublicKey(args)
    assertFileExists(file)
    const given = args.list('document')
    for (const one of given) assertFileExists(one)
    const { named, ...report } = await examinePack(fs.readFileSync(file), key)
    const genuine = report.faults.length === 0
    // An archive that is not genuine says nothing about a file.
    const documents = genuine ? await Promise.all(given.map((one) => matchDocument(one, named))) : []
    if (args.flag('json'))
      terminal.out(JSON.stringify({ genuine, ...report, ...(given.length > 0 && { documents }) }, null, 2))
    else if (genuine) {
      const held = key === undefined ? ' (taken from the file itself; compare it with one you hold)' : ''
      const { changed } = report
      if (changed.length > 0) terminal.out(`CHANGED SINCE THE SEAL: ${changed.join(', ')}.`)
      const as = changed.length > 0 ? 'Genuine as it was sealed' : 'Genuine'
      terminal.out(`${as}: ${report.reference}, seal ${report.seal_no}, signed by key ${report.key_id}${held}.`)
      terminal.out(
        `  outcome ${report.outcome}, proposed by ${nameIn(report, report.proposed_by)}, closed by ${nameIn(report, report.closed_by)}`,
      )
      if (report.is_test) terminal.out('  TEST: evidence of it was not given by a live provider')
      for (const limit of report.limits) terminal.out(`  ${limit}`)
      terminal.out(`  ${report.files} files, ${report.evidence} evidence items`)
      for (const match of documents) for (const line of describeMatch(match, named)) terminal.out(line)
    } else {
      terminal.out('NOT GENUINE: do not rely on what this archive says.')
      for (const fault of report.faults) terminal.out(`  ${fault}`)
    }
    return genuine && documents.every(({ evidence }) => evidence.length > 0) ? 0 : 1
  },
}

/** With the id, which is what was sealed. */
const nameIn = ({ people }: Pick<PackReport, 'people'>, actor: string | null): string => {
  const name = people[actor ?? '']
  return typeof name === 'string' ? `${name} (${actor})` : `${actor}`
}

export interface NamedDocument {
  /** E1, E2 in the order in which they were attached, as pages and reports of the case number them. */
  readonly no: string
  readonly evidence_id: string
  readonly title: string | null
  readonly sha256: string
  readonly size_bytes: number
}

interface DocumentMatch {
  readonly file: string
  readonly sha256: string
  readonly evidence: readonly Pick<NamedDocument, 'no' | 'evidence_id' | 'title'>[]
}

/** Files may be as large as the service takes documents, so they are not read as a whole. */
async function matchDocument(file: string, named: readonly NamedDocument[] | null): Promise<DocumentMatch> {
  const digest = createHash('sha256')
  for await (const bytes of fs.createReadStream(file)) digest.update(bytes as Buffer)
  const found = digest.digest('hex')
  const evidence = (named ?? []).filter((document) => document.sha256 === found)
  return { file, sha256: found, evidence: evidence.map(({ no, evidence_id, title }) => ({ no, evidence_id, title })) }
}

function describeMatch({ file, sha256: found, evidence }: DocumentMatch, named: readonly NamedDocument[] | null) {
  if (named === null)
    return [
      `NOT COMPARED: ${file}: the archive is of an earlier release and has no hashes of files. Ask for a new one.`,
    ]
  if (evidence.length === 0)
    return [
      `NO EVIDENCE: ${file} has the SHA-256 ${found}, which none of the ${named.length} files of this archive has.`,
    ]
  return evidence.map(
    ({ no, evidence_id, title }) =>
      `${file} is ${no}, ${title === null ? 'without a title' : `“${title}”`} (${evidence_id}), SHA-256 ${found}.`,
  )
}

type Json = Readonly<Record<string, unknown>>
interface Seal extends SignedManifest {
  readonly investigation_id: string
  readonly reference: string
  readonly seal_no: number
  readonly outcome: string
  readonly closed_by: string
  readonly proposal: { readonly proposed_by: string; readonly proposal_hash: string }
  readonly evidence: readonly { readonly evidence_id: string; readonly content_hash: string }[]
  readonly narrative: { readonly content_hash: string } | null
  readonly steps: readonly Json[]
  readonly tasks: readonly Json[]
  readonly information_requests: readonly Json[]
  /** From the second format on. */
  readonly is_test?: boolean
  readonly files?: readonly { readonly name: string; readonly salted_sha256: string }[]
}
interface PackManifest extends SignedManifest {
  readonly investigation_id: string
  readonly seal_hash: string
  /** From the second format on: the state of the case, and names of files that would show something else now. */
  readonly state?: string
  readonly changed?: readonly string[]
  readonly shows?: 'sealed' | 'current' | 'erased'
  readonly salt?: string | null
  readonly files: readonly { readonly name: string; readonly size_bytes: number; readonly sha256: string }[]
}

export interface PackReport {
  readonly faults: readonly string[]
  /** What is not as it was sealed any more. */
  readonly changed: readonly string[]
  /** What the seal does not cover. */
  readonly limits: readonly string[]
  /** Evidence was not given by a live provider. */
  readonly is_test: boolean
  readonly reference: string | null
  readonly seal_no: number | null
  readonly outcome: string | null
  readonly proposed_by: string | null
  readonly closed_by: string | null
  /** Names of the people, as the archive states them; archives of earlier releases have none. */
  readonly people: Readonly<Record<string, string>>
  readonly key_id: string | null
  readonly files: number
  readonly evidence: number
  /** Files that the evidence names; null in archives of earlier releases. */
  readonly named: readonly NamedDocument[] | null
}

const sha256 = (bytes: Buffer | string): string => hash('sha256', bytes, 'hex')

/** The parsed file, or why it cannot be parsed; an absent one is null. */
function parseJson(bytes: Buffer | undefined): { readonly value: unknown; readonly fault: string | null } {
  try {
    return { value: parseJsonFile(bytes?.toString('utf8') ?? 'null'), fault: null }
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error
    return { value: null, fault: error.message }
  }
}

/** Of every file: parsers differ in which of two members with one name they return. */
const findJsonFaults = (files: ReadonlyMap<string, Buffer>): string[] =>
  [...files]
    .filter(([name]) => name.endsWith('.json'))
    .flatMap(([name, bytes]) => {
      const { fault } = parseJson(bytes)
      return fault === null ? [] : [`${name}: ${fault}`]
    })

function readObject<T>(files: ReadonlyMap<string, Buffer>, name: string): T | null {
  const value = parseJson(files.get(name)).value
  return isObject(value) ? (value as T) : null
}

const readList = (files: ReadonlyMap<string, Buffer>, name: string): Json[] => {
  const value = parseJson(files.get(name)).value
  return Array.isArray(value) ? value.filter(isObject) : []
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): boolean => typeof value === 'string'

type Form = Readonly<Record<string, (value: unknown) => boolean>>
const isListOf =
  (...texts: readonly string[]) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every((item) => isObject(item) && texts.every((text) => isText(item[text])))
const isOptional =
  (check: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || check(value)

const signedForm: Form = {
  ...{ format: isText, key_id: isText, public_key: isText, signature: isText, investigation_id: isText },
  earlier_keys: isListOf('public_key', 'succession'),
}
const forms: Readonly<Record<string, Form>> = {
  'seal.json': {
    ...signedForm,
    ...{ proposal: isObject, steps: isListOf(), tasks: isListOf(), information_requests: isListOf() },
    evidence: isListOf('evidence_id', 'content_hash'),
    files: isOptional(isListOf('name', 'salted_sha256')),
  },
  'manifest.json': {
    ...signedForm,
    files: isListOf('name', 'sha256'),
    changed: isOptional((value) => Array.isArray(value) && value.every(isText)),
  },
}

function findUnreadable(files: ReadonlyMap<string, Buffer>): string[] {
  const faults = findJsonFaults(files)
  return faults.length > 0 ? faults : findFormFaults(files)
}

/** What keeps seal and manifest from being read at all, whoever signed them. */
const findFormFaults = (files: ReadonlyMap<string, Buffer>): string[] =>
  Object.entries(forms).flatMap(([name, form]) => {
    if (!files.has(name)) return [`${name} is missing.`]
    const value = parseJson(files.get(name)).value
    if (!isObject(value)) return [`${name} is not a JSON object.`]
    const wrong = Object.keys(form).filter((member) => !form[member]?.(value[member]))
    return wrong.map((member) => `${name}: ${member} is missing or not of the form that an archive has.`)
  })

export async function examinePack(bytes: Buffer, key?: string): Promise<PackReport> {
  const read = await readArchive(bytes, MAX_BYTES)
  const files: ReadonlyMap<string, Buffer> = 'files' in read ? read.files : new Map()
  const unreadable = 'message' in read ? [read.message] : findUnreadable(files)
  const isReadable = unreadable.length === 0
  const seal = isReadable ? readObject<Seal>(files, 'seal.json') : null
  const manifest = isReadable ? readObject<PackManifest>(files, 'manifest.json') : null
  const faults = seal && manifest ? findPackFaults(files, seal, manifest, key) : unreadable
  return {
    faults,
    changed: manifest ? listChanged(files, manifest) : [],
    limits: seal && manifest ? listLimits(seal, manifest) : [],
    is_test: seal?.is_test === true,
    reference: seal?.reference ?? null,
    seal_no: seal?.seal_no ?? null,
    outcome: seal?.outcome ?? null,
    proposed_by: seal?.proposal?.proposed_by ?? null,
    closed_by: seal?.closed_by ?? null,
    people: readObject<Record<string, string>>(files, 'people.json') ?? {},
    key_id: seal?.key_id ?? null,
    files: files.size,
    evidence: seal?.evidence?.length ?? 0,
    named: seal ? listNamedDocuments(files) : null,
  }
}

function listNamedDocuments(files: ReadonlyMap<string, Buffer>): NamedDocument[] | null {
  if (!files.has(DOCUMENTS_FILE)) return null
  const items = readList(files, 'evidence.json')
  return readList(files, DOCUMENTS_FILE).map(({ evidence_id, sha256: hashed, size_bytes }) => {
    const place = items.findIndex((item) => item['evidence_id'] === evidence_id)
    const title = items[place]?.['title']
    return {
      no: place < 0 ? '–' : `E${place + 1}`,
      evidence_id: String(evidence_id),
      title: typeof title === 'string' ? title : null,
      sha256: String(hashed),
      size_bytes: Number(size_bytes),
    }
  })
}

function findPackFaults(
  files: ReadonlyMap<string, Buffer>,
  seal: Seal,
  manifest: PackManifest,
  key: string | undefined,
): string[] {
  const faults = [
    ...findSignatureFaults(chooseFormat(SEAL_FORMATS, seal), seal, key).map((fault) => `seal.json: ${fault}`),
    ...findSignatureFaults(chooseFormat(PACK_FORMATS, manifest), manifest, key).map(
      (fault) => `manifest.json: ${fault}`,
    ),
  ]
  if (faults.length > 0) return faults
  const named = new Map(manifest.files.map((file) => [file.name, file]))
  for (const [name, bytes] of files) {
    if (name === 'manifest.json') continue
    if (named.get(name)?.sha256 !== sha256(bytes)) faults.push(`${name} is not the file that the manifest names.`)
  }
  for (const { name } of manifest.files) if (!files.has(name)) faults.push(`${name} is missing.`)
  if (manifest.seal_hash !== sha256(canonicalJson(seal)) || manifest.investigation_id !== seal.investigation_id)
    faults.push('The manifest belongs to another seal.')
  if (seal.proposal.proposed_by === seal.closed_by) faults.push('One person proposed and closed it.')
  if (sha256(canonicalJson(toProposed(seal))) !== seal.proposal.proposal_hash)
    faults.push('What was closed is not what was proposed.')
  const narrative = files.get('narrative.json')
  if (narrative && sha256(narrative) !== seal.narrative?.content_hash)
    faults.push('narrative.json is not the narrative that was sealed.')
  if (seal.files) faults.push(...findContentFaults(files, seal.files, manifest))
  else faults.push(...findRowFaults(files, seal))
  if (manifest.shows !== 'erased') faults.push(...findEvidenceFaults(files, seal))
  return faults
}

/** The one that the file names, if it is known here. */
const chooseFormat = (known: readonly string[], { format }: SignedManifest): string =>
  known.find((each) => each === format) ?? (known.at(-1) as string)

/** Every file against its salted hash. After an erasure there is nothing to compare. */
function findContentFaults(
  files: ReadonlyMap<string, Buffer>,
  sealed: NonNullable<Seal['files']>,
  { shows, salt }: PackManifest,
): string[] {
  if (shows === 'erased') return []
  return sealed.flatMap(({ name, salted_sha256 }) => {
    const bytes = files.get(name)
    if (!bytes || typeof salt !== 'string') return [`${name} was sealed and is missing.`]
    return hashSealedFile(salt, name, bytes) === salted_sha256 ? [] : [`${name} is not what was sealed.`]
  })
}

/** A seal of the first format has states and revisions of the rows, which the files show as they are now. */
function findRowFaults(files: ReadonlyMap<string, Buffer>, seal: Seal): string[] {
  const parts: readonly [name: string, key: string, sealed: readonly Json[], members: readonly string[]][] = [
    ['steps.json', 'step_key', seal.steps, ['kind', 'state', 'attempt', 'call_id', 'evidence_id']],
    ['tasks.json', 'task_id', seal.tasks, ['step_key', 'state', 'ended_by', 'revision']],
    ['information-requests.json', 'request_id', seal.information_requests, ['state', 'evidence_id', 'revision']],
  ]
  return parts.flatMap(([name, key, sealed, members]) => {
    const listed = readList(files, name)
    const toText = (row: Json) => canonicalJson(members.map((member) => row[member] ?? null))
    const now = new Map(listed.map((row) => [row[key], toText(row)]))
    const isSame = listed.length === sealed.length && sealed.every((row) => now.get(row[key]) === toText(row))
    return isSame ? [] : [`${name} is not what was sealed: the case has changed since the seal.`]
  })
}

const CASE = 'investigation.json'

function listChanged(files: ReadonlyMap<string, Buffer>, { state, changed = [] }: PackManifest): string[] {
  const now = state ?? readObject<{ state: string }>(files, CASE)?.state
  return [...(now === undefined || now === 'closed' ? [] : [`the case is ${now}`]), ...changed]
}

function listLimits(seal: Seal, { shows }: PackManifest): string[] {
  if (!seal.files)
    return ['A seal of the first format: it does not cover texts of tasks, requests, steps and the timeline.']
  return shows === 'erased' ? ['The subject was erased: only ids and hashes of the case are left.'] : []
}

/** The members that a proposal rests on: everything but what closing added. */
function toProposed(seal: Seal): Json {
  const {
    format: _f,
    tenant_id: _t,
    seal_no: _n,
    proposal: _p,
    closed_by: _c,
    sealed_at: _a,
    last_event: _e,
    is_test: _it,
    files: _fi,
    key_id: _k,
    public_key: _pk,
    earlier_keys: _ek,
    signature: _s,
    ...proposed
  } = seal as unknown as Record<string, unknown>
  return proposed
}

function findEvidenceFaults(files: ReadonlyMap<string, Buffer>, { evidence }: Seal): string[] {
  const listed = readList(files, 'evidence.json')
  const hashes = new Map(listed.map((item) => [item.evidence_id, item.content_hash]))
  return evidence
    .filter(({ evidence_id, content_hash }) => hashes.get(evidence_id) !== content_hash)
    .map(({ evidence_id }) => `Evidence ${evidence_id} is not what was sealed.`)
}
