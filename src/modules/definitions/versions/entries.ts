/** Parses stored entries. Fails when the text does not match its hash, without including the text. */
import { fail } from '#kernel/problem.ts'
import type { Entry } from '#registry/adapter.ts'
import { entryHash } from '#registry/content/hashes.ts'
import type { DifferenceRow } from './queries.ts'

export function getVerifiedText({
  data,
  hash,
}: {
  readonly data: string | null
  readonly hash: Buffer | null
}): string {
  if (data === null || hash === null || entryHash(data) !== hash.toString('hex')) return fail('content_corrupt')
  return data
}
export const parseEntry = (row: { readonly data: string | null; readonly hash: Buffer | null }): Entry =>
  JSON.parse(getVerifiedText(row)) as Entry

export const parseDifference = (row: DifferenceRow): [Entry | null, Entry | null] => [
  row.before === null ? null : parseEntry({ data: row.before, hash: row.before_hash }),
  row.after === null ? null : parseEntry({ data: row.after, hash: row.after_hash }),
]
