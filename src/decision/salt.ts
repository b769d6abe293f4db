/**
 * Salts of decision documents: 128 random bits each, as base64url. Without the salt, the hash of a document reveals nothing about its
 * inputs, even if every input can be guessed.
 */
import { createRandomPool } from '#kernel/random-pool.ts'

/** Characters of a salt. */
export const SALT_LENGTH = 22
const SALT_PATTERN = /^[A-Za-z0-9_-]{22,}$/

const takeRandom = createRandomPool(16, 512)

export const createSalt = (): string => takeRandom().toString('base64url')

export const isSalt = (value: unknown): value is string => typeof value === 'string' && SALT_PATTERN.test(value)
