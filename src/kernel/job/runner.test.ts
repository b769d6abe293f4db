import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { countJob, insertEffect, singleEffectJob } from '#test/support/demo-jobs.ts'
import { type JobTestApp, latch, startJobTestApp, waitUntil } from '#test/support/job-test-app.ts'
import { fail } from '../problem.ts'
import { Type } from '../schema.ts'
import { uuidv7 } from '../uuid.ts'
import { defineJob } from './define-job.ts'
import type { JobContext } from './kind.ts'
import { insertJob } from './queries.ts'

type Job = JobContext<Record<string, unknown>, { number: number }>
type Body = (job: Job) => Promise<Record<string, unknown> | null>

const NEVER_MS = 2 ** 30

/** Each test says what its jobs do. */
let body: Body = async () => null
const kind = (name: string, resumes: 'checkpoint' | 'restart') =>
  defineJob({
    kind: name,
    summary: 'Does what the test says.',
    payload: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
    resumes,
    run: (job: Job) => body(job),
  })

let w: JobTestApp
let tenant: string
beforeAll(async () => {
  w = await startJobTestApp({
    jobs: [countJob, singleEffectJob, kind('test-checkpoint', 'checkpoint'), kind('test-restart', 'restart')],
  })
})
beforeEach(async () => {
  tenant = await w.makeTenant()
})
afterEach(() => w.clear())
afterAll(() => w.close())

const effect = (job: Job, number: number) =>
  job.step(async (tx) => {
    await insertEffect(tx, job, number)
    return { checkpoint: { number }, progress: { done: number, total: 5, unit: 'numbers' } }
  })

describe('running', () => {
  test('steps commit one by one, progress is visible, and the result is stored', async () => {
    const reached = latch()
    const goOn = latch()
    body = async (job) => {
      await effect(job, 1)
      await effect(job, 2)
      reached.open()
      await goOn.opened
      await effect(job, 3)
      return { counted: 3 }
    }
    const job_id = await w.enqueue(tenant, 'test-checkpoint')
    w.startRunner()
    await reached.opened
    expect(await w.look(tenant, job_id)).toMatchObject({
      state: 'running',
      attempts: 1,
      progress: { done: 2, total: 5, unit: 'numbers' },
      result: null,
      finished_at: null,
    })
    expect(await w.effects(tenant, job_id)).toEqual([1, 2])
    goOn.open()
    const ended = await w.ended(tenant, job_id)
    expect(ended).toMatchObject({ state: 'succeeded', result: { counted: 3 }, problem: null })
    expect(ended.started_at).not.toBeNull()
    expect(ended.finished_at).not.toBeNull()
    expect(await w.effects(tenant, job_id)).toEqual([1, 2, 3])
  })

  test('waits for the job in this process end with it, when its end can be read', async () => {
    body = async () => null
    const job_id = await w.enqueue(tenant, 'test-restart')
    const waiting = w.kernel.jobs.watch.pause(job_id, NEVER_MS)
    w.startRunner()
    await waiting
    expect(await w.look(tenant, job_id)).toMatchObject({ state: 'succeeded' })
  })

  test('the last effect and the end are one transaction: when the effect fails, the job has not ended', async () => {
    body = async (job) => {
      await job.finish(async (tx) => {
        await insertEffect(tx, job, 1)
        if (job.attempt === 1) throw new Error('after the effect, before the commit')
        return { attempt: job.attempt }
      })
      return null
    }
    const job_id = await w.enqueue(tenant, 'test-restart')
    w.startRunner()
    await waitUntil('the first attempt is over', async () => {
      const job = await w.look(tenant, job_id)
      return job.state === 'queued' && job.attempts === 1
    })
    expect(await w.effects(tenant, job_id)).toEqual([])
    await w.aborted(tenant, job_id)
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', result: { attempt: 2 } })
    expect(await w.effects(tenant, job_id)).toEqual([1])
  })

  test('the end is when the last effect was done, not when its transaction began', async () => {
    body = async (job) => {
      await job.finish(async (tx) => {
        await insertEffect(tx, job, 1)
        const row = await tx.find<{ at: string }>('select clock_timestamp() as at')
        return { at: row?.at }
      })
      return null
    }
    const job_id = await w.enqueue(tenant, 'test-restart')
    w.startRunner()
    const { finished_at, result } = await w.ended(tenant, job_id)
    expect(finished_at).not.toBeNull()
    expect(String(finished_at) > (result as { at: string }).at).toBe(true)
  })

  test('a tenant leaves a slot to the others, and half of the slots once others need them', async () => {
    const other = await w.makeTenant()
    const latches = new Map<string, ReturnType<typeof latch>>()
    const getLatch = (job_id: string) => {
      const known = latches.get(job_id) ?? latch()
      latches.set(job_id, known)
      return known
    }
    body = async (job) => {
      await getLatch(job.job_id).opened
      return null
    }
    const enqueue = (tenant_id: string, count: number) =>
      Promise.all(Array.from({ length: count }, () => w.enqueue(tenant_id, 'test-restart')))
    const listRunning = async (tenant_id: string, job_ids: readonly string[]) => {
      const jobs = await Promise.all(job_ids.map((job_id) => w.look(tenant_id, job_id)))
      return jobs.filter(({ state }) => state === 'running').map(({ job_id }) => job_id)
    }
    const slow = await enqueue(tenant, 6)
    w.startRunner(4)
    const [first] = await waitUntil('the tenant holds all slots but one', async () => {
      const running = await listRunning(tenant, slow)
      return running.length === 3 && running
    })
    const others = await enqueue(other, 3)
    const started = (count: number) =>
      waitUntil(`${count} jobs of the other tenant run`, async () => {
        const running = await listRunning(other, others)
        return running.length === count && running
      })
    await started(1)
    getLatch(first as string).open()
    const [ending] = await started(2)
    // The next slot that becomes free is the other tenant's again: the first one holds half of them.
    getLatch(ending as string).open()
    await w.ended(other, ending as string)
    await started(2)
    expect(await listRunning(tenant, slow)).toHaveLength(2)
    for (const job_id of [...slow, ...others]) getLatch(job_id).open()
    for (const job_id of slow) expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded' })
  })

  test('a job of an unknown kind is not claimed', async () => {
    const unknown = uuidv7()
    await w.inTenant(tenant, (tx) =>
      insertJob(
        tx,
        {
          job_id: unknown,
          kind: 'test-from-a-newer-release',
          payload: {},
          resource: null,
          visible_to: null,
          restriction_id: null,
          max_attempts: 5,
          progress_total: null,
          progress_unit: null,
        },
        null,
      ),
    )
    const known = await w.enqueue(tenant, 'demo-stamp', { pause_ms: 0 })
    w.startRunner()
    await w.ended(tenant, known)
    expect(await w.look(tenant, unknown)).toMatchObject({ state: 'queued', attempts: 0 })
  })
})

describe('round robin over tenants', () => {
  test('one tenant with fifty jobs does not keep three others waiting', async () => {
    const order: string[] = []
    body = async (job) => {
      order.push(job.tenant_id)
      return null
    }
    for (let i = 0; i < 50; i++) await w.enqueue(tenant, 'test-restart')
    const others = [await w.makeTenant(), await w.makeTenant(), await w.makeTenant()]
    const jobs = await Promise.all(others.map((other) => w.enqueue(other, 'test-restart')))
    w.startRunner(1)
    for (const [i, other] of others.entries()) await w.ended(other, jobs[i] as string)
    await waitUntil('all of them have run', () => order.length === 53)
    const served = others.map((other) => order.indexOf(other))
    expect(Math.max(...served)).toBeLessThanOrEqual(4)
  })

  test('within a tenant the job that has been due longest comes first, and one that is not due does not come', async () => {
    const order: unknown[] = []
    body = async (job) => {
      order.push(job.payload['name'])
      return null
    }
    const [later, late, early] = [
      await w.enqueue(tenant, 'test-restart', { name: 'later' }),
      await w.enqueue(tenant, 'test-restart', { name: 'late' }),
      await w.enqueue(tenant, 'test-restart', { name: 'early' }),
    ]
    const move = (job_id: string, by: string) =>
      w.inTenant(tenant, (tx) =>
        tx.run(`update app.job set run_at = now() + interval '${by}' where tenant_id = $1 and job_id = $2`, [
          tenant,
          job_id,
        ]),
      )
    await move(later, '1 hour')
    await move(late, '-1 minute')
    await move(early, '-2 minutes')
    w.startRunner(1)
    await w.ended(tenant, late)
    expect(order).toEqual(['early', 'late'])
    expect(await w.look(tenant, later)).toMatchObject({ state: 'queued', attempts: 0 })
  })

  test('several runners share one queue without taking a job twice', async () => {
    const ran: string[] = []
    body = async (job) => {
      ran.push(job.job_id)
      return null
    }
    const jobs: string[] = []
    for (let i = 0; i < 40; i++) jobs.push(await w.enqueue(tenant, 'test-restart'))
    for (let i = 0; i < 3; i++) w.startRunner(3)
    for (const job_id of jobs) await w.ended(tenant, job_id)
    expect(ran.toSorted()).toEqual(jobs.toSorted())
  })
})

describe('leases', () => {
  test.for([
    { tries: 'a step', late: (job: Job) => effect(job, 2) },
    { tries: 'to finish', late: (job: Job) => job.finish((tx) => insertEffect(tx, job, 2).then(() => null)) },
    { tries: 'to succeed', late: async () => {} },
    { tries: 'to fail', late: async () => fail('conflict', 'lease expired') },
  ])('a stalled worker loses its job to another, and its later $tries has no effect', async ({ late }) => {
    const stalled = latch()
    const wakeUp = latch()
    const second = latch()
    const endSecond = latch()
    body = async (job) => {
      if (job.attempt === 1) {
        await effect(job, 1)
        stalled.open()
        await wakeUp.opened
        await late(job)
        return { attempt: 1 }
      }
      await effect(job, 2)
      second.open()
      await endSecond.opened
      await effect(job, 3)
      return { attempt: job.attempt }
    }
    const job_id = await w.enqueue(tenant, 'test-checkpoint')
    // No heartbeat comes while the test lasts, as in a process that is stopped or swapped out.
    const first = w.startRunner(1, { lease_ms: 300, heartbeat_ms: 600_000 })
    await stalled.opened
    w.startRunner(1)
    await waitUntil('the lease has been taken back', async () => (await w.look(tenant, job_id)).state === 'queued')
    expect((await w.look(tenant, job_id)).problem).toMatchObject({ code: 'dependency_unavailable', status: 503 })
    await w.aborted(tenant, job_id)
    await second.opened
    wakeUp.open()
    await waitUntil('the stalled one has given up', () => first.running === 0)
    expect(await w.look(tenant, job_id)).toMatchObject({ state: 'running', attempts: 2, result: null })
    endSecond.open()
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', attempts: 2, result: { attempt: 2 } })
    expect(await w.effects(tenant, job_id)).toEqual([1, 2, 3])
  })

  const ways: Readonly<Record<string, (job: Job) => Promise<unknown>>> = {
    step: (job) => effect(job, 1),
    write: (job) => job.write((tx) => insertEffect(tx, job, 1)),
  }
  test.each(Object.keys(ways))(
    'an expired lease permits no %s, even before another worker has reaped it',
    async (way) => {
      const claimed = latch()
      const goOn = latch()
      const refused = latch()
      body = async (job) => {
        if (job.attempt > 1) return null
        claimed.open()
        await goOn.opened
        await ways[way]?.(job).catch((error) => {
          refused.open()
          throw error
        })
        return null
      }
      const job_id = await w.enqueue(tenant, 'test-checkpoint')
      w.startRunner(1, { heartbeat_ms: 600_000 })
      await claimed.opened
      await w.inTenant(tenant, (tx) =>
        tx.run(`update app.job set lease_until = now() - interval '1 ms' where tenant_id = $1 and job_id = $2`, [
          tenant,
          job_id,
        ]),
      )
      goOn.open()
      await refused.opened
      expect(await w.effects(tenant, job_id)).toEqual([])
    },
  )

  test('the heartbeat extends the lease, and aborts a body whose lease was lost', async () => {
    const started = latch()
    let reported = false
    body = async (job) => {
      if (job.attempt > 1) return null
      started.open()
      await new Promise((resolve) => job.signal.addEventListener('abort', resolve))
      reported = true
      return null
    }
    const job_id = await w.enqueue(tenant, 'test-restart')
    w.startRunner(1)
    await started.opened
    const first = await w.getLeaseEnd(tenant, job_id)
    await waitUntil('the lease has been extended', async () => (await w.getLeaseEnd(tenant, job_id)) !== first)
    expect(reported).toBe(false)
    await w.requeue(tenant, job_id)
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', attempts: 2 })
    expect(reported).toBe(true)
  })

  test('a job lost and claimed again by the same worker keeps its second lease when the first body ends', async () => {
    const first = latch()
    const second = latch()
    const endFirst = latch()
    const endSecond = latch()
    const firstEnded = latch()
    body = async (job) => {
      if (job.attempt === 1) {
        first.open()
        await endFirst.opened
        firstEnded.open()
        throw new Error('lease expired')
      }
      second.open()
      await endSecond.opened
      return { attempt: job.attempt }
    }
    const job_id = await w.enqueue(tenant, 'test-restart')
    const runner = w.startRunner(3)
    await first.opened
    await w.requeue(tenant, job_id)
    await second.opened
    expect(runner.running).toBe(2)
    endFirst.open()
    await firstEnded.opened
    await waitUntil('the first body is gone', () => runner.running === 1)
    const lease = await w.getLeaseEnd(tenant, job_id)
    await waitUntil('the second lease is extended', async () => (await w.getLeaseEnd(tenant, job_id)) !== lease)
    endSecond.open()
    expect(await w.ended(tenant, job_id)).toMatchObject({ state: 'succeeded', result: { attempt: 2 } })
  })

  test.for([
    { resumes: 'checkpoint', seen: [null, { number: 2 }], effects: [1, 2, 3] },
    { resumes: 'restart', seen: [null, null], effects: [1, 1, 2, 2, 3] },
  ] as const)('after its worker died a $resumes kind begins where it says', async ({ resumes, seen, effects }) => {
    const stuck = latch()
    const checkpoints: unknown[] = []
    body = async (job) => {
      checkpoints.push(job.checkpoint)
      for (let number = (job.checkpoint?.number ?? 0) + 1; number <= 3; number++) {
        if (number === 3 && job.attempt === 1) {
          stuck.open()
          await new Promise((resolve) => job.signal.addEventListener('abort', resolve))
        }
        await effect(job, number)
      }
      return null
    }
    const job_id = await w.enqueue(tenant, `test-${resumes}`)
    w.startRunner(1)
    await stuck.opened
    await w.requeue(tenant, job_id)
    await w.ended(tenant, job_id)
    expect(checkpoints).toEqual(seen)
    expect(await w.effects(tenant, job_id)).toEqual(effects)
  })

  test('a job whose workers keep dying fails after its last attempt, with the reason', async () => {
    const job_id = await w.enqueue(tenant, 'test-restart')
    body = async () => fail('internal', 'must not run')
    await w.expireLease(tenant, job_id, 5)
    w.startRunner(1)
    expect(await w.ended(tenant, job_id)).toMatchObject({
      state: 'failed',
      attempts: 5,
      problem: { code: 'dependency_unavailable', detail: expect.stringContaining('worker that ran this job died') },
    })
  })
})
