/**
 * Salts of decision documents: 128 random bits each, as base64url. With the salt unknown, a document's hash says nothing about
 * what was decided on, even to somebody who can guess every input.
 */
import { randomFillSync } from 'node:crypto'

const SALT_BYTES = 16
/** Characters of a salt. */
export const SALT_LENGTH = 22
const SALT_PATTERN = /^[A-Za-z0-9_-]{22,}$/

/** One call to the random source serves many salts: a batch takes thousands of them a second. */
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
