import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { modules } from '#app/modules.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import { closed } from '#kernel/schema.ts'
import { demoModule } from '#test/support/demo-jobs.ts'
import { type JobTestApp, latch, startJobTestApp, waitUntil } from '#test/support/job-test-app.ts'

/** Each test sets what its jobs do. */
let body: (job: JobContext) => Promise<Record<string, unknown> | null> = async () => null
const test_kind = { summary: 'Does what the test says.', payload: closed({}), resumes: 'checkpoint' as const }
const testJob = defineJob({ ...test_kind, kind: 'test-job', run: (job) => body(job as JobContext) })
const restrictedJob = defineJob({
  ...test_kind,
  kind: 'test-restricted',
  visible_to: ['auditor'],
  run: async () => null,
})

let w: JobTestApp
let tenant: string
let token: string
beforeAll(async () => {
  w = await startJobTestApp({ jobs: [testJob, restrictedJob], modules: [...modules, demoModule], pool_size: 2 })
})
beforeEach(async () => {
  tenant = await w.makeTenant()
  token = await w.token({ tenant_id: tenant })
})
afterEach(() => w.clear())
afterAll(() => w.close())

const get = (job_id: string, more = '', headers: Record<string, string> = {}) =>
  w.call(`GET /jobs/${job_id}${more}`, { token, headers })

const setLimit = (bucket: 'heavy' | 'in_flight', burst: number) =>
  w.inTenant(tenant, (tx) =>
    tx.run('insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ($1, $2, 1000, $3)', [
      tenant,
      bucket,
      burst,
    ]),
  )

/** Holds a running job until the test lets it end. */
async function startHeldJob() {
  const started = latch()
  const goOn = latch()
  body = async (job) => {
    started.open()
    await goOn.opened
    await job.step(async () => ({ progress: { done: 1, total: 2, unit: 'steps' } }))
    return { ended: true }
  }
  const job_id = await w.enqueue(tenant, 'test-job')
  w.startRunner(1)
  await started.opened
  return { job_id, goOn }
}

async function* readEvents(reply: Response): AsyncGenerator<string> {
  let text = ''
  for await (const part of (reply.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += part
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield text.slice(0, end)
      text = text.slice(end + 2)
    }
  }
}

describe('starting a job', () => {
  test('returns 202 with the job, its location and Retry-After', async () => {
    const reply = await w.call('POST /demos', { token, body: { upto: 3 } })
    expect(reply.status).toBe(202)
    expect(reply.headers['location']).toBe(`/api/jobs/${reply.json.job_id}`)
    expect(reply.headers['retry-after']).toBe('1')
    expect(reply.json).toMatchObject({ state: 'queued', progress: { done: 0, total: 3, unit: 'numbers' } })
    w.startRunner(1)
    await w.ended(tenant, reply.json.job_id)
    expect(await w.effects(tenant, reply.json.job_id)).toEqual([1, 2, 3])
  })

  test('leaves no job behind when the request fails', async () => {
    const reply = await w.call('POST /demos', { token, body: { upto: 3, refuse: true } })
    expect(reply.status).toBe(409)
    expect((await w.call('GET /jobs', { token })).json.items).toEqual([])
  })

  test('repeated with the same Idempotency-Key gives the same job, which runs once', async () => {
    const send = () => w.call('POST /demos', { token, body: { upto: 2 }, headers: { 'idempotency-key': 'start-once' } })
    const first = await send()
    const second = await send()
    expect(second.status).toBe(202)
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(second.json).toEqual(first.json)
    expect((await w.call('GET /jobs', { token })).json.items).toHaveLength(1)
  })

  test('returns 429 beyond the limit of unfinished jobs, also for a retry', async () => {
    await setLimit('heavy', 1)
    const first = await w.call('POST /demos', { token, body: { upto: 0 } })
    const refused = await w.call('POST /demos', { token, body: { upto: 0 } })
    expect(refused.status).toBe(429)
    expect(refused.json).toMatchObject({ code: 'concurrency_limited', retryable: true })
    expect(refused.headers['retry-after']).toBe('5')
    await w.call(`POST /jobs/${first.json.job_id}/cancel`, { token })
    expect((await w.call('POST /demos', { token, body: { upto: 0 } })).status).toBe(202)
    expect((await w.call(`POST /jobs/${first.json.job_id}/retry`, { token })).json.code).toBe('concurrency_limited')
    expect((await get(first.json.job_id)).json.state).toBe('cancelled')
  })
})

describe('reading a job', () => {
  test('sends Retry-After until the job has ended', async () => {
    const { job_id, goOn } = await startHeldJob()
    const running = await get(job_id)
    expect(running.status).toBe(200)
    expect(running.json.state).toBe('running')
    expect(running.headers['retry-after']).toBe('1')
    goOn.open()
    await w.ended(tenant, job_id)
    const ended = await get(job_id)
    expect(ended.json).toMatchObject({ state: 'succeeded', result: { ended: true } })
    expect(ended.headers['retry-after']).toBeUndefined()
  })

  test('returns 304 while nothing has changed', async () => {
    const job_id = await w.enqueue(tenant, 'test-job')
    const first = await get(job_id)
    const etag = String(first.headers['etag'])
    const same = await get(job_id, '', { 'if-none-match': etag })
    expect(same.status).toBe(304)
    expect(same.text).toBe('')
    await w.call(`POST /jobs/${job_id}/cancel`, { token })
    const changed = await get(job_id, '', { 'if-none-match': etag })
    expect(changed.status).toBe(200)
    expect(changed.headers['etag']).not.toBe(etag)
  })

  test('with wait replies when the job changes, and at once when it has ended', async () => {
    const { job_id, goOn } = await startHeldJob()
    const before = await get(job_id)
    const waiting = get(job_id, '?wait=8')
    goOn.open()
    const reply = await waiting
    expect(reply.status).toBe(200)
    expect(reply.json.revision).toBeGreaterThan(before.json.revision)
    await w.ended(tenant, job_id)
    expect((await get(job_id, '?wait=8')).json.state).toBe('succeeded')
  })

  test('with wait returns the unchanged job when the time is up', async () => {
    const job_id = await w.enqueue(tenant, 'test-job')
    expect((await get(job_id, '?wait=1')).json).toMatchObject({ state: 'queued', revision: 1 })
  })

  test.for(['9', '-1', '1.5', 'x', ''])('refuses to wait for %j seconds', async (wait) => {
    const job_id = await w.enqueue(tenant, 'test-job')
    expect((await get(job_id, `?wait=${wait}`)).status).toBe(422)
  })

  test('streams each change and closes at the terminal state', async () => {
    const origin = await w.listen()
    const latches = [latch(), latch()] as const
    body = async (job) => {
      for (const [index, { opened }] of latches.entries()) {
        await opened
        await job.step(async () => ({ progress: { done: index + 1, total: 2, unit: 'steps' } }))
      }
      return { ended: true }
    }
    const job_id = await w.enqueue(tenant, 'test-job')
    w.startRunner(1)
    await waitUntil('it runs', async () => (await w.look(tenant, job_id)).state === 'running')
    const reply = await fetch(`${origin}/api/jobs/${job_id}/events`, { headers: { authorization: `Bearer ${token}` } })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toContain('text/event-stream')
    const seen: { state: string; progress: { done: number } }[] = []
    for await (const event of readEvents(reply)) {
      const [name, id, data] = event.split('\n') as [string, string, string]
      const job = JSON.parse(data.replace(/^data: /, ''))
      expect(name).toBe('event: job')
      expect(id).toBe(`id: ${job.revision}`)
      expect(job.job_id).toBe(job_id)
      seen.push(job)
      // Each step waits until the event of the step before was received.
      latches[job.progress.done as 0 | 1]?.open()
    }
    expect(seen.map(({ progress }) => progress.done).slice(0, 2)).toEqual([0, 1])
    expect(seen.map(({ state }) => state).filter((state) => state !== 'running')).toEqual(['succeeded'])
    expect(seen.at(-1)).toMatchObject({ state: 'succeeded', result: { ended: true } })
  })

  test('streams one event of a job that has ended and closes', async () => {
    const job_id = await w.enqueue(tenant, 'test-job')
    await w.call(`POST /jobs/${job_id}/cancel`, { token })
    const reply = await w.call(`GET /jobs/${job_id}/events`, { token })
    expect(reply.text.match(/^event: job$/gm)).toHaveLength(1)
    expect(reply.text).toContain('"state":"cancelled"')
  })

  test('coalesces the reads of requests that wait for the same job', async () => {
    const job_id = await w.enqueue(tenant, 'test-job')
    const reads = vi.spyOn(w.runtime.database, 'read')
    onTestFinished(() => reads.mockRestore())
    const replies = await Promise.all(Array.from({ length: 20 }, () => get(job_id, '?wait=1')))
    expect(replies.map(({ json }) => json.state)).toEqual(Array(20).fill('queued'))
    // One read per request for the first reply, then hardly more than a single waiter needs; without coalescing it would be a hundred.
    const looks = reads.mock.calls.length - 20
    expect(looks).toBeGreaterThan(0)
    expect(looks).toBeLessThan(60)
  })

  test('serves reads from a pool of two while 64 requests wait', async () => {
    await setLimit('in_flight', 100)
    const { job_id, goOn } = await startHeldJob()
    const waiting = Array.from({ length: 64 }, () => get(job_id, '?wait=8'))
    const inFlight = async () => {
      const { buckets } = (await w.call('GET /limits', { token })).json
      const { limit, remaining } = buckets.find(({ bucket }: { bucket: string }) => bucket === 'in_flight')
      return limit - remaining - 1
    }
    await waitUntil('all of them wait', async () => (await inFlight()) === 64)
    const read = await w.call('GET /jobs', { token })
    expect(read.status).toBe(200)
    const other = await w.makeTenant()
    expect((await w.call('GET /jobs', { token: await w.token({ tenant_id: other }) })).status).toBe(200)
    expect(await inFlight()).toBe(64)
    goOn.open()
    const replies = await Promise.all(waiting)
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  })
})

describe('who may see a job', () => {
  test('returns 404 for a restricted job to other roles, on every operation', async () => {
    const job_id = await w.enqueue(tenant, 'test-restricted')
    const open_id = await w.enqueue(tenant, 'test-job')
    const analyst = await w.token({ tenant_id: tenant, roles: ['analyst', 'tenant_admin', 'compliance_officer'] })
    const missing = '01890000-0000-7000-8000-000000000000'
    for (const at of ['GET /jobs/ID', 'GET /jobs/ID/events', 'POST /jobs/ID/cancel', 'POST /jobs/ID/retry']) {
      const [refused, absent] = await Promise.all([
        w.call(at.replace('ID', job_id), { token: analyst }),
        w.call(at.replace('ID', missing), { token: analyst }),
      ])
      expect(refused.status, at).toBe(404)
      const withoutRequestIds = ({ instance: _i, request_id: _r, ...rest }: Record<string, unknown>) => rest
      expect(withoutRequestIds(refused.json), at).toEqual(withoutRequestIds(absent.json))
    }
    const listed = await w.call('GET /jobs', { token: analyst })
    expect(listed.json.items.map((job: { job_id: string }) => job.job_id)).toEqual([open_id])
    expect((await w.look(tenant, job_id)).state).toBe('queued')

    const auditor = await w.token({ tenant_id: tenant, roles: ['auditor'] })
    expect((await w.call(`GET /jobs/${job_id}`, { token: auditor })).status).toBe(200)
    expect((await w.call('GET /jobs', { token: auditor })).json.items).toHaveLength(2)
  })

  test("returns 404 for another tenant's job", async () => {
    const job_id = await w.enqueue(await w.makeTenant(), 'test-job')
    for (const at of [`GET /jobs/${job_id}`, `GET /jobs/${job_id}/events`, `POST /jobs/${job_id}/cancel`]) {
      expect((await w.call(at, { token })).status, at).toBe(404)
    }
  })

  test('returns 403 when a reader cancels or retries', async () => {
    const job_id = await w.enqueue(tenant, 'test-job')
    const reader = await w.token({ tenant_id: tenant, roles: ['viewer', 'auditor'] })
    for (const verb of ['cancel', 'retry']) {
      expect((await w.call(`POST /jobs/${job_id}/${verb}`, { token: reader })).status).toBe(403)
    }
  })
})

describe('listing', () => {
  test('is newest first, filtered by kind and state, in pages', async () => {
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.push(await w.enqueue(tenant, i % 2 ? 'test-restricted' : 'test-job'))
    await w.call(`POST /jobs/${ids[0]}/cancel`, { token })
    const list = async (query: string) => {
      const reply = await w.call(`GET /jobs?${query}`, { token })
      expect(reply.status).toBe(200)
      return { ids: reply.json.items.map((job: { job_id: string }) => job.job_id), next: reply.json.next_cursor }
    }
    expect((await list('kind=test-job&state=queued')).ids).toEqual([ids[4], ids[2]])
    expect((await list('state=cancelled')).ids).toEqual([ids[0]])
    const seen: string[] = []
    let page = await list('limit=2')
    for (;;) {
      seen.push(...page.ids)
      if (page.next === null) break
      page = await list(`limit=2&cursor=${page.next}`)
    }
    expect(seen).toEqual(ids.toReversed())
  })
})
