/**
 * Computes hashes, links, authentication codes and signatures of the audit trail. Pure functions, the same online and offline.
 */
import { createPrivateKey, createPublicKey, hash, sign, timingSafeEqual, verify } from 'node:crypto'
import type { IntegrityKeys } from '../integrity/keys.ts'

export interface AuditEvent {
  readonly tenant_id: string
  readonly event_id: string
  readonly recorded_at: string
  readonly actor: string
  readonly operation: string
  readonly object_type: string
  readonly object_id: string
  readonly request_id: string | null
  /** Canonical JSON text. */
  readonly detail: string
}

export interface ChainEnd {
  readonly seq: number
  readonly hash: string
}

/** Before the first event. */
export const GENESIS_HASH = '0'.repeat(64)

/** Members in a fixed order instead of canonical JSON: as unambiguous, at a fifth of the cost for a million events. */
export const serializeEvent = (event: AuditEvent): string =>
  JSON.stringify([
    event.tenant_id,
    event.event_id,
    event.recorded_at,
    event.actor,
    event.operation,
    event.object_type,
    event.object_id,
    event.request_id,
    event.detail,
  ])

/** One call instead of a hash object, which costs twice as much. */
const sha256 = (text: string): string => hash('sha256', text, 'hex')

export const hashEvent = (event: AuditEvent, text = serializeEvent(event)): string => sha256(text)

export const hashLink = (prev_hash: string, seq: number, hash_of_event: string): string =>
  sha256(`${prev_hash}:${seq}:${hash_of_event}`)

export interface Checkpoint extends ChainEnd {
  readonly tenant_id: string
  readonly created_at: string
  readonly key_id: string
  readonly signature: string
}

const serializeCheckpoint = (checkpoint: Omit<Checkpoint, 'signature'>): string =>
  JSON.stringify([
    'probity-audit-checkpoint',
    checkpoint.tenant_id,
    checkpoint.seq,
    checkpoint.hash,
    checkpoint.created_at,
    checkpoint.key_id,
  ])

/** PKCS #8 wrapping of a raw Ed25519 seed. */
const ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** What an examiner keeps to verify checkpoints: a raw Ed25519 public key in base64url, and its fingerprint. */
export interface PublicKey {
  readonly key_id: string
  readonly public_key: string
}

/** A replaced key, with a statement signed by it that names its successor. */
export interface EarlierKey extends PublicKey {
  readonly succession: string
}

/** Signs and authenticates with the newest integrity keys; verifies with any of them. */
export interface AuditKeys extends PublicKey {
  readonly earlier_keys: readonly EarlierKey[]
  computeEventMac(event: AuditEvent): string
  /** `text` is the canonical text of the event, if the caller has it. */
  verifyEventMac(event: AuditEvent, mac: string, text?: string): boolean
  computeHeadMac(tenant_id: string, end: ChainEnd): string
  verifyHeadMac(tenant_id: string, end: ChainEnd, mac: string): boolean
  signCheckpoint(tenant_id: string, end: ChainEnd, created_at: string): Checkpoint
  verifyCheckpoint(checkpoint: Checkpoint): boolean
  /** Signs a statement that is no checkpoint with the same key, which examiners already have; `kind` keeps statements apart. */
  signStatement(kind: string, text: string): string
  /** For values that may be personal: they can be compared with each other, but not guessed from outside. */
  fingerprint(text: string): string
  /** Whether it is the fingerprint of the text, by any of the keys. */
  verifyFingerprint(text: string, fingerprint: string): boolean
}

export function createAuditKeys(keys: Pick<IntegrityKeys, 'all'>): AuditKeys {
  const codes = keys.all('audit-event').map(createHmacSha256)
  const [signer, ...earlier] = keys.all('audit-checkpoint').map(createSigningKey) as [SigningKey, ...SigningKey[]]
  const [mac] = codes as [MacFunction, ...MacFunction[]]
  const verifyMac = (text: string, given: string): boolean =>
    codes.some((code) => isConstantTimeEqual(code(text), given))
  const serializeHead = (tenant_id: string, { seq, hash }: ChainEnd) => JSON.stringify(['head', tenant_id, seq, hash])
  const { key_id, public_key } = signer
  return {
    key_id,
    public_key,
    earlier_keys: earlier.map((key) => ({
      key_id: key.key_id,
      public_key: key.public_key,
      succession: key.sign(serializeSuccession(key, public_key)),
    })),
    computeEventMac: (event) => mac(serializeEvent(event)),
    verifyEventMac: (event, given, text = serializeEvent(event)) => verifyMac(text, given),
    computeHeadMac: (tenant_id, end) => mac(serializeHead(tenant_id, end)),
    verifyHeadMac: (tenant_id, end, given) => verifyMac(serializeHead(tenant_id, end), given),
    signCheckpoint: (tenant_id, { seq, hash }, created_at) => {
      const checkpoint = { tenant_id, seq, hash, created_at, key_id }
      return { ...checkpoint, signature: signer.sign(serializeCheckpoint(checkpoint)) }
    },
    verifyCheckpoint: (checkpoint) => {
      const named = [signer, ...earlier].find((key) => key.key_id === checkpoint.key_id)
      return named !== undefined && verifyCheckpoint(checkpoint, named.public_key)
    },
    signStatement: (kind, text) => signer.sign(serializeStatement(kind, text)),
    fingerprint: (text) => computeFingerprint(mac, text),
    verifyFingerprint: (text, given) =>
      codes.some((code) => isConstantTimeEqual(computeFingerprint(code, text), given)),
  }
}

const computeFingerprint = (code: MacFunction, text: string): string => code(`value:${text}`).slice(0, 32)

interface SigningKey extends PublicKey {
  sign(text: string): string
}

function createSigningKey(seed: Buffer): SigningKey {
  const privateKey = createPrivateKey({ key: Buffer.concat([ED25519_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  const public_key = (createPublicKey(privateKey).export({ format: 'jwk' }) as { x: string }).x
  return {
    key_id: computeKeyId(public_key),
    public_key,
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
  }
}

export const computeKeyId = (public_key: string): string => sha256(public_key).slice(0, 16)

type MacFunction = (text: string) => string
const BLOCK_BYTES = 64
const DIGEST_BYTES = 32

/**
 * HMAC-SHA-256 (RFC 2104) with a prepared key and one call per hash. An HMAC object per event costs half as much again, and is
 * garbage a million times during a verification.
 */
export function createHmacSha256(key: Buffer): MacFunction {
  if (key.length > BLOCK_BYTES) throw new TypeError('A longer key would have to be hashed first')
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c)
  const inner = Buffer.alloc(BLOCK_BYTES, 0x36)
  for (const [at, byte] of key.entries()) {
    outer[at] = 0x5c ^ byte
    inner[at] = 0x36 ^ byte
  }
  const enoughForMost = Buffer.concat([inner], 4096)
  return (text) => {
    // No character takes more than three bytes.
    const needed = BLOCK_BYTES + 3 * text.length
    const message = needed > enoughForMost.length ? Buffer.concat([inner], needed) : enoughForMost
    const length = BLOCK_BYTES + message.write(text, BLOCK_BYTES)
    outer.write(hash('sha256', message.subarray(0, length), 'binary'), BLOCK_BYTES, 'binary')
    return hash('sha256', outer, 'hex')
  }
}

function isConstantTimeEqual(wanted: string, given: string): boolean {
  const [one, two] = [Buffer.from(wanted), Buffer.from(given)]
  return one.length === two.length && timingSafeEqual(one, two)
}

const serializeSuccession = (old: PublicKey, successor: string): string =>
  JSON.stringify(['probity-audit-succession', old.key_id, successor])

/** Whether the holder of `old` signed a statement that names `successor`. */
export const verifySuccession = (old: EarlierKey, successor: string): boolean =>
  verifySignature(serializeSuccession(old, successor), old.succession, old.public_key)

export function verifyCheckpoint(checkpoint: Checkpoint, public_key: string): boolean {
  const { signature, ...signed } = checkpoint
  return verifySignature(serializeCheckpoint(signed), signature, public_key)
}

const serializeStatement = (kind: string, text: string): string => JSON.stringify(['probity-statement', kind, text])

export const verifyStatement = (kind: string, text: string, signature: string, public_key: string): boolean =>
  verifySignature(serializeStatement(kind, text), signature, public_key)

function verifySignature(text: string, signature: string, public_key: string): boolean {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: public_key }, format: 'jwk' })
    const bytes = Buffer.from(signature, 'base64url')
    // Decoding ignores stray characters and spare bits; only the canonical spelling of a signature is accepted.
    return bytes.toString('base64url') === signature && verify(null, Buffer.from(text), key, bytes)
  } catch {
    return false
  }
}
