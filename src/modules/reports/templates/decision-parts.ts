/** What a decision looks like in reports: its data, and the blocks that say what was decided and why. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import type { CitedDecision, ListVersion, ReportBlock, ReportFormat, Tone } from '#kernel/report-template.ts'
import { listBands } from '#modules/analytics/index.ts'
import { documentStore, versionStore } from '#modules/definitions/index.ts'
import { decisionRecords } from '#modules/evaluations/index.ts'
import { matrixKind } from '#modules/risk-matrices/index.ts'
import { loadEntryTexts } from './entry-texts.ts'
import { toReadable } from './reason-text.ts'
import { type DeclaredInput, type InputTexts, loadInputTexts, loadTitles, showInput } from './value-texts.ts'

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

interface DefinitionName {
  readonly family: string
  readonly key: string
  /** The one of the tenant before that of the operator where it is not known. */
  readonly origin?: 'own' | 'shared'
  readonly version: number
}

/** The inputs as the matrix declares them; none for a rule, or a matrix that cannot be read. */
async function loadInputs(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { family, key, origin, version: number }: DefinitionName,
): Promise<readonly DeclaredInput[]> {
  if (family !== matrixKind.family) return []
  try {
    const dataset = await documentStore.getDefinition(tx, matrixKind.family, key, origin)
    const version = await versionStore.findVersion(tx, dataset, number)
    if (!version) return []
    const { inputs } = await documentStore.loadVersionText(kernel, tx, matrixKind, { dataset, version })
    return inputs as DeclaredInput[]
  } catch (error) {
    if (error instanceof Problem) return []
    throw error
  }
}

export interface MatrixTexts {
  readonly labels: Readonly<Record<string, string>>
  readonly input_texts: InputTexts
}

/** What values are called and how they are written, as the inputs of a matrix are declared. */
export async function loadMatrixTexts(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  matrix: { readonly key: string; readonly version: number },
  values: Readonly<Record<string, unknown>>,
): Promise<MatrixTexts> {
  const declared = await loadInputs(kernel, tx, { family: matrixKind.family, ...matrix })
  return {
    labels: Object.fromEntries(declared.map(({ name, title }) => [name, title])),
    input_texts: await loadInputTexts(kernel, tx, declared, values),
  }
}

export async function collectDecision(
  kernel: Capabilities<'caches' | 'encryption' | 'integrity'>,
  tx: Tx,
  evaluation_id: string,
) {
  const { row, content, manifest } = await decisionRecords.getIntactEvaluation(kernel, tx, evaluation_id)
  const view = decisionRecords.toEvaluationView(row, content, manifest)
  const { factors, triggers, rows, summary, inputs } = content.explanation
  const declared = await loadInputs(kernel, tx, view.definition)
  const values = Object.fromEntries(inputs.map(({ name, value }) => [name, value]))
  return {
    ...view,
    explanation: { factors, triggers, rows, summary, inputs },
    used: content.used,
    used_texts: await loadEntryTexts(kernel, tx, content.used),
    labels: Object.fromEntries(declared.map(({ name, title }) => [name, title])),
    input_texts: await loadInputTexts(kernel, tx, declared, values),
    action_titles: await loadTitles(kernel, tx, 'action-audiences', view.outcome.required_actions),
  }
}
export type CollectedDecision = Awaited<ReturnType<typeof collectDecision>>

export const toListVersions = ({ lists }: CollectedDecision): ListVersion[] =>
  lists.map(({ list_key, version, content_hash }) => ({ list_key, version, content_hash }))

export const toCited = ({ evaluation_id, document_hash, receipt }: CollectedDecision): CitedDecision => ({
  evaluation_id,
  document_sha256: document_hash,
  receipt_id: receipt.receipt_id,
  receipt_sha256: receipt.manifest_hash,
})

/** In the order of their keys and versions, each once. */
export function mergeListVersions(versions: readonly ListVersion[]): ListVersion[] {
  const byKey = new Map(versions.map((one) => [`${one.list_key} ${one.content_hash}`, one]))
  return [...byKey.values()].sort((a, b) =>
    a.list_key < b.list_key ? -1 : a.list_key > b.list_key ? 1 : a.version - b.version,
  )
}

export const nameActions = (
  actions: readonly string[],
  { action_titles }: Pick<CollectedDecision, 'action_titles'>,
): string => actions.map((action) => action_titles[action]?.title ?? action).join(', ')

export function describeOutcome(decision: CollectedDecision, bands: readonly NamedBand[], format: ReportFormat) {
  const { outcome } = decision
  if (outcome.family === 'rule')
    return { tone: outcome.hit ? ('bad' as const) : ('good' as const), title: outcome.hit ? 'Hit' : 'No hit' }
  return {
    tone: getTone(bands, outcome.band),
    title: `${describeBand(bands, outcome.band)}, score ${format.share(outcome.score_bps)}`,
  }
}

/** Said by the tables and by the sentence about the score. */
const isRepeated = (text: string, { explanation: { factors, triggers } }: CollectedDecision): boolean =>
  factors.some(({ title }) => text.startsWith(`${title} contributes `)) ||
  triggers.some(({ reason }) => reason === text) ||
  /^The (score is \d+ of 10000|band is raised from )/.test(text)

/** The one place with the exact points; everything else is a percentage. */
function describeScore(
  { outcome, explanation }: CollectedDecision,
  bands: readonly NamedBand[],
  format: ReportFormat,
): string {
  if (outcome.score_bps === null) return ''
  const score = `The score is ${format.share(outcome.score_bps)} (${format.count(outcome.score_bps)} of ${format.count(10_000)} points), which alone gives ${describeBand(bands, outcome.scored_band)}.`
  if (outcome.scored_band === outcome.band) return score
  const raising = explanation.triggers.filter(({ floor_band }) => floor_band === outcome.band)
  const by = raising.length === 0 ? 'A trigger' : raising.map(({ title }) => `“${title}”`).join(' and ')
  return `${score} ${by} raised it to ${describeBand(bands, outcome.band)}.`
}

/** Reasons, triggers and factors of a decision. */
export function arrangeReasons(
  decision: CollectedDecision,
  bands: readonly NamedBand[],
  format: ReportFormat,
): ReportBlock[] {
  const { explanation, outcome } = decision
  const { triggers, rows } = explanation
  const blocks: ReportBlock[] = [
    describeScore(decision, bands, format),
    ...explanation.summary.filter((text) => !isRepeated(text, decision)).map((text) => toReadable(text, format)),
  ].flatMap((text) => (text === '' ? [] : [{ kind: 'text', text }]))
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
        nameActions(one.required_actions, decision) || '–',
        toReadable(one.reason, format),
      ]),
      empty: 'No trigger fired.',
    })
  blocks.push(...arrangeFactors(decision, format))
  if (rows.length > 0)
    blocks.push({
      kind: 'table',
      title: 'Rows of the rule that fired',
      columns: [
        { title: 'Row', width: 2, style: 'strong' },
        { title: 'Reason', width: 5 },
      ],
      rows: rows.map((one) => [one.key, one.reason === null ? '–' : toReadable(one.reason, format)]),
      empty: '–',
    })
  return blocks
}

function arrangeFactors(
  { explanation: { factors }, input_texts }: CollectedDecision,
  format: ReportFormat,
): ReportBlock[] {
  if (factors.length === 0) return []
  const sorted = [...factors].sort((a, b) => Number(b.contribution_bps) - Number(a.contribution_bps))
  const contributions = sorted.map((one) => Math.round(Number(one.contribution_bps)))
  return [
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
        Object.entries(one.read)
          .map(([name, value]) => showInput(value, input_texts[name], format))
          .join('; ') || '–',
        format.share(one.score_bps),
        format.share(one.weight_bps),
        toReadable(one.reason, format, getScores(one)),
      ]),
      empty: 'No factor was scored.',
    },
    {
      kind: 'chart',
      type: 'bar',
      title: 'What each factor contributes to the score',
      labels: sorted.map(({ title }) => title),
      series: [{ title: 'Contribution', values: contributions, texts: contributions.map(format.share) }],
      has_long_labels: true,
    },
  ]
}

/** Numbers that its sentence may call a rating. */
const getScores = ({ score_bps, found = [] }: CollectedDecision['explanation']['factors'][number]): number[] => [
  score_bps,
  ...found.flatMap(({ value }) => (typeof value === 'number' ? [value] : [])),
]
