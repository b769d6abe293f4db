/** SQL of narratives, and of the evidence that they cite. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'

export interface NarrativeRow {
  readonly version: number
  readonly content: Buffer
  readonly content_hash: string
  readonly paragraphs: number
  readonly written_at: string
  readonly written_by: string
}

const columns = 'n.version, n.content, n.content_hash, n.paragraphs, n.written_at, n.written_by'

export const insertNarrative = (
  tx: Tx,
  investigation_id: string,
  narrative: Pick<NarrativeRow, 'version' | 'content' | 'content_hash' | 'paragraphs'>,
) =>
  tx.find<NarrativeRow>(
    `insert into app.investigation_narrative as n (tenant_id, investigation_id, version, content, content_hash, paragraphs, written_by)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${columns}`,
    [
      tx.tenant_id,
      investigation_id,
      narrative.version,
      narrative.content,
      narrative.content_hash,
      narrative.paragraphs,
      tx.actor,
    ],
  )

/** The newest, or the one with this number. */
export const findNarrative = (tx: Tx, investigation_id: string, version: number | null = null) =>
  tx.find<NarrativeRow>(
    `select ${columns} from app.investigation_narrative n
      where n.tenant_id = $1 and n.investigation_id = $2 and ($3::bigint is null or n.version = $3) order by n.version desc limit 1`,
    [tx.tenant_id, investigation_id, version],
  )

/** Newest first, without content. */
export const listNarratives = (tx: Tx, investigation_id: string, after: PagePosition, count: number) =>
  tx.query<Omit<NarrativeRow, 'content'>>(
    `select version, content_hash, paragraphs, written_at, written_by from app.investigation_narrative
      where tenant_id = $1 and investigation_id = $2 and ($3::bigint is null or version < $3) order by version desc limit $4`,
    [tx.tenant_id, investigation_id, after?.[0] ?? null, count],
  )

export interface AlertFactsRow {
  readonly title: string
  readonly sentence: string | null
  readonly facts: Readonly<Record<string, string>>
  readonly first_seen_at: string
}

/** Those that the caller may see, oldest link first. */
export const listAlertFacts = (tx: Tx, investigation_id: string) =>
  tx.query<AlertFactsRow>(
    `select a.title, a.explanation ->> 'sentence' as sentence, a.facts, a.first_seen_at from app.investigation_alert l
       join app.alert a on a.tenant_id = l.tenant_id and a.alert_id = l.alert_id
      where l.tenant_id = $1 and l.investigation_id = $2 order by l.linked_at, l.alert_id`,
    [tx.tenant_id, investigation_id],
  )
