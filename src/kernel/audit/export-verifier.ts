/** Verifies an exported audit file with nothing but its public key: no database, no service, no secret. */

import { InvalidJson, parseJsonFile } from '../strict-json.ts'
import {
  type AuditEvent,
  type Checkpoint,
  computeKeyId,
  type EarlierKey,
  type PublicKey,
  verifyCheckpoint,
  verifySuccession,
} from './chain.ts'
import { type ChainVerification, ChainVerifier, type VerifiedLink } from './chain-verifier.ts'

interface Manifest extends PublicKey {
  readonly format: string
  readonly tenant_id: string
  /** Missing in files of the first release. */
  readonly earlier_keys?: readonly EarlierKey[]
  readonly first_seq: number
  readonly last_seq: number
}
interface LinkLine {
  readonly line: 'link'
  readonly seq: number
  /** Null where the event is withheld from the requester of the file. */
  readonly event_id: string | null
  readonly prev_hash: string
  readonly hash: string
  readonly event: AuditEvent | null
  /** Instead of a withheld event. */
  readonly event_hash?: string
}
type ExportLine =
  | ({ readonly line: 'manifest' } & Manifest)
  | LinkLine
  | ({ readonly line: 'checkpoint' } & Checkpoint)
  | ({ readonly line: 'end' } & Checkpoint)

export interface ExportVerification extends ChainVerification {
  readonly tenant_id: string
  readonly key_id: string
  readonly first_seq: number
  readonly last_seq: number
  /** When the end was signed. A file that was cut back to an earlier checkpoint has the time of that checkpoint. */
  readonly signed_at: string
  /** Number of events that the requester may not see: only their hashes are in the file. */
  readonly withheld: number
}

/** A checkpoint that the examiner kept elsewhere: the chain must still contain it. */
export type KeptCheckpoint = Pick<Checkpoint, 'tenant_id' | 'seq' | 'hash'>

/** The second one may withhold events that its requester may not see. */
const FORMATS = ['probity-audit-export/1', 'probity-audit-export/2']

const toVerifiedLink = (line: LinkLine, { format }: Manifest): VerifiedLink => ({
  ...line,
  event_hash: line.event_hash ?? null,
  is_withheld: format === FORMATS[1] && line.event_id === null,
})

export class InvalidExport extends Error {
  override readonly name = 'InvalidExport'
}

function parseLine(text: string, number: number): ExportLine {
  try {
    return parseJsonFile(text) as ExportLine
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error
    throw new InvalidExport(`Line ${number} is not JSON that can be relied on: ${error.message}`)
  }
}

/**
 * The end must be signed by the key of the examiner or by the successor that this key names. An earlier checkpoint is covered by
 * the signed end, so it only has to match the key it names.
 */
function createTrust({ public_key, earlier_keys = [] }: Manifest, trusted_key = public_key) {
  const held = earlier_keys.find((key) => key.public_key === trusted_key)
  const signers = held && verifySuccession(held, public_key) ? [trusted_key, public_key] : [trusted_key]
  const named = new Map(
    [...signers, public_key, ...earlier_keys.map((key) => key.public_key)].map((key) => [computeKeyId(key), key]),
  )
  return {
    isTrustedEnd: (end: Checkpoint) => signers.some((key) => verifyCheckpoint(end, key)),
    isTrustedCheckpoint: (checkpoint: Checkpoint) =>
      verifyCheckpoint(checkpoint, named.get(checkpoint.key_id) ?? trusted_key),
  }
}

function* findContradictions(kept: readonly KeptCheckpoint[], manifest: Manifest, hashes: Map<number, string>) {
  for (const { tenant_id, seq, hash } of kept) {
    const place = { seq, event_id: null }
    if (tenant_id !== manifest.tenant_id) {
      yield {
        ...place,
        fault: 'checkpoint_contradicted',
        detail: 'the kept checkpoint speaks of another tenant',
      } as const
    } else if (seq > manifest.last_seq) {
      yield { ...place, fault: 'chain_truncated', detail: `a kept checkpoint states that link ${seq} existed` } as const
    } else if (seq >= manifest.first_seq && hashes.get(seq) !== hash) {
      yield { ...place, fault: 'checkpoint_contradicted', detail: 'the kept checkpoint has another hash here' } as const
    }
  }
}

/**
 * `trusted_key` is the public key the examiner already has; without it the key in the file is used, which proves consistency but
 * not origin. `kept` detects what the key alone cannot: a chain that was restored to an earlier state.
 */
export async function verifyExport(
  lines: AsyncIterable<string>,
  trusted_key?: string,
  kept: readonly KeptCheckpoint[] = [],
): Promise<ExportVerification> {
  let manifest: Manifest | undefined
  let chainVerifier: ChainVerifier | undefined
  let end: Checkpoint | undefined
  let number = 0
  const checkpoints: Checkpoint[] = []
  const hashes = new Map<number, string>()
  let previous: { seq: number; hash: string } | undefined
  for await (const text of lines) {
    number++
    if (text === '') continue
    const line = parseLine(text, number)
    if (end) throw new InvalidExport(`Line ${number} follows the end.`)
    if (line.line === 'manifest') {
      if (manifest) throw new InvalidExport(`Line ${number} is a second manifest.`)
      if (!FORMATS.includes(line.format))
        throw new InvalidExport(`The format ${String(line.format).slice(0, 50)} is not known.`)
      manifest = line
      continue
    }
    if (!manifest) throw new InvalidExport('The first line must be the manifest: this is not an audit export.')
    if (line.line === 'link') {
      // The first link names its predecessor; what came before is covered by earlier checkpoints, not by this file.
      chainVerifier ??= new ChainVerifier(null, [], { seq: manifest.first_seq - 1, hash: line.prev_hash })
      chainVerifier.checkLink(toVerifiedLink(line, manifest))
      hashes.set(line.seq, line.hash)
      previous = { seq: line.seq, hash: line.hash }
    } else if (line.line === 'checkpoint') checkpoints.push(line)
    else end = line
  }
  if (!manifest) throw new InvalidExport('The file is empty.')
  if (!end) throw new InvalidExport('The signed end is missing: the file was cut short.')
  const signed = createTrust(manifest, trusted_key)
  const faults = [...(chainVerifier?.finish(0).faults ?? []), ...findContradictions(kept, manifest, hashes)]
  for (const checkpoint of [...checkpoints, end]) {
    if (!(checkpoint === end ? signed.isTrustedEnd(checkpoint) : signed.isTrustedCheckpoint(checkpoint))) {
      faults.push({
        seq: checkpoint.seq,
        event_id: null,
        fault: 'checkpoint_altered',
        detail: `checkpoint ${checkpoint.seq} is not signed by the expected key`,
      })
    } else if (checkpoint.tenant_id !== manifest.tenant_id) {
      faults.push({
        seq: checkpoint.seq,
        event_id: null,
        fault: 'checkpoint_contradicted',
        detail: 'it speaks of another tenant',
      })
    } else if (hashes.size > 0 && hashes.get(checkpoint.seq) !== checkpoint.hash) {
      const missing = !hashes.has(checkpoint.seq)
      faults.push({
        seq: checkpoint.seq,
        event_id: null,
        fault: missing ? 'chain_truncated' : 'checkpoint_contradicted',
        detail: missing ? `link ${checkpoint.seq} is not in the file` : 'the chain in the file has another hash here',
      })
    }
  }
  return {
    intact: faults.length === 0,
    events: hashes.size,
    head_seq: previous?.seq ?? end.seq,
    head_hash: previous?.hash ?? end.hash,
    checkpoints: checkpoints.length + 1,
    unsealed: 0,
    faults,
    faults_total: faults.length,
    tenant_id: manifest.tenant_id,
    key_id: manifest.key_id,
    first_seq: manifest.first_seq,
    last_seq: manifest.last_seq,
    signed_at: end.created_at,
    withheld: chainVerifier?.withheld ?? 0,
  }
}
