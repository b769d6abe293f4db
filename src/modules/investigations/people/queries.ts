/** SQL of notes. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'

export interface NoteRow {
  readonly note_id: string
  readonly note: Buffer
  readonly created_at: string
  readonly created_by: string
}

/** Newest first; those of acts too. */
export const listNotes = (tx: Tx, investigation_id: string, after: PagePosition, count: number) =>
  tx.query<NoteRow>(
    `select note_id, content as note, created_at, created_by from app.investigation_note
      where tenant_id = $1 and investigation_id = $2 and ($3::uuid is null or note_id < $3) order by note_id desc limit $4`,
    [tx.tenant_id, investigation_id, after?.[0] ?? null, count],
  )

export const findNoteTime = (tx: Tx, note_id: string) =>
  tx.find<{ created_at: string; created_by: string }>(
    'select created_at, created_by from app.investigation_note where tenant_id = $1 and note_id = $2',
    [tx.tenant_id, note_id],
  )
