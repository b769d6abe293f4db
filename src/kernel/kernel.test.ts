/** A handler, job or review gets the capabilities that its declaration names, and no others, also at run time. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { everyone } from './auth/roles.ts'
import { fullScope } from './database/scope.ts'
import { publicRoute, tenantRoute } from './declare-route.ts'
import { defineJob } from './job/define-job.ts'
import type { Module } from './module.ts'
import { declareReview } from './request/declare-review.ts'
import { closed, listOf, text } from './schema.ts'

const Names = closed({ names: listOf(text(50), 50) })
const seen: Record<string, string[]> = {}
const list = (kernel: object | undefined) => ({ names: Object.keys(kernel ?? {}) })
const record = (where: string, kernel: object | undefined) => {
  seen[where] = list(kernel).names
}
const common = { summary: 'Names what it got', reply: [200, Names] } as const
const tenant = { ...common, roles: everyone, tx: 'read' } as const

const module: Module = {
  name: 'capabilities',
  segments: ['capabilities'],
  tier: 'views',
  summary: 'Only in tests.',
  jobs: [
    defineJob({
      kind: 'name-capabilities',
      summary: 'Names what it got.',
      payload: closed({}),
      resumes: 'restart',
      uses: ['cursors'],
      run: async ({ kernel }) => list(kernel),
    }),
  ],
  canary: async () => {},
  reviews: {
    capabilities: declareReview({
      uses: ['log'],
      begin: async (kernel) => async () => list(kernel).names,
    }),
  },
  routes: [
    tenantRoute('GET /capabilities/none', { ...tenant, id: 'getNoCapabilities' }).handle(async (input) =>
      list((input as { kernel?: object }).kernel),
    ),
    tenantRoute('GET /capabilities/some', {
      ...tenant,
      id: 'getSomeCapabilities',
      uses: ['jobs', 'cursors'],
      beforeTransaction: async ({ kernel }) => record('beforeTransaction', kernel),
      redact: (reply, { kernel }) => {
        record('redact', kernel)
        return reply
      },
    }).handle(async ({ kernel }) => list(kernel)),
    tenantRoute('GET /capabilities/self', {
      ...tenant,
      tx: 'self',
      id: 'getSelfCapabilities',
      uses: ['caches'],
    }).handle(async ({ kernel }) => list(kernel)),
    tenantRoute('GET /capabilities/review', {
      ...tenant,
      id: 'getReviewCapabilities',
      uses: ['reviews'],
    }).handle(async ({ kernel, tx }) => {
      const [finish] = await kernel.reviews.begin('capabilities', tx, {})
      return { names: ((await finish?.()) ?? []) as string[] }
    }),
    publicRoute('GET /capabilities/public', {
      ...common,
      id: 'getPublicCapabilities',
      uses: ['build'],
    }).handle(async ({ kernel }) => list(kernel)),
  ],
}

let w: TestApp
let token: string
beforeAll(async () => {
  w = await startTestApp({ modules: [...modules, module] })
  token = await w.token()
})
afterAll(() => w.close())

const getNames = async (path: string) => (await w.call(`GET /capabilities/${path}`, { token })).json.names

test('a handler gets what its route declares', async () => {
  expect(await getNames('none')).toEqual([])
  expect(await getNames('some')).toEqual(['jobs', 'cursors'])
  expect(await getNames('self')).toEqual(['caches'])
  expect(await getNames('public')).toEqual(['build'])
})

test('so do the other functions of a route', async () => {
  await getNames('some')
  expect(seen).toEqual({ beforeTransaction: ['jobs', 'cursors'], redact: ['jobs', 'cursors'] })
})

test('a review gets what it declares, not what its caller declares', async () => {
  expect(await getNames('review')).toEqual(['log'])
})

test('an operation that is executed for a change request gets what its own route declares', async () => {
  const input = { params: {}, body: undefined, actor: {}, request: {}, audit: {}, tx: {} } as never
  expect(await w.kernel.runHandler('getSomeCapabilities', input)).toEqual({ names: ['jobs', 'cursors'] })
})

test('a job gets what its kind declares', async () => {
  const runner = w.runtime.createRunner(1, { poll_ms: 20 })
  const tenant_id = await w.tenant()
  const { job_id } = await w.kernel.transactions.write(fullScope(tenant_id, 'operator:test'), (tx) =>
    w.kernel.jobs.enqueue(tx, { kind: 'name-capabilities', payload: {} }),
  )
  runner.start()
  try {
    const read = async () => (await w.call(`GET /jobs/${job_id}`, { token })).json.result
    await expect.poll(read, { timeout: 20_000 }).toEqual({ names: ['cursors'] })
  } finally {
    await runner.stop(1000)
  }
})
