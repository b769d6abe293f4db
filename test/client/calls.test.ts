/** Calls against the real server: responses, problems, pages, uploads and change requests; and the browser bundle. */
import { createHash, randomBytes } from 'node:crypto'
import path from 'node:path'
import { Readable } from 'node:stream'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createClient,
  isChangeRequest,
  isProblem,
  type ProbityClient,
  ProbityProblem,
  type UploadProgress,
} from '#client/index.ts'
import { projectRoot } from '../support/database.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { assertCreated } from './assert-created.ts'

let w: TestApp
let url: string
let probity: ProbityClient

beforeAll(async () => {
  w = await startTestApp()
  url = await w.listen()
  probity = createClient({ url, token: await w.token() })
})
afterAll(() => w?.close())

const invitation = (name: string) => ({ name, email: `${name}@example.com`, roles: [] })
const problemOf = async (call: Promise<unknown>): Promise<ProbityProblem> => {
  const error: unknown = await call.catch((thrown: unknown) => thrown)
  if (!isProblem(error)) throw new Error('it should have failed with a problem', { cause: error })
  return error
}

test('a call resolves to the response body, or to undefined without a body', async () => {
  const { key, secret } = assertCreated(
    await probity.POST('/api/api-keys', { body: { name: 'gone soon', roles: ['viewer'] } }),
  )
  expect(secret).toMatch(/^pk_/)
  const params = { path: { key_id: key.key_id } }
  const revoked: undefined = await probity.DELETE('/api/api-keys/{key_id}', { params })
  expect(revoked).toBeUndefined()
})

test('paths, parameters and bodies are type-checked', () => {
  const never = () => [
    // @ts-expect-error there is no such path
    probity.GET('/api/user'),
    // @ts-expect-error the path parameter is missing
    probity.GET('/api/users/{user_id}'),
    // @ts-expect-error the body lacks roles
    probity.POST('/api/users', { body: { name: 'x', email: 'x@example.com' } }),
    // @ts-expect-error not a list
    probity.paginate('/api/tenant'),
  ]
  expect(never).toBeTypeOf('function')
})

test('an error response throws a problem with code, errors and request id', async () => {
  const body = { name: '', email: 'no address', roles: [] }
  const problem = await problemOf(probity.POST('/api/users', { body }))
  expect(problem).toBeInstanceOf(ProbityProblem)
  expect(problem).toMatchObject({ code: 'validation_failed', status: 422, retryable: false, retry_after_s: null })
  expect(problem.errors.map(({ pointer }) => pointer).sort()).toEqual(['#/email', '#/name'])
  expect(problem.request_id).toMatch(/^[0-9a-f-]{36}$/)
  expect(problem.message).toContain(problem.detail)
})

test('additional members of a problem are kept', async () => {
  const viewer = createClient({ url, token: await w.token({ roles: ['viewer'] }) })
  const problem = await problemOf(viewer.GET('/api/users'))
  expect(problem).toMatchObject({ code: 'role_required', status: 403 })
  expect(problem.members['required_roles']).toContain('tenant_admin')
})

test('if_match and expected_revision refuse a change of a stale revision', async () => {
  const user = assertCreated(await probity.POST('/api/users', { body: invitation('moving') }))
  const params = { path: { user_id: user.user_id } }
  const change = (team: string, how: object) =>
    probity.PATCH('/api/users/{user_id}', { params, body: { team }, ...how })
  expect((await change('North', { if_match: `"${user.revision}"` })).revision).toBe(user.revision + 1)
  expect((await problemOf(change('South', { if_match: `"${user.revision}"` }))).code).toBe('precondition_failed')
})

test('paginate follows every page and keeps the filters', async () => {
  const own = createClient({ url, token: await w.token({ tenant_id: await w.makeTenant() }) })
  for (let i = 0; i < 7; i++) await own.POST('/api/users', { body: invitation(`person-${i}`) })
  const names: string[] = []
  for await (const user of own.paginate('/api/users', { params: { query: { limit: 3, state: 'invited' } } })) {
    names.push(user.name)
  }
  expect(names).toEqual(Array.from({ length: 7 }, (_, i) => `person-${i}`))
  for await (const _ of own.paginate('/api/users', { params: { query: { state: 'inactive' } } }))
    throw new Error('none')
})

test('isChangeRequest distinguishes a change request from a completed change', async () => {
  const tenant_id = await w.makeTenant({ four_eyes: true })
  const admin = createClient({ url, token: await w.token({ tenant_id, roles: ['tenant_admin'] }) })
  const user = assertCreated(await admin.POST('/api/users', { body: invitation('promoted') }))
  const params = { path: { user_id: user.user_id } }
  const answer = await admin.PUT('/api/users/{user_id}/roles', { params, body: { roles: ['analyst'] } })
  if (!isChangeRequest(answer)) throw new Error('it should wait')
  expect(answer).toMatchObject({ state: 'open', operation: 'updateUserRoles' })
  expect(isChangeRequest(user)).toBe(false)
  const second = createClient({ url, token: await w.token({ tenant_id, roles: ['tenant_admin'] }) })
  const path = { cr_id: answer.cr_id }
  await second.POST('/api/change-requests/{cr_id}/approve', { params: { path }, body: {} })
  expect((await admin.GET('/api/users/{user_id}', { params })).roles).toEqual(['analyst'])
})

test('uploads store bytes, a Blob, text and streams unchanged', async () => {
  const bytes = randomBytes(2_500_000)
  const sha256 = (content: Uint8Array | string) => createHash('sha256').update(content).digest('hex')
  const own = new Uint8Array(bytes)
  const stored = await probity.uploads.create(own, { file_name: 'list & more.csv' })
  expect(stored).toMatchObject({ size_bytes: bytes.length, sha256: sha256(bytes), file_name: 'list & more.csv' })
  expect(await probity.uploads.create(new Blob([own]))).toMatchObject({ sha256: sha256(bytes), file_name: null })
  expect(await probity.uploads.create('a,b\n1,2\n')).toMatchObject({ sha256: sha256('a,b\n1,2\n') })
  const stream = Readable.toWeb(Readable.from([bytes.subarray(0, 1_000_000), bytes.subarray(1_000_000)]))
  // The stream type of Node is not the one of the DOM, which the client declares.
  expect(await probity.uploads.create(stream as never)).toMatchObject({ sha256: sha256(bytes) })
  expect(await probity.uploads.create(Readable.from([bytes]))).toMatchObject({ sha256: sha256(bytes) })
})

test('an upload reports its progress, without a total for a stream', async () => {
  const bytes = new Uint8Array(randomBytes(200_000))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const reported: UploadProgress[] = []
  const onProgress = (progress: UploadProgress) => void reported.push(progress)
  expect(await probity.uploads.create(bytes, { onProgress })).toMatchObject({ size_bytes: 200_000, sha256 })
  const sizes = [65_536, 131_072, 196_608, 200_000]
  expect(reported).toEqual(sizes.map((sent_bytes) => ({ sent_bytes, total_bytes: 200_000 })))
  reported.length = 0
  expect(await probity.uploads.create(Readable.from([bytes]), { onProgress })).toMatchObject({ sha256 })
  expect(reported).toEqual([{ sent_bytes: 200_000, total_bytes: null }])
})

test('a refused upload throws a problem', async () => {
  const viewer = createClient({ url, token: await w.token({ roles: ['viewer'] }) })
  expect((await problemOf(viewer.uploads.create('x'))).code).toBe('role_required')
})

test('raw returns headers and streams', async () => {
  const { data, error, response } = await probity.raw.GET('/api/tenant')
  expect(error).toBeUndefined()
  expect(response.headers.get('etag')).toBe(`"${data?.revision}"`)
  const events = await probity.raw.GET('/api/docs', { parseAs: 'text', headers: { accept: 'text/html' } })
  expect(events.data).toContain('<!doctype html>')
})

test('a response that is not from the API throws unreadable_answer', async () => {
  const proxy: typeof fetch = async () => new Response('<h1>Sign in to the network</h1>', { status: 200 })
  const caught = createClient({ url, fetch: proxy })
  expect(await problemOf(caught.GET('/api/health'))).toMatchObject({ code: 'unreadable_answer', status: 200 })
})

test('the client bundles for browsers below 20 kB without Node modules', async () => {
  const entry = path.join(projectRoot, 'client/index.ts')
  const made = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    platform: 'browser',
    format: 'esm',
  })
  expect(made.errors).toEqual([])
  expect(made.outputFiles[0]?.contents.length).toBeLessThan(20_000)
})
