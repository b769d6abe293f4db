/** What a case found and who decided it, for reports about its subject: narrative, evidence and outcome as far as the reader may see them. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import { openNotes } from '../case-notes.ts'
import { listCaseEvidence, readParagraphs, showParagraphs } from '../narrative/narrative.ts'
import { findNarrative } from '../narrative/queries.ts'
import { findInvestigation, type InvestigationRow } from '../queries.ts'
import { listSeals } from '../seal/queries.ts'
import { readClosings } from './case-closings.ts'
import { readEvidenceContents } from './evidence-content.ts'
import { loadReasonTitles } from './outcome-titles.ts'
import { listActNotes, listEvidenceRestrictions } from './queries.ts'

type FindingsKernel = Capabilities<'caches' | 'encryption' | 'integrity'>

/** Gone with the person whom the case is about. */
async function readSealedNarrative(
  kernel: FindingsKernel,
  tx: Tx,
  row: InvestigationRow,
  { version, evidence }: { version: number | null; evidence: Awaited<ReturnType<typeof listCaseEvidence>> },
) {
  const stored = version === null ? undefined : await findNarrative(tx, row.investigation_id, version)
  if (!stored) return null
  try {
    const { paragraphs } = await readParagraphs(kernel, tx, row, stored)
    const { written_at, written_by } = stored
    return { version: stored.version, written_at, written_by, paragraphs: showParagraphs(paragraphs, evidence) }
  } catch (error) {
    if (error instanceof Problem && error.code === 'erased') return null
    throw error
  }
}

/** What people wrote when they proposed and closed it, newest act of each kind. */
async function readActNotes(kernel: FindingsKernel, tx: Tx, row: InvestigationRow) {
  const acts = await listActNotes(tx, row.investigation_id)
  const notes = await openNotes(kernel, tx, row, acts)
  const find = (kind: string) => {
    const at = acts.findLastIndex((act) => act.kind === kind)
    return notes[at]?.note ?? null
  }
  return { proposal_note: find('proposed'), closing_note: find('closed') }
}

/** Undefined where the caller does not see the case. Evidence is numbered as on its pages and in its own report. */
export async function collectCaseFindings(kernel: FindingsKernel, tx: Tx, investigation_id: string) {
  const row = await findInvestigation(tx, investigation_id)
  if (!row) return undefined
  const [seal] = row.state === 'closed' ? await listSeals(tx, investigation_id) : []
  const sealed_version = (seal?.manifest['narrative'] as { version: number } | null | undefined)?.version ?? null
  const evidence = await listCaseEvidence(tx, investigation_id)
  const contents = await readEvidenceContents(kernel, tx, { evidence, subject_id: row.subject_id })
  const code = row.outcome ?? row.proposed_outcome
  return {
    investigation_id,
    state: row.state,
    is_test: row.is_test,
    gathering: row.gathering,
    waiting_for: row.waiting_for,
    assignee: row.assignee,
    outcome: code === null ? null : await loadReasonTitles(kernel, tx, code),
    proposed_by: row.proposed_by,
    proposed_at: row.proposed_at,
    closed_by: row.closed_by,
    closed_at: row.closed_at,
    closings: await readClosings(kernel, tx, row),
    seal: seal ? { seal_no: seal.seal_no, manifest_hash: seal.manifest_hash, key_id: seal.key_id } : null,
    narrative: await readSealedNarrative(kernel, tx, row, { version: sealed_version, evidence }),
    ...(row.state === 'closed' || row.state === 'proposed'
      ? await readActNotes(kernel, tx, row)
      : { proposal_note: null, closing_note: null }),
    evidence: evidence.map((item, place) => ({
      evidence_id: item.evidence_id,
      no: `E${place + 1}`,
      kind: item.kind,
      title: item.title,
      source: item.source,
      reference: item.reference,
      content_hash: item.content_hash,
      obtained_at: item.obtained_at,
      added_by: item.added_by,
      is_detached: item.detached_at !== null,
      is_test: item.is_test,
      content: contents[item.evidence_id] ?? null,
    })),
    restrictions: [row.restriction_id, ...(await listEvidenceRestrictions(tx, investigation_id))],
  }
}
export type CaseFindings = NonNullable<Awaited<ReturnType<typeof collectCaseFindings>>>
