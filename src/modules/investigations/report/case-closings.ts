/** The times that a case was closed, each with its seal, and why it was opened again. */
import { toName } from '#kernel/auth/actor-names.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { ReportFormat } from '#kernel/report-template.ts'
import { openNotes } from '../case-notes.ts'
import type { InvestigationRow } from '../queries.ts'
import { listSeals, type SealRow } from '../seal/queries.ts'
import { loadReasonTitles, type ReasonTitle } from './outcome-titles.ts'
import { listActNotes } from './queries.ts'

export interface Closing {
  readonly seal_no: number
  readonly manifest_hash: string
  readonly outcome: ReasonTitle
  readonly proposed_by: string | null
  readonly closed_by: string
  readonly closed_at: string
  readonly reopened: { readonly at: string; readonly by: string; readonly note: string | null } | null
}

interface SealedActs {
  readonly outcome?: string
  readonly proposal?: { readonly proposed_by: string | null }
}

/** Newest first. A case is opened again once after each closing, so the first reopening belongs to the first seal. */
export async function readClosings(
  kernel: Capabilities<'caches' | 'encryption'>,
  tx: Tx,
  row: InvestigationRow,
  seals?: readonly SealRow[],
): Promise<Closing[]> {
  const acts = (await listActNotes(tx, row.investigation_id)).filter(({ kind }) => kind === 'reopened')
  const notes = await openNotes(kernel, tx, row, acts)
  const closings: Closing[] = []
  for (const seal of seals ?? (await listSeals(tx, row.investigation_id))) {
    const { outcome = '–', proposal } = seal.manifest as SealedActs
    const act = acts[seal.seal_no - 1]
    closings.push({
      seal_no: seal.seal_no,
      manifest_hash: seal.manifest_hash,
      outcome: await loadReasonTitles(kernel, tx, outcome),
      proposed_by: proposal?.proposed_by ?? null,
      closed_by: seal.sealed_by,
      closed_at: seal.sealed_at,
      reopened: act ? { at: act.recorded_at, by: act.recorded_by, note: notes[seal.seal_no - 1]?.note ?? null } : null,
    })
  }
  return closings
}

export const listClosingActors = (closings: readonly Closing[]): (string | null)[] =>
  closings.flatMap(({ proposed_by, closed_by, reopened }) => [proposed_by, closed_by, reopened?.by ?? null])

/** One sentence for the closing, and one for what came after it. */
export function describeClosing(
  { seal_no, outcome, proposed_by, closed_by, closed_at, reopened }: Closing,
  names: Readonly<Record<string, string>>,
  format: ReportFormat,
): string {
  const title = outcome.title === outcome.code ? outcome.code : `${outcome.title} (${outcome.code})`
  const proposed = proposed_by === null ? '' : `, proposed by ${toName(names, proposed_by)}`
  const closed = `Closed ${format.instant(closed_at)} by ${toName(names, closed_by)}${proposed}, with the outcome ${title}; sealed as number ${seal_no}.`
  if (!reopened) return closed
  const because = reopened.note === null ? '' : ` because: “${reopened.note}”`
  return `${closed} Opened again ${format.instant(reopened.at)} by ${toName(names, reopened.by)}${because}.`
}
