/**
 * The job of an impact run: for each group of subjects, decides their latest decisions again with and without the candidate.
 * Steps only read and add up; the totals are the checkpoint, so another worker resumes without repeating or losing subjects.
 */
import type { DecisionContent } from '#decision/document.ts'
import type { Decision, Inputs } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { closed, Id } from '#kernel/schema.ts'
import { openContents } from '#modules/batch-evaluations/index.ts'
import { resolver } from '#modules/definitions/index.ts'
import { decisionDocuments, decisionRecords } from '#modules/evaluations/index.ts'
import { recordFailure } from '#modules/plugins/index.ts'
import { binding } from '#modules/risk-matrices/index.ts'

import { buildComparisons, type Comparison, decideOrRefuse, hashPins } from './baseline.ts'
import { IMPACT_RUN } from './impact-runs.ts'
import { addDecision, addOutcome, EMPTY_TALLY, type ImpactTally, selectInputs, toImpactResult } from './impact-tally.ts'
import {
  countDecidedSubjects,
  type DecisionWindow,
  findRun,
  findSampleThreshold,
  listPastDecisions,
  type PastDecisionRow,
  type RunWithResult,
  updateRunFinished,
} from './queries.ts'

interface Checkpoint {
  /** Number of subjects with a decision in the window, and the size of the sample. */
  readonly subjects: number
  readonly taken: number
  /** Null: no sampling. */
  readonly threshold: string | null
  readonly after: string | null
  readonly done: number
  /** No subject is left. */
  readonly complete: boolean
  readonly tally: ImpactTally
}

const Payload = closed({ run_id: Id() })
type Context = JobContext<
  { run_id: string },
  Checkpoint,
  binding.DecideCapabilities & Capabilities<'encryption' | 'integrity' | 'transactions'>
>

/** `portion` is the number of subjects per step. */
export const createImpactRunJob = (portion: number) =>
  defineJob({
    kind: IMPACT_RUN,
    summary: 'Tries a version or a draft on past decisions and reports what would have been decided otherwise.',
    payload: Payload,
    resumes: 'checkpoint',
    uses: ['caches', 'encryption', 'integrity', 'metrics', 'plugin_policy', 'threads', 'transactions'],
    visible_to: ['policy_editor', 'compliance_officer', 'auditor'],
    run: async (context: Context) => {
      const { read, finish, kernel, signal } = context
      const { run, comparisons } = await read((tx) => loadRun(kernel, tx, context.payload.run_id))
      const window = { definitions: comparisons, from_at: run.from_at, until_at: run.until_at }
      let reached = context.checkpoint ?? (await drawSample(context, run, window))
      while (!reached.complete) {
        signal.throwIfAborted()
        reached = await measurePortion(context, { run, window, comparisons, portion }, reached)
      }
      await finish(async (tx) => {
        const result = toReport(run, comparisons, reached)
        await updateRunFinished(tx, run.run_id, result)
        const { decisions, flips, refusals_added } = result
        return { run_id: run.run_id, decisions, flips, refusals_added }
      })
      return null
    },
  })

async function loadRun(kernel: binding.BindCapabilities, tx: Tx, run_id: string) {
  const run = assertFound(await findRun(tx, run_id))
  const receipt = run.receipt_id === null ? null : assertFound(await resolver.findReceipt(tx, run.receipt_id))
  const manifest = JSON.parse(receipt?.manifest ?? '[]') as resolver.PinnedVersion[]
  if (hashPins(manifest) !== run.manifest_hash) fail('content_corrupt')
  return { run, comparisons: await buildComparisons(kernel, tx, run.candidate, manifest) }
}

/** Counts the subjects and, where there are too many, chooses a sample. */
async function drawSample({ step }: Context, run: RunWithResult, window: DecisionWindow): Promise<Checkpoint> {
  const start = { threshold: null, after: null, done: 0, complete: false, tally: EMPTY_TALLY }
  let begun: Checkpoint = { subjects: 0, taken: 0, ...start }
  await step(async (tx) => {
    await tx.disableTimeout()
    const subjects = await countDecidedSubjects(tx, window)
    const drawn = subjects > run.max_subjects
    const threshold = drawn ? await findSampleThreshold(tx, window, run.seed, run.max_subjects) : null
    begun = { ...start, subjects, taken: Math.min(subjects, run.max_subjects), threshold, complete: subjects === 0 }
    return { checkpoint: begun, progress: { done: 0, total: begun.taken, unit: 'subjects' } }
  })
  return begun
}

interface Measurement {
  readonly run: RunWithResult
  readonly window: DecisionWindow
  readonly comparisons: readonly Comparison[]
  readonly portion: number
}

async function measurePortion(
  { step, kernel, tenant_id, scope, signal }: Context,
  { run, window, comparisons, portion }: Measurement,
  reached: Checkpoint,
): Promise<Checkpoint> {
  let checkpoint = reached
  const isIntact = decisionRecords.createRecordCheck(kernel, tenant_id)
  const caused_by = { kind: 'impact', id: run.run_id } as const
  const runs = binding.createOwnRuns(kernel, {
    caller: tenant_id,
    signal,
    record: (bound, results) => recordFailure(kernel, scope, bound, { results, caused_by }),
  })
  await step(async (tx) => {
    const sample = { seed: run.seed, threshold: reached.threshold }
    const rows = await listPastDecisions(tx, window, sample, { after: reached.after, count: portion })
    const tally = structuredClone(reached.tally)
    const subjects = new Set(rows.map(({ subject_id }) => subject_id))
    const decided = new Set(rows.flatMap(({ past_key, subject_id }) => (past_key === null ? [] : [subject_id])))
    await measureDecisions(kernel, tx, rows, { comparisons, tally, isIntact, runs })
    const done = reached.done + decided.size
    const after = rows.at(-1)?.subject_id ?? reached.after
    checkpoint = { ...reached, after, done, tally, complete: subjects.size < portion }
    return { checkpoint, progress: { done, total: reached.taken, unit: 'subjects' } }
  })
  return checkpoint
}

interface TallyContext {
  readonly comparisons: readonly Comparison[]
  readonly tally: ImpactTally
  readonly isIntact: ReturnType<typeof decisionRecords.createRecordCheck>
  readonly runs: binding.PluginRuns
}

/** A past decision with the inputs of both sides. */
interface MeasuredRow {
  readonly row: PastDecisionRow
  readonly comparison: Comparison
  readonly before: Inputs
  readonly after: Inputs
}

/** Decides all rows of a portion together, so that plugins run in few tasks. */
async function measureDecisions(
  kernel: binding.DecideCapabilities & Capabilities<'encryption'>,
  tx: Tx,
  rows: readonly PastDecisionRow[],
  { comparisons, tally, isIntact, runs }: TallyContext,
): Promise<void> {
  const past = await readPastInputs(kernel, tx, rows, isIntact)
  const measured = rows.flatMap((row): MeasuredRow[] => {
    const comparison = comparisons.find(({ family, key }) => family === row.past_family && key === row.past_key)
    if (!comparison) return []
    const decided = past.get(row)
    if (!decided) tally.unusable++
    const select = ({ compiled }: binding.Bindable) =>
      selectInputs(compiled.definition.inputs, decided ?? {}, row.attributes)
    return decided ? [{ row, comparison, before: select(comparison.before), after: select(comparison.after) }] : []
  })
  const outcomes = new Map<MeasuredRow, { readonly today: Decision; readonly then: Decision }>()
  for (const comparison of comparisons) {
    const own = measured.filter((one) => one.comparison === comparison)
    const decide = (side: 'before' | 'after') =>
      decideOrRefuse(
        kernel,
        tx,
        { of: comparison[side], runs },
        own.map((one) => one[side]),
      )
    const [today, then] = [await decide('before'), await decide('after')]
    for (const [index, one] of own.entries())
      outcomes.set(one, { today: today[index] as Decision, then: then[index] as Decision })
  }
  for (const [{ row, comparison }, { today, then }] of toRowOrder(measured, outcomes)) {
    const { subject_id, segment, batch_id, seq } = row
    const { family, key } = comparison
    const evaluation_id = row.evaluation?.evaluation_id ?? null
    const past = { evaluation_id, batch_id, seq, subject_id, segment, family, key }
    addDecision(tally, past, today, then)
    if (row.known_band !== null) addOutcome(tally, past, row.known_band, { before: today, after: then })
  }
}

const toRowOrder = <T>(measured: readonly MeasuredRow[], outcomes: ReadonlyMap<MeasuredRow, T>): [MeasuredRow, T][] =>
  measured.map((one) => [one, outcomes.get(one) as T])

/** Without decisions that were altered or erased. */
async function readPastInputs(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  rows: readonly PastDecisionRow[],
  isIntact: ReturnType<typeof decisionRecords.createRecordCheck>,
): Promise<ReadonlyMap<PastDecisionRow, Readonly<Record<string, unknown>>>> {
  const inputs = new Map<PastDecisionRow, Readonly<Record<string, unknown>>>()
  const single = rows.flatMap((row) => (row.evaluation ? [{ row, evaluation: row.evaluation }] : []))
  const documents = await decisionDocuments.openDocuments(
    kernel,
    tx,
    single.map(({ evaluation }) => evaluation),
  )
  for (const [index, { row, evaluation }] of single.entries()) {
    const { state, document } = documents[index] as decisionDocuments.OpenedDocument
    if (state === 'intact' && isIntact(evaluation)) inputs.set(row, (JSON.parse(document) as DecisionContent).inputs)
  }
  const items = rows.flatMap((row) => {
    const { batch_id, seq, subject_id, batch_inputs, batch_content: content } = row
    return batch_id === null || seq === null
      ? []
      : [{ row, item: { batch_id, seq, subject_id, external_id: null, inputs: batch_inputs, content } }]
  })
  const contents = await openContents(
    kernel,
    tx,
    items.map(({ item }) => item),
  )
  for (const [index, { row }] of items.entries()) {
    const decided = contents[index]?.inputs
    if (decided) inputs.set(row, decided)
  }
  return inputs
}

function toReport(
  run: RunWithResult,
  comparisons: readonly Comparison[],
  { subjects, taken, threshold, tally }: Checkpoint,
) {
  return {
    definitions: comparisons.map(({ family, key, version, missing }) => ({ family, key, version, missing })),
    population: { subjects, taken, seed: threshold === null ? null : run.seed, complete: threshold === null },
    ...toImpactResult(tally),
  }
}
