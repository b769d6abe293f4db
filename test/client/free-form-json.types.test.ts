/**
 * Free-form JSON in the types of the client. Every call below is written as a user writes it, without a cast; lines under an
 * expected error must fail to type-check, which `npm run types` notices.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, type OperationId, type ProbityClient, type RequestBody, type Schemas } from '#client/index.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { assertCreated } from './assert-created.ts'

let w: TestApp
let probity: ProbityClient

beforeAll(async () => {
  w = await startTestApp()
  const roles = ['tenant_admin', 'analyst', 'policy_editor', 'compliance_officer', 'auditor'] as const
  probity = createClient({ url: await w.listen(), token: await w.token({ roles }) })
})
afterAll(() => w?.close())

test('accepts the inputs of an evaluation and returns them as unknown members', async () => {
  const inputs = {
    residence_country: 'DE',
    nationalities: ['DE'],
    products: ['salary-account'],
    channel: 'branch',
    annual_turnover: '60000.00',
    years_known: 5,
    source_of_funds: 'salary',
    adverse_media: 'none',
    screening: 'clear',
  }
  const body = { matrix_key: 'customer-risk-person', inputs }
  const { evaluation_id, outcome } = await probity.POST('/api/evaluations', { body })
  const band: string | null = outcome.band
  expect(band).toBe('low')
  const stored = await probity.GET('/api/evaluations/{evaluation_id}/inputs', { params: { path: { evaluation_id } } })
  const country: unknown = stored.inputs['residence_country']
  expect(country).toBe('DE')
  const changed = await probity.POST('/api/evaluations/{evaluation_id}/what-if', {
    params: { path: { evaluation_id } },
    body: { inputs: { years_known: 0, adverse_media: null } },
  })
  expect(changed).toBeDefined()
})

test('accepts the attributes of a subject', async () => {
  const { attributes } = await probity.POST('/api/subjects', {
    body: {
      subject_type: 'person',
      external_id: 'types-1',
      name: 'Ada',
      attributes: { country: 'GB', children: [{ age: 3 }] },
    },
  })
  const children: unknown = attributes['children']
  expect(children).toEqual([{ age: 3 }])
})

test('accepts a type, list entries and overlay entries', async () => {
  const answer = await probity.POST('/api/reference-data/types', {
    body: {
      type_key: 'typed-rating',
      title: 'Ratings',
      description: 'Ratings by code.',
      schema: { type: 'object', properties: { code: { type: 'string', maxLength: 9 } }, required: ['code'] },
      key_pointers: ['/code'],
      fields: { '/code': { title: 'Code' } },
      list_rules: {},
      examples: [{ code: 'A' }],
    },
  })
  const type = assertCreated(answer)
  const list_key = 'typed-ratings'
  const dataset = { list_key, type_key: type.type_key, title: 'Ratings' }
  assertCreated(await probity.POST('/api/reference-data/datasets', { body: dataset }))
  const params = { path: { list_key } }
  const version = await probity.POST('/api/reference-data/datasets/{list_key}/versions', {
    params,
    body: { data: [{ code: 'A' }, { code: 'B' }] },
  })
  expect(version.version).toBe(1)
  const { items } = await probity.GET('/api/reference-data/datasets/{list_key}/versions/{version}/entries', {
    params: { path: { list_key, version: '1' } },
  })
  const codes: unknown[] = items.map(({ entry }) => entry['code'])
  expect(codes).toEqual(['A', 'B'])
  const overlay: RequestBody<'put', '/api/reference-data/datasets/{list_key}/overlay'> = {
    entries: [{ key: 'A', op: 'merge', value: { name: 'Alpha' } }],
    reason: 'our own name',
  }
  expect(overlay.entries).toHaveLength(1)
})

test('accepts the options of an adapter in a preview and an import', async () => {
  const preview = await probity.POST('/api/reference-data/adapters/{adapter_key}/preview', {
    params: { path: { adapter_key: 'csv' } },
    body: { text: 'code;name\nA;Alpha\n', options: { delimiter: ';' } },
  })
  expect(preview.rows).toBe(1)
  const request: RequestBody<'post', '/api/reference-data/imports'> = {
    list_key: 'typed-ratings',
    upload_id: '0190d7a0-5b1c-7c3e-9f2a-1b2c3d4e5f60',
    adapter_key: 'csv',
    options: { delimiter: ';', mapping: [{ column: 'code', pointer: '/code' }] },
  }
  expect(request.options?.['delimiter']).toBe(';')
})

test('refuses at compile time what the API does not declare', () => {
  const rows: Schemas['EntryPage']['items'] = []
  // @ts-expect-error a member of free-form JSON is unknown until it is checked
  const code: string | undefined = rows[0]?.entry['code']
  // @ts-expect-error inputs are an object
  const text: RequestBody<'post', '/api/evaluations'> = { matrix_key: 'm', inputs: 'country=DE' }
  // @ts-expect-error the body is closed: there is no such member
  const misspelt: RequestBody<'post', '/api/evaluations'> = { matrix_key: 'm', input: {} }
  // @ts-expect-error an empty body has no members
  const notEmpty: RequestBody<'post', '/api/audit/verify'> = { from: 1 }
  // @ts-expect-error there is no such operation
  const operation: OperationId = 'getNothing'
  expect([code, text, misspelt, notEmpty, operation]).toHaveLength(5)
})
