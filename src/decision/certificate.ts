/**
 * The signed certificate of one decision, verified with the file and a public key only. It contains the complete decision document,
 * so that its holder can read the decision and compute its hash.
 */
import { hash } from 'node:crypto'
import { computeKeyId, type EarlierKey, verifyStatement, verifySuccession } from '#kernel/audit/chain.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'

export const CERTIFICATE_FORMAT = 'probity-decision-certificate/1'

export interface Certificate {
  readonly format: string
  readonly tenant_id: string
  readonly evaluation_id: string
  readonly subject_id: string | null
  readonly decided_at: string
  readonly decided_by: string
  readonly receipt_id: string
  readonly receipt_hash: string
  readonly document: Record<string, unknown>
  readonly document_hash: string
  readonly key_id: string
  readonly public_key: string
  readonly earlier_keys: readonly EarlierKey[]
  readonly signature: string
}

interface Signer {
  readonly key_id: string
  readonly public_key: string
  readonly earlier_keys: readonly EarlierKey[]
  signStatement(kind: string, text: string): string
}

export type CertificateFacts = Omit<Certificate, 'format' | 'signature' | keyof Omit<Signer, 'signStatement'>>

export function issueCertificate(keys: Signer, facts: CertificateFacts): Certificate {
  const { key_id, public_key, earlier_keys } = keys
  const signed = {
    format: CERTIFICATE_FORMAT,
    ...facts,
    key_id,
    public_key,
    earlier_keys: earlier_keys.map(toPlainKey),
  }
  return { ...signed, signature: keys.signStatement(CERTIFICATE_FORMAT, canonicalJson(signed)) }
}

const toPlainKey = ({ key_id, public_key, succession }: EarlierKey) => ({ key_id, public_key, succession })

export class InvalidCertificateError extends Error {
  override readonly name = 'InvalidCertificateError'
}

/** Checks the shape only, not the signature. */
export function parseCertificate(given: unknown): Certificate {
  const file = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>
  if (file['format'] !== CERTIFICATE_FORMAT) throw new InvalidCertificateError('it is not a certificate of a decision')
  const texts = [
    'tenant_id',
    'evaluation_id',
    'decided_at',
    'decided_by',
    'receipt_id',
    'receipt_hash',
    'document_hash',
    'key_id',
    'public_key',
    'signature',
  ]
  const missing = texts.find((name) => typeof file[name] !== 'string')
  if (missing !== undefined) throw new InvalidCertificateError(`it has no ${missing}`)
  if (typeof file['document'] !== 'object' || file['document'] === null || Array.isArray(file['document']))
    throw new InvalidCertificateError('it has no document')
  const earlier = file['earlier_keys']
  const isKey = (key: unknown) =>
    typeof key === 'object' &&
    key !== null &&
    ['key_id', 'public_key', 'succession'].every((name) => typeof (key as Record<string, unknown>)[name] === 'string')
  if (!Array.isArray(earlier) || !earlier.every(isKey)) throw new InvalidCertificateError('it has no earlier_keys')
  return file as unknown as Certificate
}

/**
 * The faults of a certificate, as messages. `trusted_key` is the public key of the verifier: the signature must be by this key or by
 * the successor that this key has named. Without one, the key in the file is used, which shows that the file is consistent but not
 * who signed it.
 */
export function findCertificateFaults(certificate: Certificate, trusted_key = certificate.public_key): string[] {
  const { signature, ...signed } = certificate
  const faults: string[] = []
  const text = toCanonicalText(signed)
  const held = certificate.earlier_keys.find(({ public_key }) => public_key === trusted_key)
  const isSuccessor = held !== undefined && verifySuccession(held, certificate.public_key)
  if (trusted_key !== certificate.public_key && !isSuccessor)
    faults.push('It is signed by another key than yours, and yours has not named that one as its successor.')
  if (text === null || !verifyStatement(CERTIFICATE_FORMAT, text, signature, certificate.public_key))
    faults.push('The signature does not fit: the certificate was altered or made up.')
  if (computeKeyId(certificate.public_key) !== certificate.key_id) faults.push('key_id does not name its public key.')
  const document = toCanonicalText(certificate.document)
  if (document === null || hash('sha256', document, 'hex') !== certificate.document_hash)
    faults.push('The document does not have the stated hash.')
  return faults
}

function toCanonicalText(value: unknown): string | null {
  try {
    return canonicalJson(value)
  } catch {
    return null
  }
}
