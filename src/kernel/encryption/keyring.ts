/**
 * Master keys: what wraps the keys that are stored in the database. A keyring over files encrypts by itself; one over the
 * operator's key command asks another program (key-command.ts). Everything above it sees one asynchronous interface.
 */
import { createHash, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { decryptBytes, encryptBytes, KEY_BYTES, NONCE_BYTES, OVERHEAD_BYTES, TAG_BYTES } from './aes-gcm.ts'
import { DecryptionFailed, type KeyCommandOutcome, MasterKeyMissing } from './failures.ts'

export { DecryptionFailed } from './failures.ts'

const VERSION = 'v1'

/** Encrypts keys at rest. Asynchronous, so that a key management service can implement it. */
export interface KeyWrapper {
  /** Identifies the current master key without revealing it. */
  readonly key_id: string
  /** Identifies all master keys that unwrap, the current one first. */
  readonly key_ids: readonly string[]
  /** A text whose second part, separated by dots, is the id of the master key; `context` says what the key belongs to. */
  wrap(key: Buffer, context: string): Promise<string>
  /** Throws unless text, context and master key are the ones it was wrapped with. */
  unwrap(wrapped: string, context: string): Promise<Buffer>
}

export interface KeyCommandCalls {
  readonly operation: 'wrap' | 'unwrap'
  readonly outcome: KeyCommandOutcome
  readonly count: number
}

/** The master keys of an installation, in files, behind a command, or both. */
export interface Keyring extends KeyWrapper {
  /**
   * 32 bytes for one purpose, from the master key of every file, the current one first; none where there is no file. Only the
   * first integrity keys are derived this way (integrity/keys.ts): everything derived would change with the master key.
   */
  deriveEach(purpose: string): readonly Buffer[]
  /** Calls of the key command since the start of the process; empty where none is configured. */
  listCommandCalls(): readonly KeyCommandCalls[]
}

/** A keyring over master key files. */
export interface FileKeyring extends Keyring {
  derive(purpose: string): Buffer
  /** `v1.<key id>.<wrapped data key>.<nonce>.<ciphertext and tag>`. */
  encrypt(plaintext: Buffer | string, context: string): string
  decrypt(encrypted: string, context: string): Buffer
}

/** The id of the master key that a wrapped key names. An altered text may hold anything here. */
export const getMasterKeyId = (wrapped: string): string => wrapped.split('.')[1] ?? ''

/** Whether the text was wrapped with an earlier master key. */
export const needsRewrap = (keyring: KeyWrapper, wrapped: string): boolean => getMasterKeyId(wrapped) !== keyring.key_id

/** The first master key encrypts and derives; the others only decrypt what was encrypted before a rotation. */
export function createKeyring(masterKeys: Buffer | readonly Buffer[]): FileKeyring {
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
    if (!key) throw new MasterKeyMissing(id)
    return key
  }

  const encrypt = (plaintext: Buffer | string, context: string): string => {
    if (context === '') throw new TypeError('An encrypted value needs a context')
    const dataKey = randomBytes(KEY_BYTES)
    const aad = buildAad(currentId, context)
    const wrapped = encryptBytes(wrappingKey(currentId), dataKey, aad)
    const content = encryptBytes(dataKey, typeof plaintext === 'string' ? Buffer.from(plaintext) : plaintext, aad)
    const parts = [wrapped, content.subarray(0, NONCE_BYTES), content.subarray(NONCE_BYTES)]
    return [VERSION, currentId, ...parts.map((part) => part.toString('base64url'))].join('.')
  }
  const decrypt = (encrypted: string, context: string): Buffer => {
    const { id, wrapped, content } = parseEncrypted(encrypted)
    const aad = buildAad(id, context)
    return decryptBytes(decryptBytes(wrappingKey(id), wrapped, aad), content, aad)
  }

  return Object.freeze({
    key_id: currentId,
    key_ids: [...wrappingKeys.keys()],
    derive: (purpose: string) => deriveKey(root, `derive/${purpose}`),
    deriveEach: (purpose: string) => roots.map((key) => deriveKey(key, `derive/${purpose}`)),
    encrypt,
    decrypt,
    wrap: async (key: Buffer, context: string) => encrypt(key, context),
    unwrap: async (wrapped: string, context: string) => decrypt(wrapped, context),
    listCommandCalls: () => [],
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

function parseEncrypted(encrypted: string): { id: string; wrapped: Buffer; content: Buffer } {
  const [version, id, ...texts] = encrypted.split('.')
  const parts = texts.map((text) => Buffer.from(text, 'base64url'))
  const [wrapped, nonce, bytes] = parts
  if (version !== VERSION || id === undefined || !wrapped || !nonce || !bytes || parts.length > 3) {
    throw new DecryptionFailed('it is not an encrypted value of this version')
  }
  // Decoding ignores stray characters and spare bits; only the canonical spelling is accepted.
  const canonical = parts.every((part, index) => part.toString('base64url') === texts[index])
  const sized = wrapped.length === KEY_BYTES + OVERHEAD_BYTES && nonce.length === NONCE_BYTES
  if (!canonical || !sized || bytes.length < TAG_BYTES) throw new DecryptionFailed('it is damaged')
  return { id, wrapped, content: Buffer.concat([nonce, bytes]) }
}
