/**
 * The arithmetic of the audit record: what of an event is hashed, how links follow each other, how events and chain ends
 * are authenticated, how a checkpoint is signed. Pure, and the same online and offline.
 */
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import type { Keyring } from '../seal.ts'

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
export const GENESIS = '0'.repeat(64)

/** A fixed order of members instead of canonical JSON: the same certainty at a fifth of the cost, a million times over. */
const eventText = (event: AuditEvent): string =>
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

export const eventHash = (event: AuditEvent): string => createHash('sha256').update(eventText(event)).digest('hex')

export const linkHash = (prev_hash: string, seq: number, hash_of_event: string): string =>
  createHash('sha256').update(`${prev_hash}:${seq}:${hash_of_event}`).digest('hex')

export interface Checkpoint extends ChainEnd {
  readonly tenant_id: string
  readonly created_at: string
  readonly key_id: string
  readonly signature: string
}

const checkpointText = (checkpoint: Omit<Checkpoint, 'signature'>): string =>
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

export interface AuditKeys {
  /** Raw Ed25519 public key, base64url: what an examiner keeps to verify checkpoints. */
  readonly public_key: string
  readonly key_id: string
  eventMac(event: AuditEvent): string
  eventFits(event: AuditEvent, mac: string): boolean
  headMac(tenant_id: string, end: ChainEnd): string
  signCheckpoint(tenant_id: string, end: ChainEnd, created_at: string): Checkpoint
  /** For values that may be personal: comparable with each other, not guessable from outside. */
  fingerprint(text: string): string
}

export function createAuditKeys(keyring: Pick<Keyring, 'derive'>): AuditKeys {
  const macKey = keyring.derive('audit-event')
  const seed = keyring.derive('audit-checkpoint')
  const privateKey = createPrivateKey({ key: Buffer.concat([ED25519_PREFIX, seed]), format: 'der', type: 'pkcs8' })
  const public_key = (createPublicKey(privateKey).export({ format: 'jwk' }) as { x: string }).x
  const key_id = createHash('sha256').update(public_key).digest('hex').slice(0, 16)
  const mac = (text: string): string => createHmac('sha256', macKey).update(text).digest('hex')
  return {
    public_key,
    key_id,
    eventMac: (event) => mac(eventText(event)),
    eventFits: (event, given) => {
      const wanted = Buffer.from(mac(eventText(event)))
      const found = Buffer.from(given)
      return wanted.length === found.length && timingSafeEqual(wanted, found)
    },
    headMac: (tenant_id, { seq, hash }) => mac(JSON.stringify(['head', tenant_id, seq, hash])),
    signCheckpoint: (tenant_id, { seq, hash }, created_at) => {
      const checkpoint = { tenant_id, seq, hash, created_at, key_id }
      return {
        ...checkpoint,
        signature: sign(null, Buffer.from(checkpointText(checkpoint)), privateKey).toString('base64url'),
      }
    },
    fingerprint: (text) => mac(`value:${text}`).slice(0, 32),
  }
}

function publicKeyFrom(public_key: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: public_key }, format: 'jwk' })
}

export function checkpointFits(checkpoint: Checkpoint, public_key: string): boolean {
  try {
    const { signature, ...signed } = checkpoint
    return verify(
      null,
      Buffer.from(checkpointText(signed)),
      publicKeyFrom(public_key),
      Buffer.from(signature, 'base64url'),
    )
  } catch {
    return false
  }
}
