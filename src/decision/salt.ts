/**
 * Salts of decision documents: 128 random bits each, as base64url. Without the salt, the hash of a document reveals nothing about its
 * inputs, even if every input can be guessed.
 */
import { randomFillSync } from 'node:crypto'

const SALT_BYTES = 16
/** Characters of a salt. */
export const SALT_LENGTH = 22
const SALT_PATTERN = /^[A-Za-z0-9_-]{22,}$/

/** One call to the random source gives many salts, since a batch needs thousands per second. */
const pool = Buffer.alloc(512 * SALT_BYTES)
let next = pool.length

export function createSalt(): string {
  if (next === pool.length) {
    randomFillSync(pool)
    next = 0
  }
  const salt = pool.toString('base64url', next, next + SALT_BYTES)
  next += SALT_BYTES
  return salt
}

export const isSalt = (value: unknown): value is string => typeof value === 'string' && SALT_PATTERN.test(value)
