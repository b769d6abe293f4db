import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countJob, demoJobs } from '#test/support/demo-jobs.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'
import { fullScope } from '../database/scope.ts'
import { Database, type Tx } from '../database/tx.ts'
import { Problem } from '../problem.ts'
import { SYSTEM_TENANT } from '../uuid.ts'
import { claimJob } from './queries.ts'
import { JobQueue } from './queue.ts'

let w: JobTestApp
beforeAll(async () => {
  w = await startJobTestApp({ jobs: demoJobs })
})
afterAll(() => w.close())

const countJobs = async (tenant_id: string): Promise<number> =>
  (await w.inTenant(tenant_id, (tx) => tx.query('select 1 from app.job where tenant_id = $1', [tenant_id]))).length

const setHeavyLimit = (tenant_id: string, burst: number) =>
  w.inTenant(tenant_id, (tx) =>
    tx.run(`insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ($1, 'heavy', 1, $2)`, [
      tenant_id,
      burst,
    ]),
  )

describe('enqueueing', () => {
  test('the job exists when its transaction commits', async () => {
    const tenant = await w.makeTenant()
    const job_id = await w.enqueue(tenant, 'demo-count', { upto: 3, pause_ms: 0 })
    expect(await w.look(tenant, job_id)).toMatchObject({
      kind: 'demo-count',
      state: 'queued',
      attempts: 0,
      max_attempts: 50,
      created_by: 'operator:test',
      progress: { done: 0, total: null, unit: null },
      revision: 1,
    })
  })

  test('the job does not exist when its transaction is rolled back', async () => {
    const tenant = await w.makeTenant()
    const undone = w.inTenant(tenant, async (tx) => {
      await w.kernel.jobs.enqueue(tx, { kind: 'demo-count', payload: { upto: 1, pause_ms: 0 } })
      throw new Error('the request failed after all')
    })
    await expect(undone).rejects.toThrow('the request failed after all')
    expect(await countJobs(tenant)).toBe(0)
  })

  test('throws for an undeclared kind and for a payload that does not match its schema', async () => {
    const tenant = await w.makeTenant()
    await expect(w.enqueue(tenant, 'demo-unheard-of')).rejects.toThrow('no module declares the job kind')
    await expect(w.enqueue(tenant, 'demo-count', { upto: 'three', pause_ms: 0 })).rejects.toThrow('does not fit')
    await expect(w.enqueue(tenant, 'demo-count', { upto: 3, pause_ms: 0, more: 1 })).rejects.toThrow('does not fit')
    expect(await countJobs(tenant)).toBe(0)
  })

  test('throws when two kinds share a name', () => {
    expect(() => new JobQueue([countJob, countJob])).toThrow('share a name')
  })
})

describe('the limit of unfinished jobs', () => {
  test('refuses more jobs, counts only unfinished jobs of the tenant, and does not apply to schedules', async () => {
    const [tenant, other] = [await w.makeTenant(), await w.makeTenant()]
    await setHeavyLimit(tenant, 2)
    const payload = { upto: 0, pause_ms: 0 }
    const first = await w.enqueue(tenant, 'demo-count', payload)
    await w.enqueue(tenant, 'demo-count', payload)
    const refused = await w.enqueue(tenant, 'demo-count', payload).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Problem)
    expect(refused).toMatchObject({ code: 'concurrency_limited', status: 429, extra: { retry_after_s: 5 } })
    expect(await countJobs(tenant)).toBe(2)
    await w.enqueue(other, 'demo-count', payload)

    await w.inTenant(tenant, (tx) => w.kernel.jobs.enqueue(tx, { kind: 'demo-count', payload, unlimited: true }))
    expect(await countJobs(tenant)).toBe(3)

    await w.inTenant(tenant, (tx) =>
      tx.run(`update app.job set state = 'failed', finished_at = now() where tenant_id = $1`, [tenant]),
    )
    await w.enqueue(tenant, 'demo-count', payload)
    await w.inTenant(tenant, (tx) => w.kernel.jobs.retry(tx, first))
    await expect(w.inTenant(tenant, (tx) => w.kernel.jobs.retry(tx, first))).rejects.toMatchObject({
      code: 'concurrency_limited',
    })
  })
})

describe('the worker role', () => {
  const asWorker = async (sql: string): Promise<string> => {
    const client = new pg.Client(w.clone.worker)
    await client.connect()
    try {
      await client.query(`begin; select set_config('app.actor', 'job:worker', true)`)
      const { rowCount } = await client.query(sql)
      return `${rowCount} rows`
    } catch (error) {
      return (error as { code: string }).code
    } finally {
      await client.end()
    }
  }
  const DENIED = '42501'

  test('sees the queue of every tenant, and nothing of what the jobs are about', async () => {
    await w.enqueue(await w.makeTenant(), 'demo-count', { upto: 7, pause_ms: 0 })
    expect(await asWorker('select tenant_id, job_id, kind, state, lease_until from app.job limit 1')).toBe('1 rows')
    for (const column of ['payload', 'checkpoint', 'result', 'problem', 'resource', 'visible_to', 'created_by', '*']) {
      expect(await asWorker(`select ${column} from app.job`), column).toBe(DENIED)
    }
    for (const column of ['payload', 'checkpoint', 'result', 'tenant_id', 'kind', 'created_by', 'visible_to']) {
      expect(await asWorker(`update app.job set ${column} = null`), column).toBe(DENIED)
    }
    expect(await asWorker('select payload from app.job_schedule')).toBe(DENIED)
    expect(await asWorker('update app.job_schedule set enabled = false')).toBe(DENIED)
  })

  test('can neither insert nor delete a job, nor read other tables', async () => {
    expect(await asWorker('delete from app.job')).toBe(DENIED)
    expect(await asWorker(`insert into app.job (kind) values ('demo-count')`)).toBe(DENIED)
    expect(await asWorker('select 1 from app.demo_effect')).toBe(DENIED)
    expect(await asWorker('select name from app.tenant')).toBe(DENIED)
  })
})

test('a claim is a few index probes, also on a queue with outdated statistics', async () => {
  for (let i = 0; i < 20; i++) {
    await w.inTenant(await w.makeTenant(), (tx) =>
      tx.run(
        `insert into app.job (tenant_id, job_id, kind, payload, created_by)
         select $1, gen_random_uuid(), 'demo-count', '{}', $2 from generate_series(1, 500)`,
        [tx.tenant_id, tx.actor],
      ),
    )
  }
  const options = { max: 2, prepared: false, statement_timeout_ms: 15_000, wait_ms: 2000 }
  const queue = new Database({ connection: w.clone.worker, ...options })
  const lines = await queue.write(fullScope(SYSTEM_TENANT, 'job:worker'), async (tx) => {
    const found: string[] = []
    const explaining = async (text: string, values?: readonly unknown[]) => {
      const rows = await tx.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${text}`, values)
      found.push(...rows.map((row) => row['QUERY PLAN']))
      return undefined
    }
    const lease = { lease_token: '00000000-0000-4000-8000-000000000000', lease_ms: 1000, worker: 'test' }
    const kinds = [...w.kernel.jobs.kinds.keys()]
    const from = { after_tenant: SYSTEM_TENANT, except_tenants: [await w.makeTenant()], kinds }
    await claimJob({ ...tx, find: explaining as Tx['find'] }, from, lease)
    return found
  })
  await queue.end()
  const readings = lines.filter((line) => / on job( |$)/.test(line) && !line.includes('Update'))
  expect(readings.length).toBeGreaterThan(2)
  for (const line of readings) expect(line).toMatch(/Index Scan using job_(due_idx|pkey)/)
  expect(lines.filter((line) => line.includes('Sort'))).toEqual([])
})
