/**
 * Immutable copies of personal content: text that is compressed, then encrypted for its owner. Whoever destroys the key of the owner
 * makes all of its copies unreadable, in backups too.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Tx } from '../database/tx.ts'
import { DecryptionFailed } from './failures.ts'
import type { KeyOwner, ValueEncryption, ValueLocation } from './value-encryption.ts'
import { createUnreadableValue } from './value-format.ts'

interface WithEncryption {
  readonly encryption: ValueEncryption
}

export interface PlainCopy {
  readonly owner: KeyOwner
  readonly at: ValueLocation
  readonly text: string
}

export interface EncryptedCopy {
  readonly owner: KeyOwner
  readonly at: ValueLocation
  readonly stored: Buffer
}

/** The subject that a record is about, or the record itself. */
export const toCopyOwner = (subject_id: string | null, object_id: string): KeyOwner =>
  subject_id === null ? { kind: 'object', id: object_id } : { kind: 'subject', id: subject_id }

/** First byte of the plaintext. */
const STORED = 0
const DEFLATED = 1
/** Below this length compressing costs more time than it saves space. */
const MIN_DEFLATED_BYTES = 512
const LEVEL = { level: 1 } as const

export const packText = (text: string): Buffer => packBytes(Buffer.from(text, 'utf8'))

export function packBytes(bytes: Buffer): Buffer {
  return bytes.length < MIN_DEFLATED_BYTES
    ? Buffer.concat([Buffer.from([STORED]), bytes])
    : Buffer.concat([Buffer.from([DEFLATED]), deflateRawSync(bytes, LEVEL)])
}

export function unpackBytes(packed: Buffer): Buffer {
  const bytes = packed.subarray(1)
  return packed[0] === DEFLATED ? inflateRawSync(bytes) : bytes
}

export const unpackText = (packed: Buffer): string => unpackBytes(packed).toString('utf8')

/** Reads the keys of these owners. The function encrypts their copies without another statement; null for an owner that was erased. */
export async function prepareCopies(
  { encryption }: WithEncryption,
  tx: Tx,
  owners: readonly KeyOwner[],
): Promise<(copy: PlainCopy) => Buffer | null> {
  const encrypt = await encryption.prepareEncryption(tx, owners)
  return ({ owner, at, text }) => encrypt({ owner, at, plaintext: packText(text) })
}

/** Null for a copy whose owner was erased. */
export async function encryptCopies(
  kernel: WithEncryption,
  tx: Tx,
  copies: readonly PlainCopy[],
): Promise<(Buffer | null)[]> {
  if (copies.length === 0) return []
  const encrypt = await prepareCopies(
    kernel,
    tx,
    copies.map(({ owner }) => owner),
  )
  return copies.map(encrypt)
}

/** Copies that an earlier release stored plain, in one table. */
export interface PlainCopies {
  readonly table: string
  /** Encrypts at most `count` rows, of one subject or of all, and returns how many: 0 when nothing is left. */
  readonly encrypt: (
    kernel: WithEncryption,
    tx: Tx,
    selection: { readonly subject_id: string | null; readonly count: number },
  ) => Promise<number>
}

/** As `encryptCopies`; a copy of an erased owner becomes bytes that nobody can read. */
export async function encryptOrDiscard(
  kernel: WithEncryption,
  tx: Tx,
  copies: readonly PlainCopy[],
): Promise<Buffer[]> {
  return (await encryptCopies(kernel, tx, copies)).map((bytes) => bytes ?? createUnreadableValue())
}

/** Fails with `erased` where the owner was erased. */
export async function encryptCopy({ encryption }: WithEncryption, tx: Tx, copy: PlainCopy): Promise<Buffer> {
  return encryption.encrypt(tx, copy.owner, copy.at, packText(copy.text))
}

/** The first copy of an owner that this transaction creates. */
export async function encryptFirstCopy({ encryption }: WithEncryption, tx: Tx, copy: PlainCopy): Promise<Buffer> {
  return encryption.encryptFirst(tx, copy.owner, copy.at, packText(copy.text))
}

export type OpenedCopy = { readonly text: string } | 'erased' | 'altered'

/** Each copy with its text, or why it has none. Reads the keys of all owners in one statement. */
export async function openCopies(
  { encryption }: WithEncryption,
  tx: Tx,
  copies: readonly EncryptedCopy[],
): Promise<OpenedCopy[]> {
  const opened = await encryption.decryptAll(tx, copies)
  return opened.map((value) => {
    if (value === null) return 'erased'
    return value instanceof DecryptionFailed ? 'altered' : { text: unpackText(value) }
  })
}

/** Null for a copy whose owner was erased; fails where one was altered. */
export async function decryptCopies(
  { encryption }: WithEncryption,
  tx: Tx,
  copies: readonly EncryptedCopy[],
): Promise<(string | null)[]> {
  const opened = await encryption.decryptAll(tx, copies)
  return opened.map((value) => {
    if (value instanceof DecryptionFailed) throw value
    return value && unpackText(value)
  })
}
