/** Starting a run, and saying of one whether it still tells what would happen. */
import { randomInt } from 'node:crypto'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { JobRow } from '../../../kernel/job/queries.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { Problem } from '../../../kernel/problem.ts'
import { uuidv7 } from '../../../kernel/uuid.ts'
import { keepReceipt, manifestOf } from '../../reference-data/index.ts'
import { expectWritten, matrixKind } from '../../risk-matrices/index.ts'
import { ruleKind } from '../../rules/index.ts'
import { type Candidate, textHash } from '../candidates/actions.ts'
import { groundHash, groundOf, manifestHash } from '../ground/actions.ts'
import { MAX_SUBJECTS } from '../measure/rules.ts'
import { findNow, insertRun, type WholeRun } from '../queries.ts'

export const IMPACT_RUN = 'impact-run'
const SEEDS = 2_147_483_648

interface Order {
  readonly max_subjects?: number
  readonly seed?: number
}

/**
 * What is in force is pinned once, here: with both clocks set to one instant, activations under way are waited for and later
 * ones are not seen, so that no two statements contribute to different states.
 */
export async function startRun(
  kernel: Kernel,
  tx: Tx,
  candidate: Candidate,
  { max_subjects = MAX_SUBJECTS, seed = randomInt(SEEDS) }: Order,
  where: { readonly path: (run_id: string) => string; readonly cr_id?: string },
): Promise<{ run_id: string; job: JobRow }> {
  const now = await findNow(tx)
  const clocks = { valid_at: now, known_at: now }
  const ground = await groundOf(kernel, tx, candidate, clocks)
  const [run_id, job_id] = [uuidv7(), uuidv7()]
  const receipt = ground.length > 0 ? await keepReceipt(tx, `impact run ${run_id}`, ground, clocks) : null
  const job = await kernel.jobs.enqueue(tx, {
    job_id,
    kind: IMPACT_RUN,
    payload: { run_id },
    resource: `/api${where.path(run_id)}`,
    unit: 'subjects',
  })
  await insertRun(tx, {
    run_id,
    job_id,
    candidate,
    cr_id: where.cr_id ?? null,
    receipt_id: receipt?.receipt_id ?? null,
    manifest_hash: manifestHash(manifestOf(ground)),
    until_at: now,
    max_subjects,
    seed,
  })
  return { run_id, job }
}

/** Stored versions never change; a draft may, and so may everything that is in force. */
export async function staleness(kernel: Kernel, tx: Tx, run: WholeRun): Promise<'candidate' | 'in_force' | null> {
  if (run.candidate.definition && !(await isDraftStill(kernel, tx, run.candidate))) return 'candidate'
  return (await groundHash(kernel, tx, run.candidate)) === run.manifest_hash ? null : 'in_force'
}

async function isDraftStill(kernel: Kernel, tx: Tx, { family, key, content_hash }: Candidate): Promise<boolean> {
  const kind = family === 'rule' ? ruleKind : matrixKind
  try {
    const { text } = await expectWritten(kernel, tx, kind, { [kind.param]: key, version: 'draft' } as never)
    return textHash(text) === content_hash
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return false
    throw error
  }
}

/** As whoever has to decide sees it. */
export async function shownRun(kernel: Kernel, tx: Tx, run: WholeRun) {
  const stale_because = await staleness(kernel, tx, run)
  const { candidate: _candidate, max_subjects: _most, seed: _seed, ...row } = run
  // A result is never written again: older ones lack what is measured since.
  const result = row.result && { known_outcomes: null, ...row.result }
  return { ...row, result: result as never, stale: stale_because !== null, stale_because }
}
