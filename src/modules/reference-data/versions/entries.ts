/** Stored entries as values: one whose text no longer has its hash is never given out, and never quoted. */
import { fail } from '../../../kernel/problem.ts'
import type { Entry } from '../../../registry/adapter.ts'
import { entryHash } from '../../../registry/content/hashes.ts'
import type { DifferenceRow } from './queries.ts'

export function textOf({ data, hash }: { readonly data: string | null; readonly hash: Buffer | null }): string {
  if (data === null || hash === null || entryHash(data) !== hash.toString('hex')) return fail('content_corrupt')
  return data
}
export const entryOf = (row: { readonly data: string | null; readonly hash: Buffer | null }): Entry =>
  JSON.parse(textOf(row)) as Entry

export const sidesOf = (row: DifferenceRow): [Entry | null, Entry | null] => [
  row.before === null ? null : entryOf({ data: row.before, hash: row.before_hash }),
  row.after === null ? null : entryOf({ data: row.after, hash: row.after_hash }),
]
