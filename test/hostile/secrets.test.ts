/**
 * A secret may come in anywhere a client can write: in the token, a body, a query, a path, a header. Wherever it was put,
 * no refusal repeats it and no log line holds it; and what the product itself keeps secret is in neither.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { modules } from '#app/modules.ts'
import { createLog } from '#kernel/log.ts'
import type { Route } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { TEST_MASTER_KEY } from '../support/database.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { fixtures } from '../support/fixtures.ts'
import { announceSampling, sample } from '../support/sampling.ts'
import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'

const CANARY = `s3cr3t${uuidv7().replaceAll('-', '')}`
const logFile = path.join(os.tmpdir(), `secrets-${CANARY}.log`)
const log = createLog({ level: 'trace', destination: logFile, name: 'secrets' })
const routes = modules.flatMap((module) => module.routes)

let w: TestApp
let tenant: ExampleTenant
let token: string

beforeAll(async () => {
  w = await startTestApp({ log })
  tenant = await ExampleTenant.create(w)
  token = await tenant.token()
})
afterAll(async () => {
  await w.close()
  fs.rmSync(logFile, { force: true })
})

async function readLog(): Promise<string> {
  // Written behind our back, but in order: once the marker is there, so is everything before it.
  const marker = uuidv7()
  log.info(marker)
  return vi.waitUntil(
    () => {
      const text = fs.readFileSync(logFile, 'utf8')
      return text.includes(marker) && text
    },
    { timeout: 60_000, interval: 5 },
  )
}

let sent = 0
const own = () => `10.3.${(sent >> 8) & 255}.${sent++ & 255}`
const answer = ({ headers, text }: Reply): string => `${JSON.stringify(headers)}\n${text}`

/** Every string of a value replaced by the canary; the names stay. */
const poisoned = (value: unknown): unknown => {
  if (typeof value === 'string') return CANARY
  if (Array.isArray(value)) return value.map(poisoned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, poisoned(part)]))
}

/** Where the canary is put; each gives the reply to one call. */
const places: readonly (readonly [name: string, send: (route: Route, url: string, body: unknown) => Promise<Reply>])[] =
  [
    ['the token', (route, url, body) => call(route, url, { token: CANARY, body })],
    [
      'a token of three parts',
      (route, url, body) => call(route, url, { token: `${CANARY}.${CANARY}.${CANARY}`, body }),
    ],
    ['another scheme', (route, url, body) => call(route, url, { body, headers: { authorization: `Basic ${CANARY}` } })],
    ['the body', (route, url, body) => call(route, url, { token, body: poisoned(body) })],
    ['a broken body', (route, url) => call(route, url, { token, payload: `{"password":"${CANARY}`, headers: json })],
    ['a body that is a string', (route, url) => call(route, url, { token, body: CANARY })],
    ['a query value', (route, url, body) => call(route, `${url}?limit=${CANARY}&x=${CANARY}`, { token, body })],
    ['the path', (route, url, body) => call(route, url.replace(/[^/]+$/, CANARY), { token, body })],
    [
      'headers',
      (route, url, body) =>
        call(route, url, {
          token,
          body,
          headers: {
            cookie: CANARY,
            'x-api-key': CANARY,
            'idempotency-key': `${CANARY} x`,
            'if-match': CANARY,
            'x-request-id': CANARY,
            traceparent: CANARY,
            'user-agent': CANARY,
            accept: `application/${CANARY}`,
          },
        }),
    ],
    [
      'the media type',
      (route, url) => call(route, url, { token, payload: 'x', headers: { 'content-type': `text/${CANARY}` } }),
    ],
  ]
const json = { 'content-type': 'application/json' }

const call = (route: Route, url: string, options: Parameters<TestApp['call']>[1]): Promise<Reply> =>
  w.call(`${route.method} ${url}`, { ...options, address: own() })

/** A row that does not fit is named with what was found in it, to the one who sent it; never a member marked as personal. */
const quotes = ['createDatasetVersion', 'previewAdapter', 'updateOverlay']
/** A golden case that is not met is named as its tenant named it, to that tenant. */
const namesCases = ['submitRiskMatrixVersion', 'submitRuleVersion']

announceSampling('operations that are sent a secret in the wrong place')
const sampled = sample(routes, 50, 'misplaced secrets')

describe('a secret sent to the wrong place', () => {
  test.for(sampled)('$id does not repeat it in a refusal', async (route) => {
    const example = (await fixtures[route.id]?.(tenant, route.roles[0] ?? 'viewer')) ?? {}
    const url = route.path.replace(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(example.params?.[name] ?? ''))
    const leaks: string[] = []
    let refused = 0
    for (const [name, send] of places) {
      const reply = await send(route, url, example.body)
      expect([name, reply.status < 500]).toEqual([name, true])
      if (reply.status < 400 || (name === 'the body' && [...quotes, ...namesCases].includes(route.id))) continue
      refused++
      if (answer(reply).includes(CANARY)) leaks.push(`${name}: ${reply.status} ${reply.text.slice(0, 300)}`)
    }
    expect(leaks).toEqual([])
    expect(refused).toBeGreaterThan(1)
  })

  test('is not in the log', async () => {
    const text = await readLog()
    expect(text.split('\n').length).toBeGreaterThan(sampled.length * places.length)
    expect(text.split('\n').filter((line) => line.includes(CANARY))).toEqual([])
  })
})

describe('a secret of the product', () => {
  test('is only in the answer that shows it, and not in the log', async () => {
    const { json: made } = await w.call('POST /api-keys', { token, body: { name: 'machine', roles: ['service'] } })
    const { json: exchanged } = await w.call('POST /auth/token', { body: { api_key: made.secret }, address: own() })
    const signature = token.split('.')[2] as string
    const secrets: Record<string, string> = {
      'the key': made.secret,
      'a token made with it': exchanged.access_token,
      'the signature of our token': signature,
      'the master key': TEST_MASTER_KEY.toString('hex'),
      'the master key in base64': TEST_MASTER_KEY.toString('base64'),
      'the password of app': String(w.clone.app.password),
      'the password of worker': String(w.clone.worker.password),
    }
    for (const [name, secret] of Object.entries(secrets)) expect([name, secret.length > 15]).toEqual([name, true])
    const texts: string[] = []
    for (const route of routes.filter(({ method, path: at }) => method === 'GET' && !at.includes(':'))) {
      texts.push(answer(await call(route, route.path, { token })))
    }
    texts.push(answer(await w.call(`DELETE /api-keys/${made.key.key_id}`, { token })))
    texts.push(answer(await w.call('POST /auth/token', { body: { api_key: made.secret }, address: own() })))
    texts.push(answer(await w.call('GET /auth/me', { token: `${token}x`, address: own() })))
    texts.push(await readLog())
    const found = Object.entries(secrets).filter(([, secret]) => texts.some((text) => text.includes(secret)))
    expect(found.map(([name]) => name)).toEqual([])
    expect(texts.join('')).not.toMatch(/"d":\s*"|PRIVATE KEY/)
  })
})
