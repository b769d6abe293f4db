/** AES-256-GCM with a random nonce. The result is nonce, ciphertext and tag, after a header if one is given. */
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import { createRandomPool } from '../random-pool.ts'
import { DecryptionFailed } from './failures.ts'

export const KEY_BYTES = 32
export const NONCE_BYTES = 12
export const TAG_BYTES = 16
/** How much longer than its plaintext an encrypted text is. */
export const OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES

const CIPHER = 'aes-256-gcm'
const OPTIONS = { authTagLength: TAG_BYTES }

const takeNonce = createRandomPool(NONCE_BYTES, 512)
const NO_HEADER = Buffer.alloc(0)

/** `aad` is authenticated and not stored: decryption needs the same. `header` is stored and not authenticated. */
export function encryptBytes(
  key: Buffer | KeyObject,
  plaintext: Buffer,
  aad: Buffer,
  header: Buffer = NO_HEADER,
): Buffer {
  const nonce = takeNonce()
  const cipher = createCipheriv(CIPHER, key, nonce, OPTIONS).setAAD(aad)
  return Buffer.concat([header, nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

export function decryptBytes(key: Buffer | KeyObject, encrypted: Buffer, aad: Buffer): Buffer {
  if (encrypted.length < OVERHEAD_BYTES) throw new DecryptionFailed('it is too short')
  const decipher = createDecipheriv(CIPHER, key, encrypted.subarray(0, NONCE_BYTES), OPTIONS).setAAD(aad)
  decipher.setAuthTag(encrypted.subarray(-TAG_BYTES))
  const plaintext = decipher.update(encrypted.subarray(NONCE_BYTES, -TAG_BYTES))
  try {
    return Buffer.concat([plaintext, decipher.final()])
  } catch {
    throw new DecryptionFailed('it was altered or belongs to another context')
  }
}
