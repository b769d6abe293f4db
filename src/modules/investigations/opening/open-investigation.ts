/**
 * Opens a case, or joins the open one of the same subject and playbook. Only cases that everybody may see are joined: a restricted one
 * is in nobody's way and does not show.
 */
import type { Tx } from '#kernel/database/tx.ts'
import { emit } from '#kernel/events/emit.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { Problem } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import type { playbookModel } from '#modules/playbooks/index.ts'
import type { SubjectRow } from '#modules/subjects/index.ts'
import { type Priority, workClocks, workItems } from '#modules/work/index.ts'
import { investigationOpened } from '../events.ts'
import { startGathering, updateBlocked } from '../gathering/start-gathering.ts'
import { createReference, type Origin, toWorkItem } from '../model.ts'
import { insertEvent } from '../queries.ts'
import { expectOutcome } from './possible-outcomes.ts'
import { addSubject, findJoinable, insertInvestigation, insertSteps } from './queries.ts'

export interface OpenRequest {
  readonly subject: Pick<SubjectRow, 'subject_id'>
  readonly playbook: playbookModel.LoadedPlaybook
  readonly title: string
  readonly priority: Priority
  readonly origin: Origin
  readonly origin_reference: string | null
  /** Of the object that it is opened from; absent: the case gets one of its own, which is not in force. */
  readonly restriction?: { readonly restriction_id: string; readonly is_in_force: boolean }
  /** Why nothing can be gathered now; absent: the job begins. */
  readonly problem?: Problem
}

export interface OpenedCase {
  readonly investigation_id: string
  readonly restriction_id: string
  readonly joined: boolean
  /** Null where nothing can be gathered now. */
  readonly job_id: string | null
}

/** Two references are the same once in a trillion times; a case that was opened meanwhile is joined at the second attempt. */
const MAX_ATTEMPTS = 5

export async function openInvestigation(
  kernel: Capabilities<'caches' | 'jobs'>,
  tx: Tx,
  request: OpenRequest,
): Promise<OpenedCase> {
  const { subject, playbook, restriction } = request
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const known = restriction?.is_in_force ? undefined : await findJoinable(tx, subject.subject_id, playbook.key)
    if (known) return joinCase(tx, known, request)
    await expectOutcome(kernel, tx, playbook, subject.subject_id)
    const made = {
      investigation_id: uuidv7(),
      reference: createReference(),
      restriction_id: restriction?.restriction_id ?? uuidv7(),
    }
    const { title, priority, origin, origin_reference } = request
    const isInserted = await insertInvestigation(tx, {
      ...made,
      ...{ subject_id: subject.subject_id, playbook, title, priority, origin, origin_reference },
      is_own_restriction: restriction === undefined,
    })
    if (isInserted) return startCase(kernel, tx, request, made)
  }
  throw new Error('no reference for a new investigation was free')
}

async function joinCase(
  tx: Tx,
  known: { investigation_id: string; restriction_id: string; gathering_job_id: string | null },
  { origin, origin_reference }: OpenRequest,
): Promise<OpenedCase> {
  const { investigation_id, restriction_id, gathering_job_id } = known
  await insertEvent(tx, {
    event_id: uuidv7(),
    investigation_id,
    kind: 'joined',
    category: origin === 'request' ? 'person' : 'system',
    revision: null,
    data: { origin, ...(origin_reference !== null && { origin_reference }) },
  })
  return { investigation_id, restriction_id, joined: true, job_id: gathering_job_id }
}

async function startCase(
  kernel: Capabilities<'caches' | 'jobs'>,
  tx: Tx,
  request: OpenRequest,
  { investigation_id, restriction_id }: { investigation_id: string; restriction_id: string },
): Promise<OpenedCase> {
  const { subject, playbook, priority, origin, problem } = request
  await addSubject(tx, investigation_id, subject.subject_id, 'primary')
  await insertSteps(
    tx,
    investigation_id,
    playbook.content.steps.map((step) => ({
      step_key: step.key,
      kind: step.kind,
      origin: 'playbook',
      is_required: step.required,
      needs: step.needs,
      definition: step,
    })),
  )
  const object = { ...toWorkItem(investigation_id), restriction_id }
  await workItems.openWork(kernel, tx, { ...object, priority, source: playbook.key })
  await startClocks(kernel, tx, object, playbook.content.clocks)
  await emit(tx, investigationOpened, {
    object_id: investigation_id,
    restriction_id,
    data: { playbook_key: playbook.key, origin, priority },
  })
  const opened = { investigation_id, restriction_id, joined: false }
  if (problem) {
    await updateBlocked(tx, investigation_id, problem)
    return { ...opened, job_id: null }
  }
  const job = await startGathering(kernel, tx, {
    investigation_id,
    restriction_id,
    steps: playbook.content.steps.length,
    is_scheduled: origin === 'schedule' || origin === 'trigger',
  })
  return { ...opened, job_id: job.job_id }
}

export async function startClocks(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  object: workClocks.ObjectRef & { readonly restriction_id: string },
  clocks: readonly playbookModel.PlaybookClock[],
): Promise<void> {
  for (const clock of clocks) {
    const { duration, calendar } = toDuration(clock)
    const started = { ...object, clock_key: clock.key, kind: 'service' as const, duration }
    await workClocks.startClock(kernel, tx, { ...started, ...(calendar !== undefined && { calendar }) })
  }
}

const toDuration = (clock: playbookModel.PlaybookClock) =>
  'hours' in clock
    ? { duration: { hours: clock.hours }, calendar: undefined }
    : { duration: { days: clock.days, day_kind: clock.day_kind }, calendar: clock.calendar }
