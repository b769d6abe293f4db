/** Making and changing subjects: one path for a single one and for a thousand rows of a file. */
import type { Tx } from '../../../kernel/database/tx.ts'
import { fail } from '../../../kernel/problem.ts'
import { uuidv7 } from '../../../kernel/uuid.ts'
import { insertSubjects, lockByExternalId, type NewSubject, type SubjectRow, updateSubjects } from './queries.ts'
import { attributesFault, type ContentChange, changed, isSame } from './rules.ts'

export interface GivenSubject extends ContentChange {
  readonly subject_type: string
  readonly name: string
  readonly external_id?: string | undefined
}

export interface Upserted {
  /** `offboarded`: it exists, and its record may not change any more. */
  readonly outcome: 'created' | 'changed' | 'unchanged' | 'offboarded'
  readonly before: SubjectRow | null
  readonly subject: SubjectRow
}

/**
 * Makes each subject, or changes the one that has its external id, and says in the same order what became of it. External
 * ids must differ. Whoever loses a race finds the winner's row and changes that.
 */
export async function upsertSubjects(tx: Tx, given: readonly GivenSubject[]): Promise<Upserted[]> {
  const empty = { subject_type: '', external_id: null, name: '', segment: null, attributes: {} }
  const wanted = given.map((subject): NewSubject => ({ subject_id: uuidv7(), ...changed(empty, subject) }))
  const made = new Map((await insertSubjects(tx, wanted)).map((row) => [row.subject_id, row]))
  const known = wanted.filter(({ subject_id }) => !made.has(subject_id)).map(({ external_id }) => external_id as string)
  const there = new Map(
    (known.length > 0 ? await lockByExternalId(tx, known) : []).map((row) => [row.external_id, row]),
  )

  const outcomes = wanted.map(({ subject_id, external_id }, index): Upserted => {
    const row = made.get(subject_id)
    if (row) return { outcome: 'created', before: null, subject: row }
    const current = there.get(external_id) as SubjectRow
    if (current.state === 'offboarded') return { outcome: 'offboarded', before: current, subject: current }
    const same = isSame(current, changed(current, given[index] as GivenSubject))
    return { outcome: same ? 'unchanged' : 'changed', before: current, subject: current }
  })

  const changes = outcomes.flatMap(({ outcome, subject }, index) =>
    outcome === 'changed'
      ? [{ subject_id: subject.subject_id, ...changed(subject, given[index] as GivenSubject) }]
      : [],
  )
  if (changes.length === 0) return outcomes
  const after = new Map((await updateSubjects(tx, changes)).map((row) => [row.subject_id, row]))
  return outcomes.map((upserted) => ({
    ...upserted,
    subject: after.get(upserted.subject.subject_id) ?? upserted.subject,
  }))
}

export function expectAttributes(attributes: Record<string, unknown> | undefined): void {
  const fault = attributesFault(attributes)
  if (fault === null) return
  fail('conflict', {
    detail: `The attributes ${fault}.`,
    errors: [{ in: 'body', pointer: '#/attributes', detail: fault }],
  })
}

export function expectActive(subject: SubjectRow): void {
  if (subject.state !== 'active') {
    fail('transition_not_allowed', 'The subject is offboarded; its record stays as it was.')
  }
}
