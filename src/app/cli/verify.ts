/**
 * `verify audit FILE` and `verify proof FILE`: check a downloaded file offline, with only the file and what the reader has. They
 * use no database and trust nothing a file says about itself.
 */
import fs from 'node:fs'
import readline from 'node:readline'
import { InvalidExport, type KeptCheckpoint, verifyExport } from '#kernel/audit/export-verifier.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { InvalidJson, parseJsonFile } from '#kernel/strict-json.ts'
import { entryHash, keyHash } from '#registry/content/hashes.ts'
import { type Proof, verifyProof } from '#registry/content/merkle.ts'
import { hashOverlayEntry, type OverlayEntry } from '#registry/overlay.ts'
import { type Arguments, type Command, UsageError } from './command.ts'

const MAX_PRINTED_FAULTS = 20

export const verifyAudit: Command = {
  about: `
FILE is the download of GET /api/audit/exports/{export_id}/content. With --key, checkpoints must be signed by that public key
(GET /api/audit/checkpoints shows it; keep it outside); without it the file can only be shown to be consistent in itself.
A file may have been cut back to an earlier checkpoint, signature and all: look at when its end was signed, and give the
checkpoints you kept, as GET /api/audit/checkpoints answered then. Exit code 0 when intact, 1 when not,
2 when there is no such file.

Example:
  npx probity verify audit audit.ndjson --key PUBLIC_KEY --kept checkpoints-of-june.json`,
  options: {
    key: { type: 'string', value: 'PUBLIC_KEY', about: 'the public key you hold' },
    kept: { type: 'string', value: 'FILE', about: 'checkpoints you kept; the chain must contain them' },
    json: { type: 'boolean', about: 'print the whole report as JSON' },
  },
  positionals: ['FILE'],
  run: async ({ args, terminal }) => {
    const [file] = args.positionals as [string]
    const key = readPublicKey(args)
    const kept_file = args.text('kept')
    const kept = kept_file === undefined ? [] : readKeptCheckpoints(kept_file)
    assertFileExists(file)
    const lines = readline.createInterface({ input: fs.createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
    let report: Awaited<ReturnType<typeof verifyExport>>
    try {
      report = await verifyExport(lines, key, kept)
    } catch (error) {
      if (!(error instanceof InvalidExport)) throw error
      throw new Error(`${file}: ${error.message}`, { cause: error })
    }
    if (args.flag('json')) terminal.out(JSON.stringify(report, null, 2))
    else {
      terminal.out(
        `${report.intact ? 'Intact' : 'NOT INTACT'}: ${report.events} events (${report.first_seq} to ${report.last_seq})${describeWithheld(report.withheld)} of tenant ${report.tenant_id}, ` +
          `${report.checkpoints} signed checkpoints, key ${report.key_id}${key ? '' : ' (taken from the file itself)'}, ` +
          `end signed ${report.signed_at}`,
      )
      for (const { seq, fault, detail } of report.faults.slice(0, MAX_PRINTED_FAULTS)) {
        terminal.out(`  ${seq === null ? '' : `at ${seq}: `}${fault}: ${detail}`)
      }
      if (report.faults_total > MAX_PRINTED_FAULTS)
        terminal.out(`  and ${report.faults_total - MAX_PRINTED_FAULTS} more`)
      const earlier = kept.filter(({ seq }) => seq < report.first_seq).length
      if (earlier > 0) terminal.out(`  kept checkpoints from before this file, which cannot be compared: ${earlier}`)
    }
    return report.intact ? 0 : 1
  },
}

/** Events that the file proves by their hashes only. */
const describeWithheld = (withheld: number): string => (withheld === 0 ? '' : `, ${withheld} of them without content,`)

const HASH = /^[0-9a-f]{64}$/
/** 32 bytes in base64url. */
const PUBLIC_KEY = /^[\w-]{43}$/

/** An invalid key would make every signature look forged. */
export function readPublicKey(args: Arguments): string | undefined {
  const key = args.text('key')
  if (key === undefined || PUBLIC_KEY.test(key)) return key
  throw new UsageError(
    '--key must be a public key as GET /api/audit/checkpoints shows it: 43 letters, digits, - and _.',
  )
}

function readKeptCheckpoints(file: string): KeptCheckpoint[] {
  const { items } = (readJsonFile(file) ?? {}) as { items?: unknown }
  const isCheckpoint = (item: Partial<KeptCheckpoint> | null) =>
    typeof item?.tenant_id === 'string' && Number.isSafeInteger(item.seq) && HASH.test(String(item.hash))
  if (Array.isArray(items) && items.length > 0 && items.every(isCheckpoint)) return items
  throw new Error(`${file} holds no checkpoints: it must be what GET /api/audit/checkpoints answered.`)
}

interface ProofFile {
  readonly list_key: string
  readonly version: number
  readonly key: string
  readonly present: boolean
  readonly entry: unknown
  /** Instead of the entry, where the version is one of an overlay: the change to the entry below it. */
  readonly change?: unknown
  readonly proof: Proof
}

export const verifyProofFile: Command = {
  about: `
FILE is the answer of GET /api/reference-data/datasets/{list_key}/versions/{version}/proof?key=KEY. With --hash the proof must
lead to that content hash; hold one from elsewhere (an export, a receipt, an activation), since a file can only be consistent
in itself. With --entry the entry in that file must be the one proved. Exit code 0 when it proves what it says, 1 when
not, 2 when there is no such file.

Example:
  npx probity verify proof proof.json --hash CONTENT_HASH --entry entry.json`,
  options: {
    hash: { type: 'string', value: 'CONTENT_HASH', about: 'the content hash of the version, as you hold it' },
    entry: { type: 'string', value: 'FILE', about: 'the entry you hold, as JSON' },
    json: { type: 'boolean', about: 'print the report as JSON' },
  },
  positionals: ['FILE'],
  run: async ({ args, terminal }) => {
    const [file] = args.positionals as [string]
    const hash = args.text('hash')
    if (hash !== undefined && !HASH.test(hash))
      throw new UsageError('--hash must be 64 hexadecimal digits, lower case.')
    const given = readProofFile(file)
    const entry_file = args.text('entry')
    const faults = findProofFaults(given, hash, entry_file === undefined ? undefined : readJsonFile(entry_file))
    const { list_key, version, key, proof } = given
    const of = given.change === undefined ? list_key : `the overlay on ${list_key}`
    const says = `${JSON.stringify(key)} is ${proof.entry_hash === null ? 'NOT in' : 'in'} version ${version} of ${of}`
    const held =
      hash === undefined ? ' (list, version and hash are what the file says; compare the hash with one you hold)' : ''
    if (args.flag('json')) {
      const facts = { list_key, version, key, present: proof.entry_hash !== null, content_hash: proof.root }
      terminal.out(JSON.stringify({ proved: faults.length === 0, ...facts, entries: proof.count, faults }, null, 2))
    } else if (faults.length === 0) {
      terminal.out(`Proved: ${says}, which has ${proof.count} entries and the content hash ${proof.root}${held}.`)
    } else {
      terminal.out(`NOT PROVED: the file does not show that ${says}.`)
      for (const fault of faults) terminal.out(`  ${fault}`)
    }
    return faults.length === 0 ? 0 : 1
  },
}

/** Every reason why the file does not prove what it says. */
function findProofFaults({ key, present, entry, change, proof }: ProofFile, hash?: string, held?: unknown): string[] {
  const shown = change === undefined ? entry : change
  const hasHash = change === undefined ? entryHasHash : changeHasHash
  const faults: string[] = []
  if (!verifyProof(proof))
    faults.push('The hashes of the proof do not lead to its own root: it was damaged or made up.')
  if (proof.key_hash !== keyHash(key)) faults.push('The proof is about another key than the file says.')
  if (present !== (proof.entry_hash !== null)) {
    faults.push(`The file says the key is ${present ? 'present' : 'absent'}, its proof says the opposite.`)
  }
  if (hash !== undefined && proof.root !== hash)
    faults.push(`It belongs to the content hash ${proof.root}, not to yours.`)
  if (proof.entry_hash === null) {
    if (shown !== null) faults.push('The file shows an entry although the key is absent.')
    if (held !== undefined) faults.push('You hold an entry, but the key is absent.')
    return faults
  }
  if (!hasHash(shown, proof.entry_hash)) faults.push('The entry in the file is not the one that was proved.')
  if (held !== undefined && !hasHash(held, proof.entry_hash))
    faults.push('The entry you hold is not the one that was proved.')
  return faults
}

function entryHasHash(entry: unknown, wanted: string): boolean {
  try {
    return entryHash(canonicalJson(entry)) === wanted
  } catch {
    // A value without canonical text was never published.
    return false
  }
}

/** For an overlay the operation and the base entry are proved too. */
function changeHasHash(change: unknown, wanted: string): boolean {
  try {
    const { op, base_hash, value, ...more } = change as OverlayEntry
    return Object.keys(more).length === 0 && hashOverlayEntry({ op, base_hash, value }) === wanted
  } catch {
    return false
  }
}

/** Exit code 2: whoever runs it by a program must not take a missing file for a forged one. */
export function assertFileExists(file: string): void {
  if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) throw new UsageError(`There is no file ${file}.`)
}

export function readJsonFile(file: string): unknown {
  assertFileExists(file)
  try {
    return parseJsonFile(fs.readFileSync(file, 'utf8'))
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error
    throw new Error(`${file} is not JSON that can be relied on: ${error.message}`, { cause: error })
  }
}

/** Checks the form only. */
function readProofFile(file: string): ProofFile {
  const given = readJsonFile(file) as Partial<ProofFile> | null
  const proof = given?.proof as Partial<Proof> | undefined
  const isText = (value: unknown) => typeof value === 'string'
  const isPair = (pair: unknown) => Array.isArray(pair) && pair.length === 2 && pair.every(isText)
  const isProof =
    isText(given?.list_key) &&
    Number.isSafeInteger(given?.version) &&
    isText(given?.key) &&
    typeof given?.present === 'boolean' &&
    isText(proof?.root) &&
    Number.isSafeInteger(proof?.count) &&
    isText(proof?.key_hash) &&
    (proof?.entry_hash === null || isText(proof?.entry_hash)) &&
    Array.isArray(proof?.bucket) &&
    proof.bucket.every(isPair) &&
    Array.isArray(proof?.siblings) &&
    proof.siblings.every(isText)
  if (!isProof) throw new Error(`${file} is not a proof: it lacks what GET …/proof answers.`)
  return given as ProofFile
}
