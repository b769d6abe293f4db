/**
 * Encrypts secrets at rest: a keyring of the master keys of the operator uses envelope encryption, and derives the first
 * integrity keys. An encrypted text can be decrypted only in its context; plaintext and keys never appear in an error.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const VERSION = 'v1'
const CIPHER = 'aes-256-gcm'

export interface Keyring {
  /** Identifies the current master key without revealing it. */
  readonly key_id: string
  /** Identifies all master keys, the current one first. */
  readonly key_ids: readonly string[]
  /**
   * 32 bytes for one purpose, from the current master key. Only the first integrity keys are derived this way
   * (integrity/keys.ts): everything derived would change with the master key.
   */
  derive(purpose: string): Buffer
  /** The same from every master key, the current one first. */
  deriveEach(purpose: string): readonly Buffer[]
  /** `v1.<key id>.<wrapped data key>.<iv>.<ciphertext and tag>`; `context` says what the value belongs to. */
  encrypt(plaintext: Buffer | string, context: string): string
  /** Throws unless text, context and master key are the ones it was encrypted with. */
  decrypt(sealed: string, context: string): Buffer
  /** Whether the text was encrypted with a previous master key. */
  needsRewrap(sealed: string): boolean
}

export class DecryptionFailed extends Error {
  constructor(reason: string) {
    super(`The sealed value cannot be opened: ${reason}`)
    this.name = 'DecryptionFailed'
  }
}

/** The first master key encrypts and derives; the others only decrypt what was encrypted before a rotation. */
export function createKeyring(masterKeys: Buffer | readonly Buffer[]): Keyring {
  const keys = Buffer.isBuffer(masterKeys) ? [masterKeys] : masterKeys
  const [current] = keys
  if (!current) throw new TypeError('A keyring needs at least one master key')
  const currentId = computeKeyId(current)
  const wrappingKeys = new Map(
    keys.map((key) => [computeKeyId(key), createSecretKey(deriveKey(key, `seal/${VERSION}`))]),
  )
  if (wrappingKeys.size !== keys.length) throw new TypeError('Two master keys of the keyring are the same')
  const roots = keys.map((key) => createSecretKey(key))
  const root = roots[0] as KeyObject

  const wrappingKey = (id: string): KeyObject => {
    const key = wrappingKeys.get(id)
    if (!key) throw new DecryptionFailed('its master key is not in the keyring')
    return key
  }

  return Object.freeze({
    key_id: currentId,
    key_ids: [...wrappingKeys.keys()],
    derive: (purpose: string) => deriveKey(root, `derive/${purpose}`),
    deriveEach: (purpose: string) => roots.map((key) => deriveKey(key, `derive/${purpose}`)),
    encrypt(plaintext: Buffer | string, context: string) {
      if (context === '') throw new TypeError('A sealed value needs a context')
      const dataKey = randomBytes(KEY_BYTES)
      const aad = buildAad(currentId, context)
      const wrapped = encrypt(wrappingKey(currentId), dataKey, aad)
      const content = encrypt(dataKey, typeof plaintext === 'string' ? Buffer.from(plaintext) : plaintext, aad)
      const parts = [Buffer.concat([wrapped.iv, wrapped.bytes]), content.iv, content.bytes]
      return [VERSION, currentId, ...parts.map((part) => part.toString('base64url'))].join('.')
    },
    decrypt(sealed: string, context: string) {
      const { id, wrapped, iv, bytes } = parseEncrypted(sealed)
      const aad = buildAad(id, context)
      const dataKey = decrypt(wrappingKey(id), wrapped.subarray(0, IV_BYTES), wrapped.subarray(IV_BYTES), aad)
      return decrypt(dataKey, iv, bytes, aad)
    },
    needsRewrap: (sealed: string) => parseEncrypted(sealed).id !== currentId,
  })
}

/** Parses 64 hexadecimal digits or 44 characters of base64; the message never repeats the input. */
export function parseMasterKey(text: string): Buffer {
  const trimmed = text.trim()
  if (/^[0-9a-fA-F]{64}$/.test(trimmed)) return Buffer.from(trimmed, 'hex')
  const key = Buffer.from(trimmed, 'base64')
  if (key.length === KEY_BYTES && key.toString('base64') === trimmed) return key
  throw new Error('A master key is 32 bytes, written as 64 hexadecimal digits or as 44 characters of base64')
}

export function loadMasterKeyFile(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    // The group may read: a secret mounted for a process that is not root is given to its group (0440). Windows keeps
    // access elsewhere and always reports these bits as set.
    if (process.platform !== 'win32' && (fstatSync(file).mode & 0o037) !== 0) {
      throw new Error(`The master key file ${path} is open to other users of this machine. Run: chmod 600 ${path}`)
    }
    return parseMasterKey(readFileSync(file, 'utf8'))
  } finally {
    closeSync(file)
  }
}

/** Creates a new random master key; fails with EEXIST rather than replace one. */
export function createMasterKeyFile(path: string): Buffer {
  const key = randomBytes(KEY_BYTES)
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, `${key.toString('hex')}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return key
}

function computeKeyId(masterKey: Buffer): string {
  if (masterKey.length !== KEY_BYTES) throw new TypeError(`A master key has ${KEY_BYTES} bytes`)
  return createHash('sha256').update(masterKey).digest('hex').slice(0, 8)
}

function deriveKey(key: Buffer | KeyObject, info: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), info, KEY_BYTES))
}

function buildAad(id: string, context: string): Buffer {
  return Buffer.from(`${VERSION}.${id}.${context}`)
}

function encrypt(key: Buffer | KeyObject, plaintext: Buffer, aad: Buffer): { iv: Buffer; bytes: Buffer } {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(aad)
  return { iv, bytes: Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]) }
}

function decrypt(key: Buffer | KeyObject, iv: Buffer, bytes: Buffer, aad: Buffer): Buffer {
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(aad)
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const plaintext = decipher.update(bytes.subarray(0, -TAG_BYTES))
  try {
    return Buffer.concat([plaintext, decipher.final()])
  } catch {
    throw new DecryptionFailed('it was altered or belongs to another context')
  }
}

function parseEncrypted(sealed: string): { id: string; wrapped: Buffer; iv: Buffer; bytes: Buffer } {
  const [version, id, ...texts] = sealed.split('.')
  const parts = texts.map((text) => Buffer.from(text, 'base64url'))
  const [wrapped, iv, bytes] = parts
  if (version !== VERSION || id === undefined || !wrapped || !iv || !bytes || parts.length > 3) {
    throw new DecryptionFailed('it is not a sealed value of this version')
  }
  // Decoding ignores stray characters and spare bits; only the canonical spelling is accepted.
  const canonical = parts.every((part, index) => part.toString('base64url') === texts[index])
  const sized = wrapped.length === IV_BYTES + KEY_BYTES + TAG_BYTES && iv.length === IV_BYTES
  if (!canonical || !sized || bytes.length < TAG_BYTES) throw new DecryptionFailed('it is damaged')
  return { id, wrapped, iv, bytes }
}
