/** jobs.wait with real jobs and a real worker. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, type ProbityClient } from '#client/index.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import { fail } from '#kernel/problem.ts'
import { closed, oneOf } from '#kernel/schema.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

/** Steps are let through one by one, so that what a waiting client sees does not depend on timing. */
let permits = 0
async function permitted(): Promise<void> {
  while (permits === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  permits--
}

const work = defineJob({
  kind: 'client-test',
  summary: 'Two steps, or none.',
  payload: closed({ ending: oneOf(['well', 'badly', 'never']) }),
  resumes: 'restart',
  run: async ({ payload, step, signal }) => {
    if (payload.ending === 'badly') fail('conflict', 'It does not fit.')
    if (payload.ending === 'never') {
      while (!signal.aborted) await step(async () => ({ progress: { done: 0 } }))
      return null
    }
    for (const done of [1, 2]) {
      await permitted()
      await step(async () => ({ progress: { done, total: 2, unit: 'rows' } }))
    }
    return { rows: 2 }
  },
})

let w: TestApp
let probity: ProbityClient
let runner: ReturnType<TestApp['runtime']['createRunner']>

beforeAll(async () => {
  w = await startTestApp({ jobs: [work] })
  probity = createClient({ url: await w.listen(), token: await w.token() })
  runner = w.runtime.createRunner(2, { poll_ms: 50 })
  runner.start()
})
afterAll(async () => {
  await runner?.stop(1000)
  await w?.close()
})

const start = async (ending: 'well' | 'badly' | 'never') =>
  w.runtime.database.write(fullScope(await w.tenant(), 'user:test'), (tx) =>
    w.kernel.jobs.enqueue(tx, { kind: 'client-test', payload: { ending } }),
  )

test('resolves with the finished job and reports its progress', async () => {
  const done: number[] = []
  const finished = await probity.jobs.wait(await start('well'), {
    onProgress: (job) => {
      done.push(job.progress.done)
      permits++
    },
  })
  expect(finished).toMatchObject({ state: 'succeeded', result: { rows: 2 } })
  expect(done.at(-1)).toBe(2)
  expect(done).toEqual([...done].sort())
})

test('throws the problem of a failed job with the job', async () => {
  const { job_id } = await start('badly')
  await expect(probity.jobs.wait(job_id)).rejects.toMatchObject({
    code: 'conflict',
    detail: 'It does not fit.',
    job: { job_id, state: 'failed' },
  })
})

test('throws job_cancelled for a cancelled job', async () => {
  const { job_id } = await start('never')
  const waiting = probity.jobs.wait(job_id)
  const [outcome] = await Promise.allSettled([
    waiting,
    probity.POST('/api/jobs/{job_id}/cancel', { params: { path: { job_id } } }),
  ])
  expect(outcome).toMatchObject({ reason: { code: 'job_cancelled', job: { state: 'cancelled' } } })
})

test('can be aborted without affecting the job', async () => {
  const { job_id } = await start('well')
  const controller = new AbortController()
  const waiting = probity.jobs.wait(job_id, {
    signal: controller.signal,
    onProgress: () => controller.abort(new Error('not interested')),
  })
  await expect(waiting).rejects.toThrow('not interested')
  await expect
    .poll(async () => {
      permits++
      return (await probity.GET('/api/jobs/{job_id}', { params: { path: { job_id } } })).state
    })
    .toBe('succeeded')
})
