/** Polling, streaming, cancelling and retrying jobs of every kind. */
import type { AuditNotes } from '#kernel/audit/record.ts'
import { everyone } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { deadlineWithJitter, waitForChange } from '#kernel/job/long-poll.ts'
import { findJob, type JobRow, listJobs, lockJob, updateCancelRequested } from '#kernel/job/queries.ts'
import { isTerminal, JobView } from '#kernel/job/schema.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { paginate } from '#kernel/page.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { type Actor, streamReply } from '#kernel/route.ts'
import { JobListQuery, JobPage, JobParams, JobWait } from './schema.ts'

const WATCH_MS = 8000
const workers = ['analyst', 'policy_editor', 'compliance_officer', 'tenant_admin', 'service'] as const

/**
 * The first read is the request's own; while it waits, it shares reads with requests of the same roles for the same job. Reads of a
 * job that has a restriction are shared by the same person only.
 */
async function startJobReader({ kernel, read, params, actor, audit }: JobWaitInput) {
  const readJob = async () => {
    const row = await read((tx) => findJob(tx, params.job_id, actor.roles))
    const { belongs_to, ...job } = row ?? fail('not_found')
    return { job, restriction: { restriction_id: belongs_to, is_in_force: job.restriction_id !== null } }
  }
  const { job: first, restriction } = await readJob()
  audit.belongsTo(restriction)
  const reader = restriction.restriction_id === null ? [] : [actor.principal]
  const key = [actor.tenant_id, ...actor.roles, ...reader].join(' ')
  const { watch } = kernel.jobs
  const { job_id } = params
  return {
    first,
    reads: {
      read: () => watch.read(job_id, key, async () => (await readJob()).job),
      pause: (limit_ms: number) => watch.pause(job_id, limit_ms),
    },
  }
}
interface JobReadInput {
  readonly read: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>
  readonly params: { readonly job_id: string }
  readonly actor: Pick<Actor, 'tenant_id' | 'roles' | 'principal'>
  readonly audit: Pick<AuditNotes, 'belongsTo'>
}
interface JobWaitInput extends JobReadInput {
  readonly kernel: Capabilities<'jobs'>
}

export const jobRoutes = [
  tenantRoute('GET /jobs', {
    id: 'listJobs',
    summary: "The tenant's jobs by kind and state, newest first",
    roles: everyone,
    tx: 'one',
    uses: ['cursors'],
    query: JobListQuery,
    reply: [200, JobPage],
  }).handle(async (input) => {
    const { kind = null, state = null } = input.query
    return paginate(input, 'listJobs', ['created_at', 'job_id'], (after, count) =>
      listJobs(input.tx, { kind, state, roles: input.actor.roles }, after, count),
    )
  }),

  tenantRoute('GET /jobs/:job_id', {
    id: 'getJob',
    summary: 'State, progress, result and problem of one job',
    description: 'With `wait`, answers as soon as the job changes, or after about that many seconds, never more.',
    tool: {
      name: 'get_job',
      title: 'Get a job',
      description:
        'State, progress, result or problem of long work that another tool started. wait_s up to 8 answers as ' +
        'soon as the job changes; call again while it is queued or running.',
      effect: 'read',
      rename: { wait: 'wait_s' },
    },
    roles: everyone,
    tx: 'self',
    uses: ['jobs'],
    params: JobParams,
    query: JobWait,
    reply: [200, JobView],
    revisioned: true,
    headers: (job) => (isTerminal(job.state) ? ({} as Record<string, string>) : { 'retry-after': '1' }),
    problems: ['not_found'],
  }).handle(async (input) => {
    const { first, reads } = await startJobReader(input)
    return waitForChange(reads, first, deadlineWithJitter((input.query.wait ?? 0) * 1000), input.request.signal)
  }),

  tenantRoute('GET /jobs/:job_id/events', {
    id: 'streamJobEvents',
    summary: 'Progress of one job as server-sent events',
    description:
      'Each event carries the job. Closes at the terminal state or after seven to eight seconds; reconnect to continue.',
    roles: everyone,
    tx: 'self',
    uses: ['jobs'],
    params: JobParams,
    reply: [200, streamReply('text/event-stream', 'Events named `job`, data the job as JSON.')],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { request } = input
    const { first, reads } = await startJobReader(input)
    const until_ms = deadlineWithJitter(WATCH_MS)
    return (async function* () {
      let job = first
      yield toServerSentEvent(job)
      while (!isTerminal(job.state) && performance.now() < until_ms && !request.signal.aborted) {
        const next = await waitForChange(reads, job, until_ms, request.signal).catch(endIfHidden)
        // Access was revoked meanwhile: the stream ends.
        if (!next) return
        if (next.revision !== job.revision) yield toServerSentEvent(next)
        job = next
      }
    })()
  }),

  tenantRoute('POST /jobs/:job_id/cancel', {
    id: 'cancelJob',
    summary: 'Ask a job to stop',
    description:
      'A queued job is cancelled immediately; a running one stops at its next step. Repeating it changes nothing. A confirmed ' +
      'erasure cannot be cancelled.',
    roles: workers,
    tx: 'write',
    uses: ['jobs'],
    params: JobParams,
    reply: [200, JobView],
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async ({ tx, params, actor, audit, kernel }) => {
    const job = await lockVisibleJob({ tx, params, actor, audit })
    if (isTerminal(job.state)) return job
    if (kernel.jobs.kinds.get(job.kind)?.can_cancel === false)
      fail('transition_not_allowed', 'Two people decided what this job does; one cannot cancel it.')
    return (await updateCancelRequested(tx, job.job_id)) ?? fail('not_found')
  }),

  tenantRoute('POST /jobs/:job_id/retry', {
    id: 'retryJob',
    summary: 'Start a failed or cancelled job again, from its last checkpoint',
    roles: workers,
    tx: 'write',
    uses: ['jobs'],
    params: JobParams,
    reply: [202, JobView],
    starts: 'retry',
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async ({ tx, params, actor, audit, kernel }) => {
    const job = await lockVisibleJob({ tx, params, actor, audit })
    if (job.state !== 'failed' && job.state !== 'cancelled') {
      fail('transition_not_allowed', `The job is ${job.state}; only a failed or cancelled one can be started again.`)
    }
    return kernel.jobs.retry(tx, job.job_id)
  }),
]

async function lockVisibleJob(input: Omit<JobReadInput, 'read'> & { readonly tx: Tx }): Promise<JobRow> {
  const { tx, params, actor, audit } = input
  const { belongs_to, ...job } = (await lockJob(tx, params.job_id, actor.roles)) ?? fail('not_found')
  audit.belongsTo({ restriction_id: belongs_to, is_in_force: job.restriction_id !== null })
  return job
}

const endIfHidden = (error: unknown): undefined => {
  if (!(error instanceof Problem) || error.code !== 'not_found') throw error
}

const toServerSentEvent = (job: JobRow): string => `event: job\nid: ${job.revision}\ndata: ${JSON.stringify(job)}\n\n`
