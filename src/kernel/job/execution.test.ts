import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { insertEffect } from '#test/support/demo-jobs.ts'
import { type JobTestApp, latch, startJobTestApp, waitUntil } from '#test/support/job-test-app.ts'
import { fail } from '../problem.ts'
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

const countTo = async (job: Job, last: number, beforeEach: (number: number) => Promise<void> = async () => {}) => {
  for (let number = (job.checkpoint?.number ?? 0) + 1; number <= last; number++) {
    await beforeEach(number)
    await job.step(async (tx) => {
      await insertEffect(tx, job, number)
      return { checkpoint: { number }, progress: { done: number } }
    })
  }
  return { counted: last }
}

const reported = (job: Job) => new Promise<void>((resolve) => job.signal.addEventListener('abort', () => resolve()))

const waitingAfter = (job_id: string, attempts: number) =>
  waitUntil(`attempt ${attempts} is over`, async () => {
    const job = await w.look(tenant, job_id)
    return job.state === 'queued' && job.attempts === attempts && job
  })

const databaseTime_ms = async (): Promise<number> => {
  const row = await w.inTenant(tenant, (tx) => tx.find<{ at: string }>('select clock_timestamp() as at'))
  return Date.parse(row?.at ?? '')
}

describe('a failing job', () => {
  test('is tried five times, pausing longer each time, and then carries its last problem', async () => {
    const thrownAt_ms: number[] = []
    body = async () => {
      thrownAt_ms.push(await databaseTime_ms())
      throw new Error('secret words of a library')
    }
    const job_id = await w.enqueue(tenant, 'test-job')
    w.startRunner(1)
    for (const [index, pause_s] of [1, 4, 16, 64].entries()) {
      const job = await waitingAfter(job_id, index + 1)
      expect(job.problem).toMatchObject({ code: 'internal', status: 500 })
      const run_at_ms = Date.parse(job.run_at)
      expect(run_at_ms).toBeGreaterThanOrEqual((thrownAt_ms[index] as number) + pause_s * 1000)
      expect(run_at_ms).toBeLessThanOrEqual((await databaseTime_ms()) + pause_s * 1000)
      await w.aborted(tenant, job_id)
    }
    const ended = await w.ended(tenant, job_id)
    expect(ended).toMatchObject({ state: 'failed', attempts: 5, max_attempts: 5, result: null })
    expect(thrownAt_ms).toHaveLength(5)
    expect(ended.problem).toEqual({
      type: '/api/errors/internal',
      title: 'Internal error',
      status: 500,
      code: 'internal',
      detail: expect.any(String),
      instance: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
      request_id: expect.any(String),
      retryable: false,
    })
    expect(JSON.stringify(ended)).not.toContain('secret words')
  })

  test('fails without a retry when its input is invalid', async () => {
    body = async () =>
      fail('validation_failed', {
        detail: 'Line 3 is not a date.',
        errors: [{ in: 'body', pointer: '#/3', detail: 'is not a date' }],
      })
    const job_id = await w.enqueue(tenant, 'test-job')
    w.startRunner(1)
    expect(await w.ended(tenant, job_id)).toMatchObject({
      state: 'failed',
      attempts: 1,
      problem: {
        code: 'validation_failed',
        status: 422,
        detail: 'Line 3 is not a date.',
        errors: [{ pointer: '#/3' }],
      },
    })
  })

  test('raises an alarm for an undeclared failure, as a request does', async () => {
    const alarms = async () => {
      const { values } = await w.runtime.metrics.alarms.get()
      return Object.fromEntries(values.map(({ labels, value }) => [labels.reason, value]))
    }
    const other = await w.makeTenant()
    const trespass = (job: Job) =>
      job.write((tx) =>
        tx.run(`insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ($1, 'heavy', 1, 1)`, [
          other,
        ]),
      )
    const failures: ((job: Job) => Promise<unknown>)[] = [
      () => Promise.reject(new Error('an accident')),
      trespass,
      async () => fail('dependency_unavailable'),
    ]
    body = async (job) => {
      if (job.attempt === 1) await failures[job.payload['which'] as number]?.(job)
      return null
    }
    const before = await alarms()
    const job_ids = await Promise.all(failures.map((_, which) => w.enqueue(tenant, 'test-job', { which })))
    w.startRunner(3)
    for (const job_id of job_ids) {
      expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', attempts: 2 })
    }
    const { policy_violation = 0, internal_error = 0 } = before
    expect(await alarms()).toEqual({
      ...before,
      policy_violation: policy_violation + 1,
      internal_error: internal_error + 1,
    })
  })

  test('is retried when a dependency is down, and succeeds without a problem', async () => {
    body = async (job) => (job.attempt < 3 ? fail('dependency_unavailable') : { attempt: job.attempt })
    const job_id = await w.enqueue(tenant, 'test-job')
    w.startRunner(1)
    for (const attempt of [1, 2]) {
      expect((await waitingAfter(job_id, attempt)).problem).toMatchObject({ code: 'dependency_unavailable' })
      await w.aborted(tenant, job_id)
    }
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', problem: null, result: { attempt: 3 } })
  })

  test('continues from its checkpoint with all its attempts when a user retries it', async () => {
    let broken = true
    body = (job) => countTo(job, 5, async (number) => void (number === 4 && broken && fail('conflict', 'Not now.')))
    const job_id = await w.enqueue(tenant, 'test-job')
    w.startRunner(1)
    await w.ended(tenant, job_id)
    expect(await w.effects(tenant, job_id)).toEqual([1, 2, 3])
    broken = false
    const retried = await w.call(`POST /jobs/${job_id}/retry`, { token })
    expect(retried.status).toBe(202)
    expect(retried.headers['location']).toBe(`/api/jobs/${job_id}`)
    expect(retried.json).toMatchObject({ state: 'queued', attempts: 0, problem: null, progress: { done: 3 } })
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', attempts: 1, result: { counted: 5 } })
    expect(await w.effects(tenant, job_id)).toEqual([1, 2, 3, 4, 5])
    const refused = await w.call(`POST /jobs/${job_id}/retry`, { token })
    expect(refused.status).toBe(409)
    expect(refused.json).toMatchObject({ code: 'transition_not_allowed', detail: expect.stringContaining('succeeded') })
  })
})

describe('cancelling', () => {
  const cancel = (job_id: string) => w.call(`POST /jobs/${job_id}/cancel`, { token })

  test('a queued job ends immediately and never runs', async () => {
    let ran = 0
    body = async () => ({ ran: ++ran })
    const job_id = await w.enqueue(tenant, 'test-job')
    const reply = await cancel(job_id)
    expect(reply.status).toBe(200)
    expect(reply.json).toMatchObject({ state: 'cancelled', cancel_requested: true, finished_at: expect.any(String) })
    const next = await w.enqueue(tenant, 'test-job')
    w.startRunner(1)
    await w.ended(tenant, next)
    expect(ran).toBe(1)
    expect((await w.look(tenant, job_id)).state).toBe('cancelled')
  })

  test('has no effect the second time', async () => {
    const job_id = await w.enqueue(tenant, 'test-job')
    const first = await cancel(job_id)
    const second = await cancel(job_id)
    expect(second.status).toBe(200)
    expect(second.json).toEqual(first.json)
  })

  test('a running job is aborted, and stops', async () => {
    const started = latch()
    body = async (job) => {
      started.open()
      await reported(job)
      // As many libraries do, it reports the interruption in its own way.
      throw new Error('aborted')
    }
    const job_id = await w.enqueue(tenant, 'test-job')
    w.startRunner(1)
    await started.opened
    expect((await cancel(job_id)).json).toMatchObject({ state: 'running', cancel_requested: true })
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'cancelled', problem: null, attempts: 1 })
  })

  test('a running job stops at its next step, without waiting for a heartbeat', async () => {
    const paused = latch()
    const goOn = latch()
    body = (job) =>
      countTo(job, 5, async (number) => {
        if (number !== 3) return
        paused.open()
        await goOn.opened
      })
    const job_id = await w.enqueue(tenant, 'test-job')
    w.startRunner(1, { heartbeat_ms: 600_000 })
    await paused.opened
    await cancel(job_id)
    goOn.open()
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'cancelled', progress: { done: 3 } })
    expect(await w.effects(tenant, job_id)).toEqual([1, 2, 3])
  })

  test('a body that returns because it was aborted has not succeeded', async () => {
    const started = latch()
    body = async (job) => {
      started.open()
      await reported(job)
      return { counted: 'half' }
    }
    const job_id = await w.enqueue(tenant, 'test-job')
    w.startRunner(1)
    await started.opened
    await cancel(job_id)
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'cancelled', result: null })
  })

  test('a job that fails meanwhile does not wait for another attempt to be cancelled', async () => {
    const started = latch()
    const goOn = latch()
    body = async () => {
      started.open()
      await goOn.opened
      throw new Error('failed by itself')
    }
    const job_id = await w.enqueue(tenant, 'test-job')
    w.startRunner(1, { heartbeat_ms: 600_000 })
    await started.opened
    await cancel(job_id)
    goOn.open()
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'cancelled', attempts: 1, problem: null })
  })

  test('a job whose worker died after that ends cancelled, and can be started again', async () => {
    body = async (job) => ({ attempt: job.attempt })
    const job_id = await w.enqueue(tenant, 'test-job')
    await w.inTenant(tenant, (tx) =>
      tx.run(
        `update app.job set state = 'running', attempts = 1, lease_token = gen_random_uuid(), lease_until = now() + interval '1 hour'
          where tenant_id = $1 and job_id = $2`,
        [tenant, job_id],
      ),
    )
    await cancel(job_id)
    await w.inTenant(tenant, (tx) =>
      tx.run(`update app.job set lease_until = now() - interval '1 s' where tenant_id = $1`, [tenant]),
    )
    w.startRunner(1)
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'cancelled', problem: null })
    const retried = await w.call(`POST /jobs/${job_id}/retry`, { token })
    expect(retried.json).toMatchObject({ state: 'queued', cancel_requested: false, finished_at: null })
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', result: { attempt: 1 } })
  })
})

describe('requeueing', () => {
  test('a draining worker returns its job to the queue, and the attempt does not count', async () => {
    const paused = latch()
    body = (job) =>
      countTo(job, 4, async (number) => {
        if (number !== 3 || paused.isOpen) return
        paused.open()
        await reported(job)
      })
    const job_id = await w.enqueue(tenant, 'test-job')
    const first = w.startRunner(1)
    await paused.opened
    await first.stop(0)
    expect(await w.look(tenant, job_id)).toMatchObject({ state: 'queued', attempts: 0, problem: null })
    w.startRunner(1)
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', attempts: 1, result: { counted: 4 } })
    expect(await w.effects(tenant, job_id)).toEqual([1, 2, 3, 4])
  })

  test('a draining worker waits for jobs that end in time, and takes no new ones', async () => {
    const started = latch()
    const goOn = latch()
    body = async () => {
      started.open()
      await goOn.opened
      return { done: true }
    }
    const job_id = await w.enqueue(tenant, 'test-job')
    const runner = w.startRunner(2)
    await started.opened
    const stopped = runner.stop(20_000)
    const later = await w.enqueue(tenant, 'test-job')
    goOn.open()
    await stopped
    expect(await w.look(tenant, job_id)).toMatchObject({ state: 'succeeded' })
    expect(await w.look(tenant, later)).toMatchObject({ state: 'queued', attempts: 0 })
  })

  test('a body that ignores its signal neither delays the shutdown nor has an effect after it', async () => {
    const started = latch()
    const goOn = latch()
    const refused = latch()
    body = async (job) => {
      if (started.isOpen) return countTo(job, 1)
      started.open()
      await goOn.opened
      return countTo(job, 1).catch((error) => {
        refused.open()
        throw error
      })
    }
    const job_id = await w.enqueue(tenant, 'test-job')
    const first = w.startRunner(1)
    await started.opened
    await first.stop(0)
    expect(await w.look(tenant, job_id)).toMatchObject({ state: 'queued', attempts: 0 })
    w.startRunner(1)
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded' })
    goOn.open()
    await refused.opened
    expect(await w.effects(tenant, job_id)).toEqual([1])
  })
})

describe('a suspended tenant', () => {
  test('has its queued jobs wait, and run after it is resumed', async () => {
    body = async () => ({ done: true })
    const other = await w.makeTenant()
    const job_id = await w.enqueue(tenant, 'test-job')
    await w.setTenantState(tenant, 'suspended')
    const elsewhere = [await w.enqueue(other, 'test-job'), await w.enqueue(other, 'test-job')]
    w.startRunner(1)
    for (const id of elsewhere) await w.ended(other, id)
    expect(await w.look(tenant, job_id)).toMatchObject({ state: 'queued', attempts: 0 })
    await w.setTenantState(tenant, 'active')
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded' })
  })

  test('has its running job stop, keep its committed steps, and continue after it is resumed', async () => {
    const paused = latch()
    body = (job) =>
      countTo(job, 3, async (number) => {
        if (number !== 2 || paused.isOpen) return
        paused.open()
        await reported(job)
      })
    const job_id = await w.enqueue(tenant, 'test-job')
    w.startRunner(1)
    await paused.opened
    await w.setTenantState(tenant, 'suspended')
    await waitUntil('it has been handed back', async () => (await w.look(tenant, job_id)).state === 'queued')
    expect(await w.look(tenant, job_id)).toMatchObject({ attempts: 0, progress: { done: 1 } })
    await w.setTenantState(tenant, 'active')
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', attempts: 1 })
    expect(await w.effects(tenant, job_id)).toEqual([1, 2, 3])
  })
})
