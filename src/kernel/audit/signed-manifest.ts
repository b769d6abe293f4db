/** Statements that name many hashes, signed by the key of checkpoints and verified with the file and a public key only. */
import { canonicalJson } from '../canonical-json.ts'
import { type AuditKeys, computeKeyId, type EarlierKey, verifyStatement, verifySuccession } from './chain.ts'

export interface SignedManifest {
  readonly format: string
  readonly key_id: string
  readonly public_key: string
  readonly earlier_keys: readonly EarlierKey[]
  readonly signature: string
}

/** Times and nothing else that JSON would change. */
const toPlain = (value: object): Record<string, unknown> => JSON.parse(JSON.stringify(value))

export function signManifest<F extends object>(keys: AuditKeys, format: string, facts: F): F & SignedManifest {
  const { key_id, public_key, earlier_keys } = keys
  const signed = toPlain({
    format,
    ...facts,
    key_id,
    public_key,
    earlier_keys: earlier_keys.map((key) => ({
      key_id: key.key_id,
      public_key: key.public_key,
      succession: key.succession,
    })),
  })
  return { ...signed, signature: keys.signStatement(format, canonicalJson(signed)) } as unknown as F & SignedManifest
}

/** The faults of one, as messages. Without a trusted key the file is only shown to be consistent in itself. */
export function findSignatureFaults(format: string, file: SignedManifest, trusted_key = file.public_key): string[] {
  const { signature, ...signed } = file
  const faults: string[] = []
  const held = file.earlier_keys?.find?.(({ public_key }) => public_key === trusted_key)
  if (trusted_key !== file.public_key && !(held && verifySuccession(held, file.public_key)))
    faults.push('It is signed by another key than yours, and yours has not named that one as its successor.')
  if (file.format !== format || !verifyStatement(format, canonicalJson(signed), signature, file.public_key))
    faults.push('The signature does not fit: the file was altered or made up.')
  if (computeKeyId(file.public_key) !== file.key_id) faults.push('key_id does not name its public key.')
  return faults
}
