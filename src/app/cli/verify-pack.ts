/** `verify pack FILE`: checks the archive of a closed investigation offline, with only the file and the public key the reader has. */
import { hash } from 'node:crypto'
import fs from 'node:fs'
import { findSignatureFaults, type SignedManifest } from '#kernel/audit/signed-manifest.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { PACK_FORMAT, SEAL_FORMAT } from '#kernel/pack-formats.ts'
import { readArchive } from '#plugin/read-archive.ts'
import type { Command } from './command.ts'
import { readPublicKey } from './verify.ts'

const MAX_BYTES = 512 * 1024 * 1024

export const verifyPack: Command = {
  about: `
FILE is the download of GET /api/investigations/{investigation_id}/pack. With --key, seal and manifest must be signed by that public
key or by the one it named as its successor (GET /api/audit/checkpoints shows it; keep it outside); without it the archive can only be
shown to be consistent in itself. Exit code 0 when genuine, 1 when not.

Example:
  npx probity verify pack investigation-pack.zip --key PUBLIC_KEY`,
  options: {
    key: { type: 'string', value: 'PUBLIC_KEY', about: 'the public key you hold' },
    json: { type: 'boolean', about: 'print the report as JSON' },
  },
  positionals: ['FILE'],
  run: async ({ args, terminal }) => {
    const [file] = args.positionals as [string]
    const key = readPublicKey(args)
    const report = await examinePack(fs.readFileSync(file), key)
    const genuine = report.faults.length === 0
    if (args.flag('json')) terminal.out(JSON.stringify({ genuine, ...report }, null, 2))
    else if (genuine) {
      const held = key === undefined ? ' (taken from the file itself; compare it with one you hold)' : ''
      terminal.out(`Genuine: ${report.reference}, seal ${report.seal_no}, signed by key ${report.key_id}${held}.`)
      terminal.out(`  outcome ${report.outcome}, proposed by ${report.proposed_by}, closed by ${report.closed_by}`)
      terminal.out(`  ${report.files} files, ${report.evidence} evidence items`)
    } else {
      terminal.out('NOT GENUINE: do not rely on what this archive says.')
      for (const fault of report.faults) terminal.out(`  ${fault}`)
    }
    return genuine ? 0 : 1
  },
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
}
interface PackManifest extends SignedManifest {
  readonly investigation_id: string
  readonly seal_hash: string
  readonly files: readonly { readonly name: string; readonly size_bytes: number; readonly sha256: string }[]
}

export interface PackReport {
  readonly faults: readonly string[]
  readonly reference: string | null
  readonly seal_no: number | null
  readonly outcome: string | null
  readonly proposed_by: string | null
  readonly closed_by: string | null
  readonly key_id: string | null
  readonly files: number
  readonly evidence: number
}

const sha256 = (bytes: Buffer | string): string => hash('sha256', bytes, 'hex')

function readJson<T>(files: ReadonlyMap<string, Buffer>, name: string): T | null {
  try {
    const value: unknown = JSON.parse(files.get(name)?.toString('utf8') ?? 'null')
    return typeof value === 'object' ? (value as T) : null
  } catch {
    return null
  }
}

export async function examinePack(bytes: Buffer, key?: string): Promise<PackReport> {
  const read = await readArchive(bytes, MAX_BYTES)
  const files: ReadonlyMap<string, Buffer> = 'files' in read ? read.files : new Map()
  const seal = readJson<Seal>(files, 'seal.json')
  const manifest = readJson<PackManifest>(files, 'manifest.json')
  const faults = seal && manifest ? findPackFaults(files, seal, manifest, key) : ['It holds no seal or no manifest.']
  return {
    faults,
    reference: seal?.reference ?? null,
    seal_no: seal?.seal_no ?? null,
    outcome: seal?.outcome ?? null,
    proposed_by: seal?.proposal?.proposed_by ?? null,
    closed_by: seal?.closed_by ?? null,
    key_id: seal?.key_id ?? null,
    files: files.size,
    evidence: seal?.evidence?.length ?? 0,
  }
}

function findPackFaults(
  files: ReadonlyMap<string, Buffer>,
  seal: Seal,
  manifest: PackManifest,
  key: string | undefined,
): string[] {
  const faults = [
    ...findSignatureFaults(SEAL_FORMAT, seal, key).map((fault) => `seal.json: ${fault}`),
    ...findSignatureFaults(PACK_FORMAT, manifest, key).map((fault) => `manifest.json: ${fault}`),
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
  faults.push(...findEvidenceFaults(files, seal))
  return faults
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
    key_id: _k,
    public_key: _pk,
    earlier_keys: _ek,
    signature: _s,
    ...proposed
  } = seal as unknown as Record<string, unknown>
  return proposed
}

function findEvidenceFaults(files: ReadonlyMap<string, Buffer>, { evidence }: Seal): string[] {
  const listed = readJson<{ evidence_id: string; content_hash: string }[]>(files, 'evidence.json') ?? []
  const hashes = new Map(listed.map((item) => [item.evidence_id, item.content_hash]))
  return evidence
    .filter(({ evidence_id, content_hash }) => hashes.get(evidence_id) !== content_hash)
    .map(({ evidence_id }) => `Evidence ${evidence_id} is not what was sealed.`)
}
