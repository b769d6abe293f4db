/**
 * The narrative of a case: paragraphs that state facts, each citing evidence, and paragraphs that assess them. Versions are encrypted for
 * the subject and never change.
 */
import { hash, randomBytes } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { encryptCopy, openCopies } from '#kernel/encryption/copies.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { evidenceStore } from '#modules/documents/index.ts'
import type { Guard } from '../lifecycle/guards.ts'
import { INVESTIGATION } from '../model.ts'
import type { InvestigationRow } from '../queries.ts'
import { findNarrative, insertNarrative, type NarrativeRow } from './queries.ts'

export const paragraphKinds = ['fact', 'assessment'] as const

export interface Paragraph {
  readonly kind: (typeof paragraphKinds)[number]
  readonly text: string
  readonly cites: readonly string[]
}

type NarratedCase = Pick<InvestigationRow, 'investigation_id' | 'subject_id'>
type EvidenceKernel = Capabilities<'auditKeys' | 'encryption' | 'integrity' | 'modules'>

const toLocation = ({ investigation_id }: NarratedCase, version: number) => ({
  table: 'investigation_narrative',
  row_id: `${investigation_id}/${version}`,
  column: 'content',
})
const toOwner = ({ subject_id }: NarratedCase) => ({ kind: 'subject' as const, id: subject_id })

/** The next version. The hash is that of the stored text, which contains its salt. */
export async function writeNarrative(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  investigation: NarratedCase,
  { paragraphs, version }: { readonly paragraphs: readonly Paragraph[]; readonly version: number },
): Promise<NarrativeRow> {
  const text = canonicalJson({ salt: randomBytes(16).toString('hex'), paragraphs: paragraphs.map(toPlain) })
  const copy = { owner: toOwner(investigation), at: toLocation(investigation, version), text }
  const content = await encryptCopy(kernel, tx, copy)
  const content_hash = hash('sha256', text, 'hex')
  const stored = { version, content, content_hash, paragraphs: paragraphs.length }
  return (await insertNarrative(tx, investigation.investigation_id, stored)) ?? fail('not_found')
}

const toPlain = ({ kind, text, cites }: Paragraph) => ({ kind, text, cites: [...cites] })

/** 410 where the subject was erased. */
export async function readParagraphs(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  investigation: NarratedCase,
  row: NarrativeRow,
): Promise<{ readonly paragraphs: readonly Paragraph[]; readonly text: string }> {
  const at = toLocation(investigation, row.version)
  const [opened] = await openCopies(kernel, tx, [{ owner: toOwner(investigation), at, stored: row.content }])
  if (opened === 'erased') fail('erased')
  if (opened === undefined || opened === 'altered' || hash('sha256', opened.text, 'hex') !== row.content_hash)
    return fail('content_corrupt')
  return { paragraphs: (JSON.parse(opened.text) as { paragraphs: Paragraph[] }).paragraphs, text: opened.text }
}

/** Attached or detached; oldest first. */
export const listCaseEvidence = (tx: Tx, investigation_id: string) =>
  evidenceStore.listEvidenceByOwner(tx, INVESTIGATION, investigation_id)

export interface ShownParagraph extends Paragraph {
  /** Cites evidence that is not shown; how much is not said. */
  readonly cites_more: boolean
}

/** Without citations of what the reader may not see: its ids are not shown, wherever they were written down. */
export function showParagraphs(
  paragraphs: readonly Paragraph[],
  evidence: readonly Pick<evidenceStore.EvidenceRow, 'evidence_id'>[],
): ShownParagraph[] {
  const known = new Set(evidence.map(({ evidence_id }) => evidence_id))
  return paragraphs.map(({ kind, text, cites }) => {
    const shown = cites.filter((id) => known.has(id))
    return { kind, text, cites: shown, cites_more: shown.length < cites.length }
  })
}

/** Such as "Conclusion:", which the skeleton offers to be finished. */
export const isOnlyLabel = (text: string): boolean => /^[^.!?:\n]{1,40}:$/.test(text.trim())

/**
 * A paragraph that is only begun, a fact without a citation, and a citation of evidence that is not there, was detached or erased; with `verified` also of evidence whose
 * object has changed, which reads the object of every cited item.
 */
export async function findFindings(
  kernel: EvidenceKernel,
  tx: Tx,
  paragraphs: readonly Paragraph[],
  { evidence, verified }: { readonly evidence: readonly evidenceStore.EvidenceRow[]; readonly verified: boolean },
): Promise<Guard[]> {
  const found: Guard[] = []
  const byId = new Map(evidence.map((item) => [item.evidence_id, item]))
  for (const [at, { kind, cites, text }] of paragraphs.entries()) {
    const pointer = `#/narrative/paragraphs/${at}`
    if (isOnlyLabel(text))
      found.push({
        code: 'paragraph_unfinished',
        pointer,
        detail: `Paragraph ${at + 1} says only "${text.trim()}". Finish or remove it.`,
      })
    if (kind === 'fact' && cites.length === 0)
      found.push({
        code: 'fact_without_citation',
        pointer,
        detail: `Paragraph ${at + 1} states a fact without evidence.`,
      })
    const shown = cites.flatMap((id) => byId.get(id) ?? [])
    // Once for a paragraph: a reader without access learns neither which nor how many there are.
    if (shown.length < cites.length)
      found.push({
        code: 'citation_unknown',
        pointer: `${pointer}/cites`,
        detail: `Paragraph ${at + 1} cites what is no evidence of this investigation that is available to you.`,
      })
    for (const [place, item] of shown.entries()) {
      const code = await judgeCitation(kernel, tx, item, verified)
      if (code === null) continue
      const detail = `Paragraph ${at + 1} cites ${item.evidence_id}, which ${citationTexts[code]}.`
      found.push({ code, pointer: `${pointer}/cites/${place}`, detail })
    }
  }
  return found
}

const citationTexts = {
  citation_detached: 'was detached',
  citation_erased: 'was erased',
  citation_changed: 'has changed since it was attached',
} as const

async function judgeCitation(
  kernel: EvidenceKernel,
  tx: Tx,
  item: evidenceStore.EvidenceRow,
  verified: boolean,
): Promise<keyof typeof citationTexts | null> {
  if (item.detached_at !== null) return 'citation_detached'
  if (item.erased_at !== null) return 'citation_erased'
  if (!verified) return null
  const { result } = await evidenceStore.compareEvidence(kernel, tx, item)
  return result === 'unchanged' ? null : result === 'gone' ? 'citation_erased' : 'citation_changed'
}

/** What is missing of the narrative before an outcome can be proposed. */
export async function listNarrativeGuards(
  kernel: EvidenceKernel,
  tx: Tx,
  investigation: NarratedCase,
  verified: boolean,
): Promise<Guard[]> {
  const row = await findNarrative(tx, investigation.investigation_id)
  if (!row || row.paragraphs === 0)
    return [{ code: 'narrative_missing', pointer: '#/narrative', detail: 'The investigation has no narrative.' }]
  const opened = await readParagraphs(kernel, tx, investigation, row).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'erased') return undefined
    throw error
  })
  if (!opened) return [{ code: 'narrative_erased', pointer: '#/narrative', detail: 'The subject was erased.' }]
  const { paragraphs } = opened
  const evidence = await listCaseEvidence(tx, investigation.investigation_id)
  return findFindings(kernel, tx, paragraphs, { evidence, verified })
}
