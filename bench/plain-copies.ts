/**
 * In place of `src/kernel/encryption/copies.ts` in the bundles without encryption: copies are stored as plain text, no key is
 * made or read. Neither compressed nor encrypted is what they were before ADR 0066.
 */
import type * as copies from '#kernel/encryption/copies.ts'

type Copies = typeof copies

const store = (text: string): Buffer => Buffer.from(text, 'utf8')
const read = (stored: Buffer): string => stored.toString('utf8')

export const packBytes: Copies['packBytes'] = (bytes) => bytes
export const unpackBytes: Copies['unpackBytes'] = (packed) => packed
export const packText: Copies['packText'] = store
export const unpackText: Copies['unpackText'] = read

export const toCopyOwner: Copies['toCopyOwner'] = (subject_id, object_id) =>
  subject_id === null ? { kind: 'object', id: object_id } : { kind: 'subject', id: subject_id }

export const encryptCopy: Copies['encryptCopy'] = async (_kernel, _tx, { text }) => store(text)
export const encryptFirstCopy: Copies['encryptFirstCopy'] = encryptCopy
export const prepareCopies: Copies['prepareCopies'] = async () => (copy) => store(copy.text)
export const encryptCopies: Copies['encryptCopies'] = async (_kernel, _tx, plain) =>
  plain.map(({ text }) => store(text))
export const encryptOrDiscard: Copies['encryptOrDiscard'] = async (_kernel, _tx, plain) =>
  plain.map(({ text }) => store(text))

export const openCopies: Copies['openCopies'] = async (_kernel, _tx, stored) =>
  stored.map((copy) => ({ text: read(copy.stored) }))
export const decryptCopies: Copies['decryptCopies'] = async (_kernel, _tx, stored) =>
  stored.map((copy) => read(copy.stored))
