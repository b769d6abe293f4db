/** Optimistic concurrency: `expected_revision` in the body (409) and `If-Match` (412) against the revision that is stored. */
import { createHash } from 'node:crypto'
import { fail } from './problem.ts'
import type { RequestFacts } from './route.ts'

export const etagOf = (revision: number | string): string => `"${revision}"`

/** For a reply that shows more than what is revised, such as what is in force: the revision, and a digest of all of it. */
export const etagOfAll = (value: { readonly revision: number }): string =>
  etagOf(`${value.revision}-${createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22)}`)

const names = (tag: string, revision: number): boolean => tag === etagOf(revision) || tag.startsWith(`"${revision}-`)

export function expectRevision(
  current: number,
  input: { readonly request: Pick<RequestFacts, 'if_match'>; readonly body?: unknown },
): void {
  const { if_match } = input.request
  if (if_match !== undefined && if_match !== '*' && !if_match.some((tag) => names(tag, current))) {
    fail('precondition_failed')
  }
  const expected = (input.body as { expected_revision?: number } | undefined)?.expected_revision
  if (expected !== undefined && expected !== current) {
    fail('revision_stale', `The current revision is ${current}, not ${expected}. Read it again and decide anew.`)
  }
}
