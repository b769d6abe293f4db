/** Starts impact runs, and tells whether a run is still current. */

import { randomInt } from 'node:crypto'
import type { Static } from 'typebox'
import { readStoredJson } from '#kernel/database/stored-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { JobRow } from '#kernel/job/queries.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { datasetStore, documentStore, resolver } from '#modules/definitions/index.ts'
import { type binding, matrixKind } from '#modules/risk-matrices/index.ts'
import { ruleKind } from '#modules/rules/index.ts'
import { collectBaseline, hashBaseline, hashPins } from './baseline.ts'
import { type Candidate, hashText } from './candidates.ts'
import { explainNoImpact } from './explain-no-impact.ts'
import { MAX_SUBJECTS } from './impact-tally.ts'
import { findNow, findSubjectNames, insertRun, type RunWithResult } from './queries.ts'
import type { RunView } from './schema.ts'

export const IMPACT_RUN = 'impact-run'
const MAX_SEED = 2_147_483_648

interface RunOptions {
  readonly path: (run_id: string) => `/${string}`
  readonly cr_id?: string
  readonly max_subjects?: number
  readonly seed?: number
}

/**
 * Pins the versions in force once. With both clocks set to one instant, it waits for concurrent activations and does not see later
 * ones, so that all statements read the same state.
 */
export async function startRun(
  kernel: binding.BindCapabilities & Capabilities<'jobs'>,
  tx: Tx,
  candidate: Candidate,
  { path, cr_id, max_subjects = MAX_SUBJECTS, seed = randomInt(MAX_SEED) }: RunOptions,
): Promise<{ run_id: string; job: JobRow }> {
  const now = await findNow(tx)
  const clocks = { valid_at: now, known_at: now }
  const baseline = await collectBaseline(kernel, tx, candidate, clocks)
  const [run_id, job_id] = [uuidv7(), uuidv7()]
  const receipt =
    baseline.length > 0 ? await resolver.createReceipt(tx, `impact run ${run_id}`, baseline, clocks) : null
  const job = await kernel.jobs.enqueue(tx, {
    job_id,
    kind: IMPACT_RUN,
    payload: { run_id },
    resource: `/api${path(run_id)}`,
    unit: 'subjects',
  })
  await insertRun(tx, {
    run_id,
    job_id,
    candidate,
    cr_id: cr_id ?? null,
    receipt_id: receipt?.receipt_id ?? null,
    manifest_hash: hashPins(resolver.toPins(baseline)),
    until_at: now,
    max_subjects,
    seed,
  })
  return { run_id, job }
}

/** Versions never change, but drafts and what is in force do. */
export async function findStaleReason(
  kernel: binding.BindCapabilities,
  tx: Tx,
  run: RunWithResult,
): Promise<'candidate' | 'in_force' | null> {
  if (run.candidate.definition && !(await isDraftUnchanged(kernel, tx, run.candidate))) return 'candidate'
  return (await hashBaseline(kernel, tx, run.candidate)) === run.manifest_hash ? null : 'in_force'
}

async function isDraftUnchanged(
  kernel: binding.BindCapabilities,
  tx: Tx,
  { family, key, content_hash }: Candidate,
): Promise<boolean> {
  const kind = family === 'rule' ? ruleKind : matrixKind
  try {
    const { text } = await documentStore.getVersionOrDraft(kernel, tx, kind, {
      [kind.param]: key,
      version: 'draft',
    })
    return hashText(text) === content_hash
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return false
    throw error
  }
}

/** Names are not part of the stored result: they are read with it, and only by roles that may read subjects. */
async function nameSubjects(tx: Tx, result: Record<string, unknown>) {
  const samples = result['samples'] as readonly { readonly subject_id: string }[]
  const names = await findSubjectNames(
    tx,
    samples.map(({ subject_id }) => subject_id),
  )
  return samples.map((sample) => {
    const { name = null, external_id = null } = names.get(sample.subject_id) ?? {}
    return { ...sample, name, external_id }
  })
}

/** Of the measured definition, and of the lists that decisions lack. */
async function findTitles(
  tx: Tx,
  { family, key }: Pick<RunWithResult, 'family' | 'key'>,
  { definitions }: Pick<NonNullable<Static<typeof RunView>['result']>, 'definitions'>,
): Promise<Map<string, string>> {
  const missing = definitions.flatMap((one) => one.missing.map((list_key) => ['list', list_key] as const))
  const titles = new Map<string, string>()
  for (const [of, name] of [...missing, [family, key] as const]) {
    const dataset = titles.has(name) ? undefined : await datasetStore.findDataset(tx, name, of)
    if (dataset) titles.set(name, dataset.title)
  }
  return titles
}

/** The view of a run. Of a decided change request it is a record of what was decided on, which nothing outdates. */
export async function toRunView(
  kernel: binding.BindCapabilities,
  tx: Tx,
  run: RunWithResult,
  { isDecided = false }: { readonly isDecided?: boolean } = {},
) {
  const stale_because = isDecided ? null : await findStaleReason(kernel, tx, run)
  const { candidate: _candidate, max_subjects: _most, seed: _seed, ...row } = run
  // Results are never rewritten, so older ones lack newer members.
  const result = readStoredJson<Static<typeof RunView>['result']>(
    row.result && { known_outcomes: null, ...row.result, samples: await nameSubjects(tx, row.result) },
  )
  const no_impact = result ? explainNoImpact(row, result, await findTitles(tx, row, result)) : null
  return { ...row, result, no_impact, stale: stale_because !== null, stale_because }
}
