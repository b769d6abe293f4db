/** Runs the steps of a case as their needs are met, some at once, until none can be run now. */
import type { Tx } from '#kernel/database/tx.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem, type ProblemExtra, problems } from '#kernel/problem.ts'
import type { AnyStepKind, StepCall, StepEnd, StepEvidence, StepRun, StepRunCapabilities } from '#kernel/step-kind.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { evidenceStore } from '#modules/documents/index.ts'
import { findApplicable, loadPlaybook, readSubjectFacts } from '#modules/playbooks/index.ts'
import { findSubject } from '#modules/subjects/index.ts'
import { INVESTIGATION } from '../model.ts'
import { findInvestigation, type InvestigationRow, listSteps, type StepRow } from '../queries.ts'
import { addStepTask } from '../tasks/step-task.ts'
import { stepsEnded } from './metrics.ts'
import { lockTakenStep, skipSteps, type TakenStep, takeSteps, updateStepCall, updateStepEnd } from './queries.ts'
import { endedStates, listEarlierCalls, listOwn, listReady, MAX_AT_ONCE } from './step-states.ts'

type GatherJob = JobContext<unknown, unknown, StepRunCapabilities & Capabilities<'auditKeys' | 'modules'>>

/** Of a stored problem, as the contract of steps has it. */
const MAX_DETAIL = 2000

interface GatheredCase {
  readonly investigation: InvestigationRow
  readonly facts: ReadonlyMap<string, unknown>
  /** Keys of steps of the playbook whose condition does not apply. */
  readonly left_out: ReadonlySet<string>
}

export interface Gathered {
  readonly investigation: InvestigationRow | undefined
  /** Of this job, as they are when nothing can be run any more. */
  readonly steps: readonly StepRow[]
}

export async function runSteps(
  job: GatherJob,
  investigation_id: string,
  only: readonly string[] | undefined,
): Promise<Gathered> {
  const found = await job.read((tx) => loadCase(job, tx, investigation_id))
  if (!found) return { investigation: undefined, steps: [] }
  return new Gathering(job, found, only).run()
}

async function loadCase(job: GatherJob, tx: Tx, investigation_id: string): Promise<GatheredCase | undefined> {
  const investigation = await findInvestigation(tx, investigation_id)
  if (investigation?.state !== 'open') return undefined
  const { playbook_key, playbook_origin: origin, playbook_version: version, subject_id } = investigation
  const { content } = await loadPlaybook(job.kernel, tx, playbook_key, { origin, version })
  const subject = await findSubject(tx, subject_id)
  if (!subject) return undefined
  const { steps: applies } = await findApplicable(job.kernel, tx, content, subject)
  const left_out = new Set(content.steps.map(({ key }) => key).filter((key) => !applies.has(key)))
  return { investigation, facts: readSubjectFacts(content, subject), left_out }
}

class Gathering {
  readonly #job: GatherJob
  readonly #case: GatheredCase
  readonly #only: readonly string[] | undefined
  readonly #kinds: ReadonlyMap<string, AnyStepKind>
  readonly #inFlight = new Map<string, Promise<unknown>>()
  #fence: Promise<unknown> = Promise.resolve()
  #failure: { readonly error: unknown } | undefined

  constructor(job: GatherJob, gathered: GatheredCase, only: readonly string[] | undefined) {
    this.#job = job
    this.#case = gathered
    this.#only = only
    this.#kinds = new Map(
      job.kernel.modules.flatMap(({ step_kinds = [] }) => step_kinds).map((kind) => [kind.kind, kind]),
    )
  }

  get #id(): string {
    return this.#case.investigation.investigation_id
  }

  async run(): Promise<Gathered> {
    for (;;) {
      const steps = await this.#job.read((tx) => listSteps(tx, this.#id))
      const isGoing = !this.#failure && !this.#job.signal.aborted
      const hasWork = isGoing && (await this.#take(steps).catch((error: unknown) => this.#fail(error)))
      if (this.#inFlight.size > 0) await Promise.race(this.#inFlight.values())
      else if (!hasWork) return this.#end()
    }
  }

  /** Nothing more is begun, and what runs comes to its end. */
  #fail(error: unknown): false {
    this.#failure ??= { error }
    return false
  }

  /** The case as it is now. Nothing is added to one that was merged or closed meanwhile: that ends the job, and is no fault. */
  async #end(): Promise<Gathered> {
    const end = await this.#job.read(async (tx) => ({
      investigation: await findInvestigation(tx, this.#id),
      steps: listOwn(await listSteps(tx, this.#id), this.#only),
    }))
    if (this.#failure && end.investigation?.state === 'open') throw this.#failure.error
    this.#job.signal.throwIfAborted()
    return end
  }

  /** False where nothing can be begun now. */
  async #take(steps: readonly StepRow[]): Promise<boolean> {
    const ready = listReady(listOwn(steps, this.#only), steps, { job_id: this.#job.job_id, now_ms: Date.now() })
    const waiting = ready.filter(({ step_key }) => !this.#inFlight.has(step_key))
    const isLeftOut = ({ step_key, state }: StepRow) => state === 'pending' && this.#case.left_out.has(step_key)
    const left_out = waiting.filter(isLeftOut).map(({ step_key }) => step_key)
    const next = waiting.filter((step) => !isLeftOut(step)).map(({ step_key }) => step_key)
    const keys = next.slice(0, MAX_AT_ONCE - this.#inFlight.size)
    if (keys.length + left_out.length === 0) return false
    let taken: readonly TakenStep[] = []
    await this.#step(async (tx) => {
      if (left_out.length > 0) await skipSteps(tx, this.#id, left_out)
      if (keys.length > 0) taken = await takeSteps(tx, { investigation_id: this.#id, job_id: this.#job.job_id, keys })
      return left_out.length > 0 ? { progress: await this.#countProgress(tx) } : {}
    })
    for (const step of taken) {
      const done = this.#runStep(step, steps)
        .catch((error: unknown) => this.#fail(error))
        .finally(() => this.#inFlight.delete(step.step_key))
      this.#inFlight.set(step.step_key, done)
    }
    return taken.length + left_out.length > 0
  }

  async #countProgress(tx: Tx) {
    const own = listOwn(await listSteps(tx, this.#id), this.#only)
    const done = own.filter(({ state }) => endedStates.includes(state)).length
    return { done, total: own.length, unit: 'steps' }
  }

  /** One transaction after the other, so that progress never goes back. */
  #step(body: Parameters<GatherJob['step']>[0]): Promise<void> {
    const next = this.#fence.catch(() => {}).then(() => this.#job.step(body))
    this.#fence = next
    return next
  }

  async #runStep(step: TakenStep, steps: readonly StepRow[]): Promise<void> {
    const kind = this.#kinds.get(step.kind)
    const end = kind
      ? await toEnd(() =>
          // The settings have passed the schema of their kind when they were stored.
          kind.run(this.#createRun(step, steps) as never),
        )
      : toRefusedEnd(new Problem('conflict', `The service has no steps of the kind ${step.kind}.`))
    try {
      await this.#store(step, end)
    } catch (error) {
      // What could not be stored was not: the step ends with why, in a transaction of its own.
      const refused = toRefusal(error)
      if (!refused) throw error
      await this.#store(step, toRefusedEnd(refused))
    }
  }

  #createRun(step: TakenStep, steps: readonly StepRow[]): StepRun<unknown> {
    const { investigation_id, restriction_id, subject_id } = this.#case.investigation
    const { definition, step_key, attempt, call_id, reused_from, is_restricted } = step
    const { job_id, kernel, scope, signal } = this.#job
    return {
      ...{ kernel, scope, signal, job_id, investigation_id, step_key, attempt, subject_id, restriction_id },
      call: call_id === null ? null : { call_id, reused_from },
      with: definition['with'],
      reuse_days: (definition['reuse_days'] as number | null | undefined) ?? null,
      max_cost: (definition['max_cost'] as StepRun<unknown>['max_cost'] | undefined) ?? null,
      facts: this.#case.facts,
      is_restricted,
      earlier_calls: listEarlierCalls(steps, step_key),
      begin: async (make) => {
        let made: StepCall | undefined
        await this.#step(async (tx) => {
          made = await make(tx)
          await updateStepCall(tx, investigation_id, step_key, made)
          return {}
        })
        return made as StepCall
      },
      attachEvidence: (tx, object) => attach(kernel, tx, { ...this.#case, step }, object),
      addTask: (tx) => addStepTask(tx, investigation_id, step),
    }
  }

  /** The end of a run of a step: one transaction that checks the lease. */
  async #store({ step_key, is_required }: StepRow, end: StepEnd): Promise<void> {
    await this.#step(async (tx) => {
      // Somebody waived it while it waited: what the provider answered is in the ledger.
      if (!(await lockTakenStep(tx, this.#id, step_key, this.#job.job_id))) return {}
      await storeEnd(tx, { investigation_id: this.#id, step_key, is_required }, end)
      return { progress: await this.#countProgress(tx), audit: { step_key, outcome: end.state } }
    })
    this.#job.kernel.metrics.increment(stepsEnded, { outcome: end.state })
  }
}

/** Returns the id of the item. */
async function attach(
  kernel: GatherJob['kernel'],
  tx: Tx,
  { investigation, step }: { readonly investigation: InvestigationRow; readonly step: StepRow },
  { stored, ...object }: StepEvidence,
): Promise<string> {
  const title = (step.definition['title'] as string | null | undefined) ?? step.step_key
  const item = { owner_kind: INVESTIGATION, owner_id: investigation.investigation_id, title, ...object } as const
  if (!stored) return (await evidenceStore.attachEvidence(kernel, tx, item, null)).evidence_id
  const { restriction_id } = investigation
  const nothing = { object_version: null, reference: null }
  const made = { ...item, ...nothing, ...stored, evidence_id: uuidv7(), restriction_id }
  return (await evidenceStore.attachKnown(kernel, tx, made, null)).evidence_id
}

async function storeEnd(
  tx: Tx,
  { investigation_id, step_key, is_required }: { investigation_id: string; step_key: string; is_required: boolean },
  end: StepEnd,
): Promise<void> {
  const update = (change: Parameters<typeof updateStepEnd>[3]) => updateStepEnd(tx, investigation_id, step_key, change)
  switch (end.state) {
    case 'given':
      return end.store(tx)
    case 'waiting':
      return void (await update({ state: 'waiting', problem: toStored(end.problem), not_before: end.until }))
    case 'blocked':
      return void (await update({ state: is_required ? 'pending' : 'skipped', problem: toStored(end.problem) }))
    case 'succeeded':
      return void (await update({ ...(await end.store(tx)), state: 'succeeded', problem: null }))
    default:
      await update({ ...(await end.store?.(tx)), state: end.state, problem: toStored(end.problem) })
  }
}

const toStored = ({ code, extra }: Problem) => ({
  code,
  detail: describeFaults(extra) ?? problems[code].title,
  ...extra.members,
})

/** A step stores one text of a refusal: it names each fault, not only how many there are. */
function describeFaults({ detail, errors = [] }: ProblemExtra): string | undefined {
  const faults = errors.map((error) => error.detail).filter((fault) => !detail?.includes(fault))
  const text = [...(detail === undefined ? [] : [detail]), ...faults].join(' ')
  return text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL - 1)}…` : text || undefined
}

/** A plugin that cannot run is waited for as a missing credential is: nothing was decided, and nothing was sent. */
const toRefusedEnd = (problem: Problem): StepEnd => ({
  state: problem.code === 'plugin_invalid' ? 'blocked' : 'failed',
  problem,
})

/** A refusal that repetition does not change. */
const toRefusal = (error: unknown): Problem | undefined =>
  error instanceof Problem && !('retryable' in problems[error.code]) && error.code !== 'internal' ? error : undefined

async function toEnd(run: () => Promise<StepEnd>): Promise<StepEnd> {
  try {
    return await run()
  } catch (error) {
    const refused = toRefusal(error)
    if (!refused) throw error
    return toRefusedEnd(refused)
  }
}
