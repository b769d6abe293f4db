/**
 * `verify certificate FILE`: shows a decision and whether its certificate is genuine, offline, with only the file and the public
 * key the reader has.
 */
import {
  type Certificate,
  findCertificateFaults,
  InvalidCertificateError,
  parseCertificate,
} from '#decision/certificate.ts'
import type { Command } from './command.ts'
import { readJsonFile, readPublicKey } from './verify.ts'

export const verifyCertificate: Command = {
  about: `
FILE is the answer of GET /api/evaluations/{evaluation_id}/certificate. With --key, it must be signed by that public key or by
the one it named as its successor (GET /api/audit/checkpoints shows it; keep it outside); without it the file can only be shown
to be consistent in itself. Exit code 0 when genuine, 1 when not, 2 when there is no such file.

Example:
  npx probity verify certificate certificate.json --key PUBLIC_KEY`,
  options: {
    key: { type: 'string', value: 'PUBLIC_KEY', about: 'the public key you hold' },
    json: { type: 'boolean', about: 'print the report as JSON' },
  },
  positionals: ['FILE'],
  run: async ({ args, terminal }) => {
    const [file] = args.positionals as [string]
    const key = readPublicKey(args)
    const certificate = readCertificateFile(file)
    const faults = findCertificateFaults(certificate, key)
    const genuine = faults.length === 0
    if (args.flag('json')) {
      const { evaluation_id, tenant_id, subject_id, decided_at, document_hash, receipt_id, receipt_hash } = certificate
      const { key_id, document } = certificate
      const hashes = { document_hash, receipt_id, receipt_hash }
      const facts = { evaluation_id, tenant_id, subject_id, decided_at, ...hashes, key_id, document }
      terminal.out(JSON.stringify({ genuine, faults, ...facts }, null, 2))
    } else if (genuine) {
      const held = key === undefined ? ' (taken from the file itself; compare it with one you hold)' : ''
      terminal.out(`Genuine: signed by key ${certificate.key_id}${held}.`)
      for (const line of formatDecision(certificate)) terminal.out(`  ${line}`)
    } else {
      terminal.out('NOT GENUINE: do not rely on what this file says.')
      for (const fault of faults) terminal.out(`  ${fault}`)
    }
    return genuine ? 0 : 1
  },
}

function readCertificateFile(file: string): Certificate {
  const given = readJsonFile(file)
  try {
    return parseCertificate(given)
  } catch (error) {
    if (!(error instanceof InvalidCertificateError)) throw error
    throw new Error(`${file} is not a certificate: ${error.message}.`, { cause: error })
  }
}

interface SignedDecision {
  readonly format?: string
  readonly family?: string
  readonly key?: string
  readonly version?: number
  readonly outcome?: { readonly band?: string; readonly score_bps?: number; readonly hit?: boolean }
  readonly explanation?: { readonly summary?: readonly string[] }
  readonly lists?: readonly { readonly list_key: string; readonly version: number }[]
  readonly plugins?: readonly { readonly plugin_key: string; readonly version: number; readonly factor: string }[]
}

/** The signature has been verified: the content shown is the signed one. */
function formatDecision(certificate: Certificate): string[] {
  const {
    format,
    family,
    key,
    version,
    outcome = {},
    explanation = {},
    lists = [],
    plugins = [],
  } = certificate.document as SignedDecision
  const said =
    outcome.band === undefined ? (outcome.hit ? 'hit' : 'no hit') : `${outcome.band}, ${outcome.score_bps} basis points`
  return [
    `Evaluation ${certificate.evaluation_id} of tenant ${certificate.tenant_id}, decided ${certificate.decided_at} by ${certificate.decided_by}`,
    ...(certificate.subject_id === null ? [] : [`Subject ${certificate.subject_id}`]),
    `${family} ${key}, version ${version}: ${said}`,
    ...(explanation.summary ?? []).map((sentence) => `- ${sentence}`),
    `Lists: ${lists.map((list) => `${list.list_key} version ${list.version}`).join(', ')}`,
    ...plugins.map(
      ({ plugin_key, ...plugin }) => `Plugin ${plugin_key} version ${plugin.version} scored ${plugin.factor}`,
    ),
    `SHA-256 of the decision document ${certificate.document_hash}: identifies this decision`,
    `SHA-256 of the receipt ${certificate.receipt_hash}: identifies the versions it was made on (receipt ${certificate.receipt_id})`,
    `Document format ${format}`,
  ]
}
