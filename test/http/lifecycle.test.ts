/** Probes, readiness, and leaving: a process that receives a stop signal completes what it began and reports it at once. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { modules } from '#app/modules.ts'
import { startSecondProcess } from '../support/second-process.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { createTestModule } from '../support/test-module.ts'

let w: TestApp

beforeAll(async () => {
  w = await startTestApp()
})
afterAll(() => w.close())

describe('probes', () => {
  test('are at /api and at the root, without a token', async () => {
    for (const url of ['/api/health', '/health']) {
      const reply = await w.server.app.inject({ url })
      expect(reply.statusCode).toBe(200)
      expect(reply.json()).toEqual({ status: 'ok', uptime_s: expect.any(Number) })
    }
    for (const url of ['/api/health/ready', '/health/ready']) {
      expect((await w.server.app.inject({ url })).statusCode).toBe(200)
    }
    expect((await w.server.app.inject({ url: '/users' })).statusCode).toBe(404)
  })

  test('readiness names every check with its status and latency', async () => {
    const { json } = await w.call('GET /health/ready')
    const { schema_version } = w.kernel.build
    expect(json.status).toBe('ready')
    expect(json.checks).toMatchObject({
      process: { status: 'ok' },
      database: { status: 'ok' },
      schema: { status: 'ok', current: schema_version, expected: schema_version },
      tenant_isolation: { status: 'ok' },
      seed: { status: 'ok' },
      plugins: { status: 'ok' },
      tool_protocol: { status: 'ok' },
    })
    for (const check of Object.values(json.checks)) expect(check).toMatchObject({ latency_ms: expect.any(Number) })
  })

  test('without its database a process is alive and not ready, and every operation returns 503', async () => {
    const nowhere = { ...w.clone.app, database: 'no_such_database' }
    // It lost its database after it had started, and with its keys read.
    const { integrity } = w.kernel
    const lost = await startSecondProcess(w, { connections: { app: nowhere, worker: nowhere }, integrity })
    expect((await lost.get('/api/health')).status).toBe(200)
    const ready = await lost.get('/health/ready')
    expect(ready.status).toBe(503)
    expect(ready.headers['retry-after']).toBe('1')
    expect(ready.json).toMatchObject({
      status: 'not_ready',
      checks: {
        database: { status: 'failed' },
        schema: { status: 'failed' },
        tool_protocol: { status: 'ok' },
      },
    })
    expect(JSON.stringify(ready.json)).not.toContain('no_such_database')
    const refused = await lost.get('/api/auth/me', await w.token())
    expect(refused.status).toBe(503)
    expect(refused.headers['retry-after']).toMatch(/^[1-9]/)
    expect(refused.json).toMatchObject({ code: 'dependency_unavailable', retryable: true })
    await lost.close()
  })

  test('an older process stays ready on a newer schema, a newer one waits for the migration', async () => {
    const build = (schema_version: string) => ({ ...w.kernel.build, schema_version })
    const older = await startSecondProcess(w, { build: build('0001') })
    const newer = await startSecondProcess(w, { build: build('9999') })
    expect((await older.get('/api/health/ready')).status).toBe(200)
    const waiting = await newer.get('/api/health/ready')
    expect(waiting.status).toBe(503)
    expect(waiting.json.checks.schema).toMatchObject({ status: 'failed', expected: '9999' })
    await Promise.all([older.close(), newer.close()])
  })
})

describe('draining', () => {
  const rehearsal = createTestModule()
  const leaving = () => startTestApp({ modules: [...modules, rehearsal.module] })

  test('turns readiness off at once and still serves requests', async () => {
    const v = await leaving()
    const base = await v.listen()
    const headers = { authorization: `Bearer ${await v.token()}` }
    expect((await fetch(`${base}/api/auth/me`, { headers })).headers.get('connection')).toBe('keep-alive')
    v.server.drain()
    const ready = await fetch(`${base}/health/ready`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({
      status: 'not_ready',
      checks: { process: { status: 'failed', detail: 'shutting down' }, database: { status: 'ok' } },
    })
    expect((await fetch(`${base}/api/health`)).status).toBe(200)
    const served = await fetch(`${base}/api/auth/me`, { headers })
    expect([served.status, served.headers.get('connection')]).toEqual([200, 'close'])
    await v.close()
  })

  test('finishes running requests, accepts no new ones and ends long polls', async () => {
    const v = await leaving()
    const base = await v.listen()
    const headers = { authorization: `Bearer ${await v.token()}`, 'content-type': 'application/json' }
    const [slow, wait] = [rehearsal.hold('slow'), rehearsal.hold('wait')]
    const body = JSON.stringify({ name: 'slow' })
    const writing = fetch(`${base}/api/rehearsal/marks`, { method: 'POST', headers, body })
    const waiting = fetch(`${base}/api/rehearsal/waits?name=wait`, { headers })
    await Promise.all([slow.arrived, wait.arrived])
    v.server.drain()
    let closed = false
    const closing = v.server.close().then(() => {
      closed = true
    })
    const waited = await waiting
    expect([waited.status, await waited.json()]).toEqual([200, { name: 'wait' }])
    await expect(fetch(`${base}/api/health`)).rejects.toThrow('fetch failed')
    expect(closed).toBe(false)
    slow.release()
    const written = await writing
    expect([written.status, await written.json()]).toEqual([201, { name: 'slow', mark_id: expect.any(String) }])
    await closing
    await v.close()
  })

  test('finishes a running stream and then closes its connection', async () => {
    const v = await leaving()
    const base = await v.listen()
    const headers = { authorization: `Bearer ${await v.token()}` }
    const gate = rehearsal.hold('stream')
    const stream = await fetch(`${base}/api/rehearsal/streams?name=stream`, { headers })
    expect(stream.headers.get('connection')).toBe('keep-alive')
    const closing = v.server.close()
    await vi.waitFor(() => expect(fetch(`${base}/api/health`)).rejects.toThrow('fetch failed'), { timeout: 60_000 })
    gate.release()
    expect(await stream.text()).toBe('hello goodbye')
    await closing
    await v.close()
  })
})
