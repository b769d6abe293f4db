/** Optimistic concurrency: compares `expected_revision` in the body (409) and `If-Match` (412) with the stored revision. */
import { createHash } from 'node:crypto'
import { fail } from './problem.ts'
import type { RequestMetadata } from './route.ts'

export const toEtag = (revision: number | string): string => `"${revision}"`

/** For a reply that contains more than the revised resource, such as what is in force: the revision and a digest of the reply. */
export const toContentEtag = (value: { readonly revision: number }): string =>
  toEtag(`${value.revision}-${createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22)}`)

const matchesRevision = (tag: string, revision: number): boolean =>
  tag === toEtag(revision) || tag.startsWith(`"${revision}-`)

export function assertRevision(
  current: number,
  input: { readonly request: Pick<RequestMetadata, 'if_match'>; readonly body?: unknown },
): void {
  const { if_match } = input.request
  if (if_match !== undefined && if_match !== '*' && !if_match.some((tag) => matchesRevision(tag, current))) {
    fail('precondition_failed')
  }
  const expected = (input.body as { expected_revision?: number } | undefined)?.expected_revision
  if (expected !== undefined && expected !== current) {
    fail('revision_stale', `The current revision is ${current}, not ${expected}. Read it again and try again.`)
  }
}
