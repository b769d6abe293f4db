/**
 * What each item of evidence is and says, in a line or two: what a contract admitted of an answer, what a decision came to, which file it is.
 * Content about another person than the case is left out: it is erased with that person.
 */
import { toName } from '#kernel/auth/actor-names.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import type { ReportFormat } from '#kernel/report-template.ts'
import { type evidenceStore, listDocumentFiles } from '#modules/documents/index.ts'
import { decisionRecords } from '#modules/evaluations/index.ts'
import { findCall, listResults } from '#modules/providers/index.ts'
import { findAdmittedFacts, payloadStore } from '#modules/source-contracts/index.ts'

/** Of the first record of an answer; the case has all. */
const MOST_FACTS = 8
const MOST_CHARACTERS = 80

export type EvidenceContent =
  | { readonly kind: 'document'; readonly media_type: string; readonly size_bytes: number; readonly state: string }
  | {
      readonly kind: 'provider_call'
      readonly result: 'found' | 'not_found'
      readonly is_admitted: boolean
      readonly records: number
      readonly facts: readonly { readonly name: string; readonly value: string }[]
      readonly more_facts: number
      /** A person entered it in place of the provider; absent in reports of earlier releases. */
      readonly entered?: evidenceStore.AnswerAuthor | null
    }
  | {
      readonly kind: 'evaluation'
      readonly family: string
      readonly band: string | null
      readonly score_bps: number | null
      readonly hit: boolean | null
    }
  | { readonly kind: 'of_another' }

export type EvidenceContents = Readonly<Record<string, EvidenceContent>>

type ContentKernel = Capabilities<'encryption' | 'integrity'>
type Item = Pick<evidenceStore.EvidenceRow, 'evidence_id' | 'kind' | 'object_id' | 'erased_at'>

export const EVIDENCE_HASHES =
  'Hashes of evidence are cut to their first 12 digits. They show that an object is unchanged, and say nothing about its content: that of a decision is the SHA-256 of its salted document, as its certificate has it; that of a document is of its encrypted bytes; the others are keyed. So a file has another hash here than the SHA-256 of the file, which is stated with documents and in “documents.json” of the archive of a case.'

function toText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const letters = [...text]
  return letters.length <= MOST_CHARACTERS ? text : `${letters.slice(0, MOST_CHARACTERS).join('')}…`
}

async function readCall(kernel: ContentKernel, tx: Tx, call_id: string, subject_id: string) {
  const call = await findCall(tx, call_id)
  const [answer] = call ? await listResults(tx, [call_id]) : []
  if (!call || !answer) return null
  if (call.subject_id !== subject_id) return { kind: 'of_another' } as const
  const [admission] = await payloadStore.findLastAdmissions(tx, [answer.payload_id])
  const records = admission?.admitted ? (await findAdmittedFacts(tx, kernel, admission.admission_id)).records : []
  const known = Object.entries(records[0]?.facts ?? {}).filter(([, value]) => value !== null && value !== '')
  const is_admitted = admission?.admitted === true
  const facts = known.slice(0, MOST_FACTS).map(([name, value]) => ({ name, value: toText(value) }))
  const more_facts = known.length - facts.length
  const { result, source, answered_by: entered_by, reason } = answer
  const entered = source === 'person' ? { entered_by, reason } : null
  return { kind: 'provider_call', result, is_admitted, records: records.length, facts, more_facts, entered } as const
}

async function readDecision(kernel: ContentKernel, tx: Tx, evaluation_id: string, case_subject: string) {
  const { row } = await decisionRecords.getIntactEvaluation(kernel, tx, evaluation_id)
  const { family, band, score_bps, hit, subject_id } = row
  if (subject_id !== null && subject_id !== case_subject) return { kind: 'of_another' } as const
  return { kind: 'evaluation', family, band, score_bps, hit } as const
}

/** By the id of the item. What was erased or altered, or what has no content to show, is not in it. */
export async function readEvidenceContents(
  kernel: ContentKernel,
  tx: Tx,
  { evidence, subject_id }: { readonly evidence: readonly Item[]; readonly subject_id: string },
): Promise<EvidenceContents> {
  const contents: Record<string, EvidenceContent> = {}
  const present = evidence.filter(({ object_id, erased_at }) => object_id !== null && erased_at === null)
  const named = present.flatMap(({ kind, object_id }) => (kind === 'document' ? [object_id as string] : []))
  const files = new Map((await listDocumentFiles(tx, named)).map((file) => [file.document_id, file]))
  for (const { evidence_id, kind, object_id } of present) {
    const file = files.get(object_id as string)
    try {
      const content =
        kind === 'provider_call'
          ? await readCall(kernel, tx, object_id as string, subject_id)
          : kind === 'evaluation'
            ? await readDecision(kernel, tx, object_id as string, subject_id)
            : null
      if (content !== null) contents[evidence_id] = content
    } catch (error) {
      if (!(error instanceof Problem)) throw error
    }
    if (kind === 'document' && file) {
      const { media_type, size_bytes, state } = file
      contents[evidence_id] = { kind: 'document', media_type, size_bytes, state }
    }
  }
  return contents
}

const KIB = 1024

function formatSize(size_bytes: number, format: ReportFormat): string {
  if (size_bytes < KIB) return `${format.count(size_bytes)} bytes`
  if (size_bytes < KIB * KIB) return `${format.count(Math.round(size_bytes / KIB))} KiB`
  return `${format.count(Math.round(size_bytes / (KIB * KIB)))} MiB`
}

/** As the pages of a case call them. */
const kindTitles: Readonly<Record<string, string>> = {
  document: 'Document',
  provider_call: 'Answer of a provider',
  match: 'Match',
  evaluation: 'Decision',
  subject_version: 'Record of the subject',
  transaction: 'Transaction',
  ownership_graph: 'Ownership',
  external_reference: 'Reference',
}

const toWords = (name: string): string => name.replaceAll('_', ' ')

function describeAnswer(content: EvidenceContent & { readonly kind: 'provider_call' }, format: ReportFormat): string {
  const { result, is_admitted, records, facts, more_facts } = content
  if (result === 'not_found') return 'nothing was found'
  if (!is_admitted) return 'answered; no source contract admitted it'
  const said = facts.map(({ name, value }) => `${toWords(name)}: ${value}`)
  const more = [
    ...(more_facts > 0 ? [`${format.count(more_facts)} more fields`] : []),
    ...(records > 1 ? [`${format.count(records - 1)} more records`] : []),
  ]
  return [said.join('; ') || 'found, without fields', ...more].join('; ')
}

/** A reader must not take it for what the provider sent. */
export const describeEntered = (
  { entered_by, reason }: evidenceStore.AnswerAuthor,
  names: Readonly<Record<string, string>>,
): string => `entered by ${toName(names, entered_by)}${reason === null ? '' : `, because: ${reason}`}`

/** The people whom contents name. */
export const listContentActors = (contents: readonly (EvidenceContent | null)[]): string[] =>
  contents.flatMap((content) =>
    content?.kind === 'provider_call' && content.entered ? [content.entered.entered_by] : [],
  )

/** `kind` is that of the evidence, which also says what has no content to show. */
export function describeEvidenceContent(
  kind: string,
  content: EvidenceContent | undefined,
  { format, names }: { readonly format: ReportFormat; readonly names: Readonly<Record<string, string>> },
): string {
  const title = kindTitles[kind] ?? toWords(kind)
  switch (content?.kind) {
    case undefined:
      return title
    case 'of_another':
      return `${title} about somebody else, which is not repeated here`
    case 'document':
      return `${title}, ${content.media_type}, ${formatSize(content.size_bytes, format)}, ${content.state}`
    case 'provider_call':
      return content.entered
        ? `Answer in place of a provider, ${describeEntered(content.entered, names)}: ${describeAnswer(content, format)}`
        : `${title}: ${describeAnswer(content, format)}`
    case 'evaluation':
      if (content.family === 'rule') return `${title}: ${content.hit ? 'hit' : 'no hit'}`
      return `${title}: rated ${content.band ?? 'nothing'}, score ${format.share(content.score_bps)}`
  }
}
