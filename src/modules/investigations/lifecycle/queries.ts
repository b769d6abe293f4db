/** SQL of the acts on a case: narratives and seals. */
import type { Tx } from '#kernel/database/tx.ts'

export interface NewNarrative {
  readonly investigation_id: string
  readonly version: number
  readonly content: Buffer
  readonly content_hash: string
  readonly paragraphs: number
}

export const insertNarrative = (tx: Tx, narrative: NewNarrative) =>
  tx.run(
    `insert into app.investigation_narrative (tenant_id, investigation_id, version, content, content_hash, paragraphs, written_by)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      tx.tenant_id,
      narrative.investigation_id,
      narrative.version,
      narrative.content,
      narrative.content_hash,
      narrative.paragraphs,
      tx.actor,
    ],
  )

export interface NewSeal {
  readonly investigation_id: string
  readonly seal_no: number
  readonly manifest: object
  readonly manifest_hash: string
  readonly key_id: string
  readonly signature: string
}

export const insertSeal = (tx: Tx, seal: NewSeal) =>
  tx.run(
    `insert into app.investigation_seal (tenant_id, investigation_id, seal_no, manifest, manifest_hash, key_id, signature, sealed_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      tx.tenant_id,
      seal.investigation_id,
      seal.seal_no,
      JSON.stringify(seal.manifest),
      seal.manifest_hash,
      seal.key_id,
      seal.signature,
      tx.actor,
    ],
  )
