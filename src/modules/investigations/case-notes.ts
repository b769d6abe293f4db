/** What people write about a case: encrypted for its subject, so that it becomes unreadable with the subject's key. */
import type { Tx } from '#kernel/database/tx.ts'
import { encryptCopy, openCopies } from '#kernel/encryption/copies.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { type InvestigationRow, insertNote } from './queries.ts'

const toLocation = (note_id: string) => ({ table: 'investigation_note', row_id: note_id, column: 'content' })
const toOwner = ({ subject_id }: Pick<InvestigationRow, 'subject_id'>) => ({ kind: 'subject' as const, id: subject_id })

type NotedCase = Pick<InvestigationRow, 'investigation_id' | 'subject_id'>

/** `revision`: of the act that it was written with; null for a note of its own. */
export async function addNote(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  investigation: NotedCase,
  { text, revision = null }: { readonly text: string; readonly revision?: number | null },
): Promise<string> {
  const note_id = uuidv7()
  const content = await encryptCopy(kernel, tx, { owner: toOwner(investigation), at: toLocation(note_id), text })
  await insertNote(tx, { note_id, investigation_id: investigation.investigation_id, revision, content })
  return note_id
}

export interface OpenedNote {
  readonly note: string | null
  /** Null where nothing was written. */
  readonly note_state: 'readable' | 'erased' | 'altered' | null
}

/** The texts of rows with an encrypted note, or with a reason in place of it, in their order. */
export async function openNotes(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  investigation: NotedCase,
  rows: readonly {
    readonly note_id: string | null
    readonly note: Buffer | null
    readonly reason?: string | null
  }[],
): Promise<OpenedNote[]> {
  const written = rows.flatMap(({ note_id, note }) => (note_id !== null && note !== null ? [{ note_id, note }] : []))
  const opened = await openCopies(
    kernel,
    tx,
    written.map(({ note_id, note }) => ({ owner: toOwner(investigation), at: toLocation(note_id), stored: note })),
  )
  const byId = new Map(written.map(({ note_id }, at) => [note_id, opened[at]]))
  return rows.map(({ note_id, reason = null }) => {
    if (reason !== null) return { note: reason, note_state: 'readable' }
    const text = note_id === null ? undefined : byId.get(note_id)
    if (text === undefined) return { note: null, note_state: null }
    return typeof text === 'string' ? { note: null, note_state: text } : { note: text.text, note_state: 'readable' }
  })
}
