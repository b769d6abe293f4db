/** What reaches the log file: whole lines, and no secret however it is wrapped. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createLog, logRequest } from './log.ts'

async function written(write: (log: ReturnType<typeof createLog>) => void): Promise<Record<string, unknown>[]> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-log-'))
  const destination = path.join(folder, 'log.txt')
  try {
    const log = createLog({ level: 'info', destination, name: 'test' })
    write(log)
    await promisify(log.flush.bind(log))()
    const lines = fs.readFileSync(destination, 'utf8').trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

test('redacts secrets at every depth without changing the logged object', async () => {
  const facts = {
    token: 'canary',
    headers: { authorization: 'canary', host: 'here' },
    deep: { er: { api_key: 'canary' } },
  }
  const before = structuredClone(facts)
  const [line] = await written((log) => log.info(facts, 'seen'))
  expect(JSON.stringify(line)).not.toContain('canary')
  expect(line).toMatchObject({
    token: '[redacted]',
    headers: { authorization: '[redacted]', host: 'here' },
    msg: 'seen',
  })
  expect(facts).toEqual(before)
})

test('logs an object with a cycle', async () => {
  const circle: Record<string, unknown> = { name: 'round' }
  circle['again'] = circle
  const [line] = await written((log) => log.info({ circle }, 'seen'))
  expect(line).toMatchObject({ circle: { name: 'round' } })
})

test('the log line of a request stays one short line, whatever the forwarded address', async () => {
  const request = {
    request_id: 'r',
    method: 'GET',
    route: '/api/users',
    operation: undefined,
    tenant_id: undefined,
    principal: undefined,
    status: 200,
    code: undefined,
    duration_ms: 1,
    trace_id: undefined,
  }
  const clients = ['::1', 'x","tenant_id":"forged', 'a\n{"level":"info"}', 'y'.repeat(10_000)]
  const lines = await written((log) => {
    for (const client of [...clients, undefined]) logRequest(log, { ...request, client })
  })
  expect(lines.map(({ client }) => client)).toEqual([...clients.slice(0, 3), 'y'.repeat(64), undefined])
  for (const line of lines) expect(line).not.toHaveProperty('tenant_id')
})
