/** Metrics of what waits: the job queue, and audit events that are not chained yet. */
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { Metrics, serveMetrics } from '#kernel/metrics.ts'
import { HOUSEKEEPING } from '#modules/tenant/index.ts'
import { chainAllEvents } from './support/audit-chain.ts'
import { projectRoot } from './support/database.ts'
import { ExampleTenant } from './support/example-tenant.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'

let w: TestApp
let tenant: ExampleTenant
beforeAll(async () => {
  w = await startTestApp()
  tenant = await ExampleTenant.create(w)
})
afterAll(() => w.close())

async function ask(path: string, options: RequestInit = {}): Promise<{ status: number; text: string }> {
  const server = await serveMetrics(w.runtime.metrics, 0, '127.0.0.1')
  try {
    const { port } = server.address() as { port: number }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, options)
    return { status: response.status, text: await response.text() }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

/** Samples by name and labels, as a scraper reads them. */
async function scrape(): Promise<Record<string, number>> {
  const { text } = await ask('/metrics')
  const samples = text.split('\n').filter((line) => /^probity_(queue|audit)_/.test(line))
  return Object.fromEntries(samples.map((line) => line.split(' ')).map(([name, value]) => [name, Number(value)]))
}
const enqueue = (due_in: string) =>
  tenant.write(async (tx) => {
    const { job_id } = await w.kernel.jobs.enqueue(tx, { kind: HOUSEKEEPING, payload: {} })
    await tx.run(`update app.job set run_at = now() + $3::interval where tenant_id = $1 and job_id = $2`, [
      tx.tenant_id,
      job_id,
      due_in,
    ])
    return job_id
  })

test('alarm counters exist at 0 before the first alarm', async () => {
  const { values } = await new Metrics().alarms.get()
  expect(values.map(({ labels, value }) => [labels.reason, value])).toEqual([
    ['policy_violation', 0],
    ['internal_error', 0],
    ['audit_broken', 0],
    ['key_unavailable', 0],
    ['decryption_failed', 0],
    ['document_damaged', 0],
    ['report_altered', 0],
  ])
})

test('the metrics port answers liveness and nothing else', async () => {
  expect(await ask('/health')).toEqual({ status: 200, text: 'alive\n' })
  expect(await ask('/api/health')).toEqual({ status: 404, text: 'GET /metrics or GET /health\n' })
  expect((await ask('/metrics', { method: 'POST' })).status).toBe(404)
})

test('a process without a worker has no queue metrics', async () => {
  expect(await scrape()).toEqual({})
})

test('queue metrics show jobs by state and the delay of the oldest due job', async () => {
  w.runtime.createRunner(1)
  expect(await scrape()).toEqual({
    'probity_queue_jobs{state="queued"}': 0,
    'probity_queue_jobs{state="running"}': 0,
    probity_queue_oldest_due_seconds: 0,
    probity_queue_waiting_jobs: 0,
    probity_queue_oldest_waiting_seconds: 0,
  })
  await enqueue('1 hour')
  expect(await scrape()).toMatchObject({
    'probity_queue_jobs{state="queued"}': 1,
    probity_queue_oldest_due_seconds: 0,
  })
  await enqueue('-1 hour')
  const late = await scrape()
  expect(late['probity_queue_jobs{state="queued"}']).toBe(2)
  expect(late['probity_queue_oldest_due_seconds']).toBeGreaterThanOrEqual(3600)
  const suspend = (state: string) =>
    w.steward.write(fullScope(tenant.tenant_id, 'operator:test'), (tx) =>
      tx.run('update app.tenant set state = $2 where tenant_id = $1', [tenant.tenant_id, state]),
    )
  await suspend('suspended')
  expect(await scrape()).toMatchObject({
    'probity_queue_jobs{state="queued"}': 0,
    probity_queue_oldest_due_seconds: 0,
  })
  await suspend('active')
})

test('queue metrics show jobs that have begun and wait for their next run, and since when', async () => {
  const job_id = await enqueue('1 hour')
  await tenant.write((tx) =>
    tx.run(`update app.job set started_at = now() - interval '2 hours' where tenant_id = $1 and job_id = $2`, [
      tx.tenant_id,
      job_id,
    ]),
  )
  const { probity_queue_waiting_jobs: jobs, probity_queue_oldest_waiting_seconds: age_s } = await scrape()
  expect([jobs, Math.floor((age_s ?? 0) / 3600)]).toEqual([1, 2])
})

test('audit metrics show events that are not chained, and 0 once they are', async () => {
  const own = w.runtime.createChainWriter()
  // Counted from the tables: true before this process has scanned for the first time.
  expect((await scrape())['probity_audit_unsealed_events']).toBeGreaterThan(0)
  await chainAllEvents(w, tenant)
  const sealed = async <T>(then: () => Promise<T>): Promise<T> => {
    await own.runOnce()
    return then()
  }
  await expect.poll(() => sealed(() => own.findBacklog()), { timeout: 30_000 }).toEqual({ events: 0, age_s: 0 })
  await tenant.newUser()
  await tenant.newUser()
  const unsealed = await scrape()
  expect(unsealed['probity_audit_unsealed_events']).toBe(2)
  expect(unsealed['probity_audit_unsealed_age_seconds']).toBeGreaterThan(0)
  await expect
    .poll(() => sealed(scrape), { timeout: 30_000 })
    .toMatchObject({
      probity_audit_unsealed_events: 0,
      probity_audit_unsealed_age_seconds: 0,
    })
})

test('metrics are served without the queue when the database is gone', async () => {
  const other = await startTestApp()
  other.runtime.createRunner(1)
  await other.close()
  const text = await other.runtime.metrics.registry.metrics()
  expect(text).toContain('probity_database_waiting 0')
  expect(text).not.toMatch(/^probity_queue_jobs\{/m)
})

test('docs/operations.md names every cache that the metrics name', async () => {
  const { text } = await ask('/metrics')
  const names = [...text.matchAll(/^probity_cache_hits_total\{cache="(\w+)"\}/gm)].map(([, name]) => name as string)
  expect(names.length).toBeGreaterThan(5)
  const document = fs.readFileSync(path.join(projectRoot, 'docs/operations.md'), 'utf8')
  expect(names.filter((name) => !document.includes(`\`${name}\``))).toEqual([])
})

test('every metric of a module exists at 0 and has no label whose values are not fixed', async () => {
  const declared = w.kernel.modules.flatMap(({ metrics = [] }) => metrics)
  expect(declared.length).toBeGreaterThan(5)
  const { text } = await ask('/metrics')
  for (const { name, labels, buckets } of declared) {
    const series = text.split('\n').filter((line) => line.startsWith(buckets ? `${name}_count` : name))
    const expected = Object.values(labels).reduce((count, values) => count * values.length, 1)
    expect([name, series.length]).toEqual([name, expected])
    expect(series.map((line) => line.split(' ').at(-1))).toEqual(series.map(() => '0'))
  }
})
