/** Creates and changes subjects; one code path for single requests and for rows of a bulk file. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertSubjects, lockByExternalId, type NewSubject, type SubjectRow, updateSubjects } from './queries.ts'
import { withEarlierVersions } from './stored-versions.ts'
import { applyChange, findAttributesFault, isSameContent, type SubjectContentChange } from './subject-content.ts'

export interface SubjectInput extends SubjectContentChange {
  readonly subject_type: string
  readonly name: string
  readonly external_id?: string | undefined
}

export interface UpsertResult {
  /** `offboarded`: the subject exists, but its record may no longer change. */
  readonly outcome: 'created' | 'changed' | 'unchanged' | 'offboarded'
  readonly before: SubjectRow | null
  readonly subject: SubjectRow
}

/**
 * Creates each subject, or changes the one with the same external id, and returns the results in the same order. External ids
 * must be distinct. A concurrent insert of the same external id is found and changed.
 */
export async function upsertSubjects(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  given: readonly SubjectInput[],
): Promise<UpsertResult[]> {
  const empty = { subject_type: '', external_id: null, name: '', segment: null, attributes: {} }
  const wanted = given.map((subject): NewSubject => ({ subject_id: uuidv7(), ...applyChange(empty, subject) }))
  const made = new Map((await insertSubjects(tx, wanted)).map((row) => [row.subject_id, row]))
  const known = wanted.filter(({ subject_id }) => !made.has(subject_id)).map(({ external_id }) => external_id as string)
  const there = new Map(
    (known.length > 0 ? await lockByExternalId(tx, known) : []).map((row) => [row.external_id, row]),
  )

  const outcomes = wanted.map(({ subject_id, external_id }, index): UpsertResult => {
    const row = made.get(subject_id)
    if (row) return { outcome: 'created', before: null, subject: row }
    const current = there.get(external_id) as SubjectRow
    if (current.state === 'offboarded') return { outcome: 'offboarded', before: current, subject: current }
    const same = isSameContent(current, applyChange(current, given[index] as SubjectInput))
    return { outcome: same ? 'unchanged' : 'changed', before: current, subject: current }
  })

  const changes = outcomes.flatMap(({ outcome, subject }, index) =>
    outcome === 'changed'
      ? [
          {
            before: subject,
            after: { subject_id: subject.subject_id, ...applyChange(subject, given[index] as SubjectInput) },
          },
        ]
      : [],
  )
  if (changes.length === 0) return outcomes
  const after = new Map(
    (await updateSubjects(tx, await withEarlierVersions(kernel, tx, changes))).map((row) => [row.subject_id, row]),
  )
  return outcomes.map((upserted) => ({
    ...upserted,
    subject: after.get(upserted.subject.subject_id) ?? upserted.subject,
  }))
}

export function assertAttributes(attributes: Record<string, unknown> | undefined): void {
  const fault = findAttributesFault(attributes)
  if (fault === null) return
  fail('conflict', {
    detail: `The attributes ${fault}.`,
    errors: [{ in: 'body', pointer: '#/attributes', detail: fault }],
  })
}

export function assertActive(subject: SubjectRow): void {
  if (subject.state !== 'active') {
    fail('transition_not_allowed', 'The subject is offboarded; its record stays as it was.')
  }
}
