/** AES-256-GCM with a random nonce. The result is nonce, ciphertext and tag, without a header. */
import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto'
import { DecryptionFailed } from './failures.ts'

export const KEY_BYTES = 32
export const NONCE_BYTES = 12
export const TAG_BYTES = 16
/** How much longer than its plaintext an encrypted text is. */
export const OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES

const CIPHER = 'aes-256-gcm'
const OPTIONS = { authTagLength: TAG_BYTES }

/** Nonces are fetched in bulk: one system call serves several hundred values. */
const noncePool = Buffer.alloc(340 * NONCE_BYTES)
let usedBytes = noncePool.length

function takeNonce(): Buffer {
  if (usedBytes === noncePool.length) {
    randomFillSync(noncePool)
    usedBytes = 0
  }
  usedBytes += NONCE_BYTES
  return noncePool.subarray(usedBytes - NONCE_BYTES, usedBytes)
}

/** `aad` is authenticated and not stored: decryption needs the same. The result begins with `header`, which is neither. */
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
const NO_HEADER = Buffer.alloc(0)

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
