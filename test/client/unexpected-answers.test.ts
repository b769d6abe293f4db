/** Answers that are JSON, or nearly, and not of this API: every one ends in a ProbityProblem, and none is asked for without pause. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createClient, isProblem, type ProbityProblem } from '#client/index.ts'

let server: http.Server
let url: string
let answer: { status?: number; type?: string; body: string }
let onRequest: (count: number) => void
let requests: { path: string; authorization: string | undefined }[]

beforeAll(async () => {
  server = http.createServer((request, response) => {
    requests.push({ path: request.url ?? '', authorization: request.headers.authorization })
    onRequest(requests.length)
    response.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? 'application/json' }).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  requests = []
  onRequest = () => {}
})
afterAll(() => server.close())

const catchProblem = async (call: Promise<unknown>): Promise<ProbityProblem> => {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!isProblem(error)) throw new Error(`not a problem: ${error}`)
  return error
}
const json = (body: unknown) => ({ body: JSON.stringify(body) })
const client = () => createClient({ url, token: 't' })
const readAll = async () => {
  for await (const _ of client().paginate('/api/users'));
}

describe('jobs.wait', () => {
  test.each([{}, null, [], 'text', { state: 'paused', revision: 1 }, { state: 'running' }])(
    'throws unreadable_answer after one request for %j',
    async (body) => {
      answer = json(body)
      expect(await catchProblem(client().jobs.wait('x'))).toMatchObject({ code: 'unreadable_answer', status: 200 })
      expect(requests).toHaveLength(1)
    },
  )

  test('pauses when an answer comes at once and says nothing new', async () => {
    answer = json({ job_id: 'x', state: 'running', revision: 1 })
    const stop = new AbortController()
    onRequest = (count) => count === 2 && setTimeout(() => stop.abort(), 200)
    await expect(client().jobs.wait('x', { signal: stop.signal })).rejects.toThrow()
    expect(requests).toHaveLength(2)
  })

  test('tells a failed job without a problem from a cancelled one', async () => {
    answer = json({ job_id: 'x', state: 'failed', revision: 3, problem: null })
    expect(await catchProblem(client().jobs.wait('x'))).toMatchObject({ code: 'job_failed', job: { state: 'failed' } })
    answer = json({ job_id: 'x', state: 'cancelled', revision: 3, problem: null })
    expect(await catchProblem(client().jobs.wait('x'))).toMatchObject({ code: 'job_cancelled' })
  })
})

describe('paginate', () => {
  test.each([{}, null, { items: null, next_cursor: null }, { items: [] }])(
    'throws unreadable_answer for %j',
    async (body) => {
      answer = json(body)
      expect(await catchProblem(readAll())).toMatchObject({ code: 'unreadable_answer' })
    },
  )

  test('stops at a cursor that was returned before', async () => {
    answer = json({ items: [1], next_cursor: 'same' })
    expect(await catchProblem(readAll())).toMatchObject({ code: 'unreadable_answer' })
    expect(requests).toHaveLength(2)
  })
})

describe('an API key', () => {
  test.each([
    { type: 'text/html', body: '<html></html>' },
    { body: '{}' },
    { body: 'null' },
    { body: '{"access_token":"","expires_in":60}' },
    { body: '{"access_token":"a"}' },
  ])('is not exchanged for $body', async (given) => {
    answer = given
    const keyed = createClient({ url, api_key: 'k' })
    expect(await catchProblem(keyed.GET('/api/users'))).toMatchObject({ code: 'unreadable_answer', status: 200 })
    expect(requests).toEqual([{ path: '/api/auth/token', authorization: undefined }])
  })
})

test('an upload without an id is an unreadable answer', async () => {
  answer = json({})
  expect(await catchProblem(client().uploads.create('bytes'))).toMatchObject({ code: 'unreadable_answer' })
})

test('a problem without a status has the one of the response', async () => {
  answer = { status: 418, body: '{"code":"odd","title":"Odd","detail":"Odd."}' }
  const problem = await catchProblem(client().GET('/api/users'))
  expect(problem).toMatchObject({ code: 'odd', status: 418, retryable: false, errors: [] })
})
