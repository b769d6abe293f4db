/** What a decision looks like in reports: its data, and the blocks that say what was decided and why. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { ListVersion, ReportBlock, ReportFormat, Tone } from '#kernel/report-template.ts'
import { listBands } from '#modules/analytics/index.ts'
import { decisionRecords } from '#modules/evaluations/index.ts'

export interface NamedBand {
  readonly band: string
  readonly title: string
  readonly tone: Tone
}

/** The lowest band is good, the two highest are bad. */
export async function loadBands(kernel: Capabilities<'caches'>, tx: Tx) {
  const { bands, list } = await listBands(kernel, tx)
  const toTone = (at: number): Tone => {
    if (at === 0) return 'good'
    return at >= Math.max(1, bands.length - 2) ? 'bad' : 'warning'
  }
  return { bands: bands.map((band, at): NamedBand => ({ ...band, tone: toTone(at) })), list }
}

export const describeBand = (bands: readonly NamedBand[], band: string | null): string =>
  band === null ? 'not rated' : (bands.find((one) => one.band === band)?.title ?? band)
export const getTone = (bands: readonly NamedBand[], band: string | null): Tone =>
  bands.find((one) => one.band === band)?.tone ?? 'neutral'

export async function collectDecision(kernel: Capabilities<'encryption' | 'integrity'>, tx: Tx, evaluation_id: string) {
  const { row, content, manifest } = await decisionRecords.getIntactEvaluation(kernel, tx, evaluation_id)
  const view = decisionRecords.toEvaluationView(row, content, manifest)
  const { factors, triggers, rows, summary, inputs } = content.explanation
  return { ...view, explanation: { factors, triggers, rows, summary, inputs }, used: content.used }
}
export type CollectedDecision = Awaited<ReturnType<typeof collectDecision>>

export const toListVersions = ({ lists }: CollectedDecision): ListVersion[] =>
  lists.map(({ list_key, version, content_hash }) => ({ list_key, version, content_hash }))

/** In the order of their keys and versions, each once. */
export function mergeListVersions(versions: readonly ListVersion[]): ListVersion[] {
  const byKey = new Map(versions.map((one) => [`${one.list_key} ${one.content_hash}`, one]))
  return [...byKey.values()].sort((a, b) =>
    a.list_key < b.list_key ? -1 : a.list_key > b.list_key ? 1 : a.version - b.version,
  )
}

export const showValue = (value: unknown): string => {
  if (value === null || value === undefined) return '–'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(showValue).join(', ')
  if (typeof value !== 'object') return String(value)
  const members = Object.entries(value).map(([name, one]) => `${name} ${showValue(one)}`)
  return members.length === 0 ? 'none' : `(${members.join(', ')})`
}

export function describeOutcome(decision: CollectedDecision, bands: readonly NamedBand[], format: ReportFormat) {
  const { outcome } = decision
  if (outcome.family === 'rule')
    return { tone: outcome.hit ? ('bad' as const) : ('good' as const), title: outcome.hit ? 'Hit' : 'No hit' }
  return {
    tone: getTone(bands, outcome.band),
    title: `${describeBand(bands, outcome.band)}, score ${format.share(outcome.score_bps)}`,
  }
}

/** Reasons, factors and triggers of a decision. */
export function arrangeReasons(
  decision: CollectedDecision,
  bands: readonly NamedBand[],
  format: ReportFormat,
): ReportBlock[] {
  const { explanation, outcome } = decision
  const { factors, triggers, rows } = explanation
  // The table of factors has the sentences about them.
  const isOfFactor = (text: string): boolean => factors.some(({ title }) => text.startsWith(`${title} contributes `))
  const blocks: ReportBlock[] = explanation.summary
    .filter((text) => !isOfFactor(text))
    .map((text) => ({ kind: 'text', text }))
  if (outcome.scored_band !== null && outcome.scored_band !== outcome.band)
    blocks.push({
      kind: 'note',
      text: `The score alone gives ${describeBand(bands, outcome.scored_band)}; a trigger raised it to ${describeBand(bands, outcome.band)}.`,
    })
  if (factors.length > 0) {
    const sorted = [...factors].sort((a, b) => Number(b.contribution_bps) - Number(a.contribution_bps))
    blocks.push(
      {
        kind: 'chart',
        type: 'bar',
        title: 'Contribution of each factor to the score, in basis points',
        labels: sorted.map(({ title }) => title),
        series: [{ title: 'Contribution', values: sorted.map((one) => Math.round(Number(one.contribution_bps))) }],
      },
      {
        kind: 'table',
        title: 'Factors',
        columns: [
          { title: 'Factor', width: 3, style: 'strong' },
          { title: 'Value', width: 3 },
          { title: 'Score', width: 0, align: 'right' },
          { title: 'Weight', width: 0, align: 'right' },
          { title: 'Reason', width: 6 },
        ],
        rows: sorted.map((one) => [
          one.title,
          Object.values(one.read).map(showValue).join('; ') || '–',
          format.share(one.score_bps),
          format.share(one.weight_bps),
          one.reason,
        ]),
        empty: 'No factor was scored.',
      },
    )
  }
  if (triggers.length > 0 || outcome.family === 'matrix')
    blocks.push({
      kind: 'table',
      title: 'Triggers that fired',
      columns: [
        { title: 'Trigger', width: 3, style: 'strong' },
        { title: 'At least', width: 2 },
        { title: 'Actions', width: 3 },
        { title: 'Reason', width: 5 },
      ],
      rows: triggers.map((one) => [
        one.title,
        one.floor_band === null ? '–' : describeBand(bands, one.floor_band),
        one.required_actions.join(', ') || '–',
        one.reason,
      ]),
      empty: 'No trigger fired.',
    })
  if (rows.length > 0)
    blocks.push({
      kind: 'table',
      title: 'Rows of the rule that fired',
      columns: [
        { title: 'Row', width: 2, style: 'strong' },
        { title: 'Reason', width: 5 },
      ],
      rows: rows.map((one) => [one.key, one.reason ?? '–']),
      empty: '–',
    })
  return blocks
}
