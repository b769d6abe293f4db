/** `verify erasure FILE`: checks the certificate of an erasure offline, with only the file and the public key the reader has. */
import { computeKeyId, type EarlierKey, verifyStatement, verifySuccession } from '#kernel/audit/chain.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { createFileLedger } from '#kernel/erasure/file-ledger.ts'
import { LedgerDamaged, type LedgerEntry } from '#kernel/erasure/ledger.ts'
import type { Command } from './command.ts'
import { assertFileExists, readJsonFile, readPublicKey } from './verify.ts'

/** Files of an earlier release have the first. */
const FORMATS = ['probity-erasure-certificate/2', 'probity-erasure-certificate/3']
const ANNEX_FORMATS = ['probity-erasure-annex/1', 'probity-erasure-annex/2']

export const verifyErasure: Command = {
  about: `
FILE is the answer of GET /api/erasures/{erasure_id}/certificate. With --key, it must be signed by that public key or by the one it
named as its successor (GET /api/audit/checkpoints shows it; keep it outside); without it the file can only be shown to be consistent
in itself. With --ledger, the erasure ledger must hold the entry that the certificate names. Exit code 0 when genuine, 1 when not,
2 when there is no such file.

Example:
  npx probity verify erasure erasure.json --key PUBLIC_KEY`,
  options: {
    key: { type: 'string', value: 'PUBLIC_KEY', about: 'the public key you hold' },
    ledger: { type: 'string', value: 'FILE', about: 'the erasure ledger, or a copy of it' },
    json: { type: 'boolean', about: 'print the report as JSON' },
  },
  positionals: ['FILE'],
  run: async ({ args, terminal }) => {
    const [file] = args.positionals as [string]
    const key = readPublicKey(args)
    const ledger = args.text('ledger')
    const certificate = readCertificate(file)
    const faults = findErasureFaults(certificate, key)
    if (ledger !== undefined && faults.length === 0) faults.push(...(await findLedgerFaults(certificate, ledger)))
    const genuine = faults.length === 0
    if (args.flag('json')) {
      const { erasure_id, tenant_id, subject_id, erased_at, key_id, backups = null } = certificate
      const facts = { erasure_id, tenant_id, subject_id, erased_at, key_id, backups }
      terminal.out(JSON.stringify({ genuine, faults, ...facts, annexes: certificate.annexes.length }, null, 2))
    } else if (genuine) {
      const held = key === undefined ? ' (taken from the file itself; compare it with one you hold)' : ''
      terminal.out(`Genuine: signed by key ${certificate.key_id}${held}.`)
      for (const line of describeErasure(certificate)) terminal.out(`  ${line}`)
    } else {
      terminal.out('NOT GENUINE: do not rely on what this file says.')
      for (const fault of faults) terminal.out(`  ${fault}`)
    }
    return genuine ? 0 : 1
  },
}

interface Signed {
  readonly format: string
  readonly erasure_id: string
  readonly tenant_id: string
  readonly erased: readonly { readonly class: string; readonly count: number; readonly kept_by_hold: number }[]
  readonly key_id: string
  readonly public_key: string
  readonly earlier_keys?: readonly EarlierKey[]
  readonly signature: string
}
interface ErasureFile extends Signed {
  readonly subject_id: string
  readonly erased_at: string
  readonly keys_destroyed: number
  readonly ledger: { readonly seq: number; readonly hash: string }
  readonly backups?: { readonly kept_days: number | null; readonly last_expires_on: string | null }
  readonly annexes: readonly Signed[]
}

function readCertificate(file: string): ErasureFile {
  const given = readJsonFile(file) as Partial<ErasureFile> | null
  const isCertificate =
    typeof given === 'object' && FORMATS.includes(given?.format ?? '') && Array.isArray(given?.erased) && given?.ledger
  if (!isCertificate) throw new Error(`${file} is not the certificate of an erasure.`)
  return { ...given, annexes: Array.isArray(given.annexes) ? given.annexes : [] } as ErasureFile
}

function findSignedFaults(statement: string, file: Signed, trusted_key = file.public_key): string[] {
  const { signature, ...content } = file
  const faults: string[] = []
  const held = file.earlier_keys?.find(({ public_key }) => public_key === trusted_key)
  if (trusted_key !== file.public_key && !(held && verifySuccession(held, file.public_key)))
    faults.push('It is signed by another key than yours, and yours has not named that one as its successor.')
  if (!verifyStatement(statement, canonicalJson(content), signature, file.public_key))
    faults.push('The signature does not fit: the file was altered or made up.')
  if (computeKeyId(file.public_key) !== file.key_id) faults.push('key_id does not name its public key.')
  return faults
}

function findErasureFaults({ annexes, ...certificate }: ErasureFile, key: string | undefined): string[] {
  const faults = findSignedFaults('erasure-certificate', certificate, key)
  for (const [at, annex] of annexes.entries()) {
    const own = findSignedFaults('erasure-annex', annex, key ?? certificate.public_key)
    if (!ANNEX_FORMATS.includes(annex.format)) own.push('It is not an annex.')
    if (annex.erasure_id !== certificate.erasure_id || annex.tenant_id !== certificate.tenant_id)
      own.push('It belongs to another erasure.')
    faults.push(...own.map((fault) => `Annex ${at + 1}: ${fault}`))
  }
  return faults
}

async function findLedgerFaults({ ledger, erasure_id }: ErasureFile, file: string): Promise<string[]> {
  assertFileExists(file)
  let entries: readonly LedgerEntry[]
  try {
    entries = await createFileLedger(file).read()
  } catch (error) {
    if (!(error instanceof LedgerDamaged)) throw error
    return [error.message]
  }
  const entry = entries.find(({ seq }) => seq === ledger.seq)
  return entry?.hash === ledger.hash && entry.erasure_id === erasure_id
    ? []
    : [`The erasure ledger does not have the entry ${ledger.seq} that the certificate names.`]
}

function describeErasure({ annexes, backups, ...certificate }: ErasureFile): string[] {
  const sum = (name: 'count' | 'kept_by_hold') =>
    [certificate, ...annexes].flatMap(({ erased }) => erased).reduce((total, one) => total + one[name], 0)
  return [
    `Subject ${certificate.subject_id} of tenant ${certificate.tenant_id}, erased ${certificate.erased_at}`,
    `${certificate.keys_destroyed} keys destroyed, ${sum('count')} rows overwritten or removed, ${sum('kept_by_hold')} kept`,
    `Entry ${certificate.ledger.seq} of the erasure ledger`,
    backups?.last_expires_on
      ? `The last backup from before it expires by ${backups.last_expires_on} (backups are kept for ${backups.kept_days} days)`
      : 'It is not known when the last backup from before it expires: the operator had not said how long backups are kept',
  ]
}
