/** Signed files of an investigation, for whoever writes and whoever verifies them. */
import { hash } from 'node:crypto'

/** The first has no hashes of texts; seals of it are verified as far as they go. */
export const SEAL_FORMATS = ['probity-investigation-seal/1', 'probity-investigation-seal/2'] as const
export const SEAL_FORMAT = 'probity-investigation-seal/2'
export const PACK_FORMATS = ['probity-investigation-pack/1', 'probity-investigation-pack/2'] as const
export const PACK_FORMAT = 'probity-investigation-pack/2'
/** Hashes of the files that evidence names. Archives of earlier releases have none. */
export const DOCUMENTS_FILE = 'documents.json'

/** The salt is erased with the subject, so that nobody finds the content by trying. */
export const hashSealedFile = (salt: string, name: string, bytes: Buffer): string =>
  hash('sha256', Buffer.concat([Buffer.from(`${salt}:${name}:`), bytes]), 'hex')
