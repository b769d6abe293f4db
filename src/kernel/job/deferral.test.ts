import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { insertEffect } from '#test/support/demo-jobs.ts'
import { type JobTestApp, latch, startJobTestApp, waitUntil } from '#test/support/job-test-app.ts'
import { Problem } from '../problem.ts'
import { Type } from '../schema.ts'
import { defineJob } from './define-job.ts'
import type { JobContext } from './kind.ts'

type Job = JobContext<Record<string, unknown>, { number: number }>

/** Each test says what its jobs do. */
let body: (job: Job) => Promise<Record<string, unknown> | null> = async () => null
const testJob = defineJob({
  kind: 'test-job',
  summary: 'Does what the test says.',
  payload: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  resumes: 'checkpoint',
  run: (job) => body(job as Job),
})

const HOUR_MS = 3_600_000
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS)
const busy = new Problem('dependency_unavailable', 'The provider asks to wait.')

let w: JobTestApp
let tenant: string
let token: string
beforeAll(async () => {
  w = await startJobTestApp({ jobs: [testJob] })
})
beforeEach(async () => {
  tenant = await w.makeTenant()
  token = await w.token({ tenant_id: tenant })
})
afterEach(() => w.clear())
afterAll(() => w.close())

const deferred = (job_id: string) =>
  waitUntil('the job is deferred', async () => {
    const job = await w.look(tenant, job_id)
    return job.state === 'queued' && job.deferred_since !== null && job
  })

const setJob = (job_id: string, assignment: string) =>
  w.inTenant(tenant, (tx) =>
    tx.run(`update app.job set ${assignment} where tenant_id = $1 and job_id = $2`, [tenant, job_id]),
  )

test('returns a deferred job to the queue until its time, without counting the attempt, and shows both', async () => {
  const until = inHours(2)
  body = async (job) => job.defer(until, busy)
  const job_id = await w.enqueue(tenant, 'test-job')
  w.startRunner(1)
  await deferred(job_id)
  const { status, json } = await w.call(`GET /jobs/${job_id}`, { token })
  expect(status).toBe(200)
  expect(json).toMatchObject({
    state: 'queued',
    attempts: 0,
    deferred_since: expect.any(String),
    problem: { code: 'dependency_unavailable', detail: 'The provider asks to wait.' },
  })
  expect(Date.parse(json.run_at)).toBe(until.getTime())
})

test('holds no slot while it is deferred, and continues from its checkpoint with all its attempts', async () => {
  let isDown = true
  body = async (job) => {
    if (job.payload['other']) return { other: true }
    for (let number = (job.checkpoint?.number ?? 0) + 1; number <= 3; number++) {
      if (number === 2 && isDown) job.defer(inHours(1))
      await job.step(async (tx) => {
        await insertEffect(tx, job, number)
        return { checkpoint: { number } }
      })
    }
    return { attempt: job.attempt }
  }
  const job_id = await w.enqueue(tenant, 'test-job')
  w.startRunner(1)
  for (let times = 0; times < 7; times++) {
    await deferred(job_id)
    // More deferrals than attempts: none is used up.
    await setJob(job_id, 'run_at = now(), deferred_since = null')
  }
  await deferred(job_id)
  expect(await w.ended(tenant, await w.enqueue(tenant, 'test-job', { other: true }))).toMatchObject({
    state: 'succeeded',
  })
  isDown = false
  await w.aborted(tenant, job_id)
  expect(await w.ended(tenant, job_id)).toMatchObject({
    state: 'succeeded',
    attempts: 1,
    problem: null,
    deferred_since: null,
    result: { attempt: 1 },
  })
  expect(await w.effects(tenant, job_id)).toEqual([1, 2, 3])
})

test.for([
  ['at most 24 hours ahead', 24 * 365, 24],
  ['immediately when the time is past', -5, 0],
] as const)('runs %s', async ([, asked_h, given_h]) => {
  let runs = 0
  body = async (job) => (++runs === 1 ? job.defer(inHours(asked_h)) : { runs })
  const before_ms = Date.now()
  const job_id = await w.enqueue(tenant, 'test-job')
  w.startRunner(1)
  if (given_h === 0) {
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', result: { runs: 2 } })
    return
  }
  const { run_at } = await deferred(job_id)
  expect(Date.parse(run_at)).toBeGreaterThanOrEqual(before_ms + given_h * HOUR_MS)
  expect(Date.parse(run_at)).toBeLessThanOrEqual(Date.now() + given_h * HOUR_MS)
})

test('fails after seven days without progress, with the reason of its last deferral', async () => {
  body = async (job) => job.defer(inHours(1), busy)
  const job_id = await w.enqueue(tenant, 'test-job')
  w.startRunner(1)
  await deferred(job_id)
  await setJob(job_id, `deferred_since = now() - interval '8 days', run_at = now()`)
  expect(await w.ended(tenant, job_id)).toMatchObject({
    state: 'failed',
    problem: { code: 'dependency_unavailable', detail: 'The provider asks to wait.' },
  })
})

test('a deferred job can be cancelled, and then never runs', async () => {
  let runs = 0
  body = async (job) => (++runs === 1 ? job.defer(inHours(1)) : null)
  const job_id = await w.enqueue(tenant, 'test-job')
  w.startRunner(1)
  await deferred(job_id)
  const cancelled = await w.call(`POST /jobs/${job_id}/cancel`, { token })
  expect(cancelled.json).toMatchObject({ state: 'cancelled', finished_at: expect.any(String) })
  await w.aborted(tenant, job_id)
  await w.ended(tenant, await w.enqueue(tenant, 'test-job'))
  expect(runs).toBe(2)
  expect((await w.look(tenant, job_id)).state).toBe('cancelled')
})

test('a job that is cancelled before it defers itself ends cancelled', async () => {
  const started = latch()
  const goOn = latch()
  body = async (job) => {
    started.open()
    await goOn.opened
    return job.defer(inHours(1), busy)
  }
  const job_id = await w.enqueue(tenant, 'test-job')
  w.startRunner(1, { heartbeat_ms: 600_000 })
  await started.opened
  await w.call(`POST /jobs/${job_id}/cancel`, { token })
  goOn.open()
  expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'cancelled', problem: null })
})

test('a job whose worker died before it could defer is retried, and a deferred one survives the death of its worker', async () => {
  body = async (job) => (job.attempt === 1 ? job.defer(inHours(1)) : { attempt: job.attempt })
  const job_id = await w.enqueue(tenant, 'test-job')
  const first = w.startRunner(1)
  await deferred(job_id)
  await first.stop(0)
  await w.expireLease(tenant, job_id, 1)
  w.startRunner(1)
  await waitUntil('the lease is reaped', async () => (await w.look(tenant, job_id)).attempts === 1)
  await w.aborted(tenant, job_id)
  expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', result: { attempt: 2 } })
})

test('a worker that lost its lease defers nothing', async () => {
  const started = latch()
  const goOn = latch()
  const over = latch()
  body = async (job) => {
    if (started.isOpen) return { second: true }
    started.open()
    await goOn.opened
    over.open()
    return job.defer(inHours(1))
  }
  const job_id = await w.enqueue(tenant, 'test-job')
  w.startRunner(3, { heartbeat_ms: 600_000 })
  await started.opened
  await setJob(job_id, `state = 'queued', lease_token = null, lease_until = null`)
  expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', result: { second: true } })
  goOn.open()
  await over.opened
  expect(await w.look(tenant, job_id)).toMatchObject({ state: 'succeeded', deferred_since: null })
})
