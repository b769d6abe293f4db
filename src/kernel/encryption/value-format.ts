/**
 * The stored form of an encrypted value: format (1 byte, 2), number of the owner key (4 bytes, big-endian), nonce (12 bytes),
 * ciphertext, tag (16 bytes). What the value belongs to is authenticated and not stored, so a value that is moved to another
 * row, column or tenant cannot be decrypted.
 */
import { type KeyObject, randomBytes } from 'node:crypto'
import { decryptBytes, encryptBytes, KEY_BYTES, OVERHEAD_BYTES } from './aes-gcm.ts'
import { DecryptionFailed } from './failures.ts'

const FORMAT = 2
const HEADER_BYTES = 5

/** The column and row that hold the value. */
export interface ValueLocation {
  readonly table: string
  readonly row_id: string
  readonly column: string
}

const NAME = /^[a-z][a-z0-9_]{0,62}$/
/** Without the separator of the authenticated text. A key of several columns is joined with `/`. */
const ROW_ID = /^[A-Za-z0-9._:/-]{1,200}$/

function buildAad(tenant_id: string, { table, row_id, column }: ValueLocation): Buffer {
  if (!NAME.test(table) || !NAME.test(column) || !ROW_ID.test(row_id)) {
    throw new TypeError('The location of an encrypted value is a table, a row id and a column')
  }
  return Buffer.from(`${FORMAT}|${tenant_id}|${table}|${row_id}|${column}`)
}

export interface ValueKey {
  readonly tenant_id: string
  readonly key_no: number
  readonly key: Buffer | KeyObject
}

export function encryptValue({ tenant_id, key_no, key }: ValueKey, at: ValueLocation, plaintext: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt8(FORMAT, 0)
  header.writeUInt32BE(key_no, 1)
  return encryptBytes(key, plaintext, buildAad(tenant_id, at), header)
}

/** Has the form of a value under the first key of its owner. It was encrypted with a key that exists no longer. */
export const createUnreadableValue = (): Buffer =>
  encryptValue({ tenant_id: '', key_no: 1, key: randomBytes(KEY_BYTES) }, NOWHERE, Buffer.alloc(1))

const NOWHERE: ValueLocation = { table: 'nowhere', row_id: '0', column: 'none' }

/** The number of the owner key that decrypts the value. */
export function readKeyNumber(stored: Buffer): number {
  if (stored.length < HEADER_BYTES + OVERHEAD_BYTES) throw new DecryptionFailed('it is too short')
  if (stored.readUInt8(0) !== FORMAT) throw new DecryptionFailed('it is not an encrypted value of this version')
  return stored.readUInt32BE(1)
}

export function decryptValue({ tenant_id, key_no, key }: ValueKey, at: ValueLocation, stored: Buffer): Buffer {
  if (readKeyNumber(stored) !== key_no) throw new DecryptionFailed('it was encrypted with another key')
  return decryptBytes(key, stored.subarray(HEADER_BYTES), buildAad(tenant_id, at))
}
