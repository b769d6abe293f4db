/** Input is taken as the schemas say or not at all: nothing is coerced, clamped, dropped or guessed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { describedElsewhere, hasType, type InputSchema, inputs } from '../support/declared-inputs.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let token: string
let user_id: string

beforeAll(async () => {
  w = await startTestApp()
  token = await w.token()
  user_id = (await w.call('POST /users', { token, body: person() })).json.user_id
})
afterAll(() => w.close())

let count = 0
const person = (more: object = {}) => ({ name: 'Ada', email: `ada-${count++}@example.com`, roles: [], ...more })
const brief = ({ status, json }: { status: number; json: { code?: string } }) => `${status} ${json?.code}`
const post = (payload: string | Buffer) =>
  w.call('POST /users', { token, payload, headers: { 'content-type': 'application/json' } })

describe('every declared input', () => {
  test('exists', () => expect(inputs.length).toBeGreaterThan(100))

  test('objects are closed, or described by something that is stored', () => {
    // A map says what its values are; only one that does not is open.
    const open = inputs.filter(
      ([, schema]) =>
        hasType(schema, 'object') &&
        schema.additionalProperties !== false &&
        typeof schema.additionalProperties !== 'object',
    )
    expect(open.map(([at]) => at)).toEqual(describedElsewhere)
  })

  test('strings have a maximum and refuse U+0000', () => {
    const loose = inputs.filter(([, schema]) => {
      if (!hasType(schema, 'string') || schema.enum) return false
      const refused = schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test('a\u0000b')
      return schema.maxLength === undefined || !refused
    })
    expect(loose.map(([at]) => at)).toEqual([])
  })

  test('reasons need at least one visible character', () => {
    const reasons = inputs.filter(([at, schema]) => /[/_]reason$/.test(at) && hasType(schema, 'string') && !schema.enum)
    expect(reasons.length).toBeGreaterThan(10)
    const takes = ({ pattern }: InputSchema, value: string) => new RegExp(pattern as string, 'u').test(value)
    const blanks = [' ', '\n', '\t\r\n', '\u200b', '\u00a0\u2060', '\u3164', '\ufe0f', '\u2800', '\u0001']
    const loose = reasons.filter(([, schema]) => blanks.some((blank) => takes(schema, blank)))
    expect(loose.map(([at]) => at)).toEqual([])
    for (const [, schema] of reasons)
      for (const good of ['x', ' wrong list\n', '\u200b1', '理由']) expect(takes(schema, good)).toBe(true)
  })

  test('numbers have bounds and lists a maximum length', () => {
    const loose = inputs.filter(
      ([, schema]) =>
        ((hasType(schema, 'integer') || hasType(schema, 'number')) &&
          (schema.minimum === undefined || schema.maximum === undefined)) ||
        (hasType(schema, 'array') && schema.maxItems === undefined),
    )
    expect(loose.map(([at]) => at)).toEqual([])
  })
})

describe('a query parameter with a fixed set of values', () => {
  /** Every route with a query that names such a parameter. */
  const choices = modules
    .flatMap(({ routes }) => routes)
    .flatMap((route) =>
      Object.entries((route.query as InputSchema | null)?.properties ?? {}).map(([name, schema]) => ({
        route,
        name,
        schema,
      })),
    )
  const isChoice = ({ schema }: (typeof choices)[number]) => schema.enum !== undefined && hasType(schema, 'string')

  test('refuses an unknown value and names the parameter, in every operation', async () => {
    const asked = choices.filter(isChoice)
    expect(asked.length).toBeGreaterThan(40)
    const silent: string[] = []
    for (const { route, name } of asked) {
      const path = route.path.replaceAll(/:[a-z_]+/g, '1')
      const { status, json } = await w.call(`${route.method} ${path}?${name}=no-such-value`, {
        token,
        ...(route.body && { body: {} }),
      })
      const located = (json?.errors ?? []).some(
        (error: { in: string; pointer: string; keyword?: string }) =>
          error.in === 'query' && error.pointer === `#/${name}` && error.keyword === 'enum',
      )
      if (status !== 422 || !located) silent.push(`${route.id} ${name}: ${status} ${json?.code}`)
    }
    expect(silent).toEqual([])
  })

  test('has them wherever the rows that it filters have them', () => {
    const loose = choices.filter(({ route, name, schema }) => {
      const [, reply] = (route.reply ?? []) as readonly [number, InputSchema | null]
      const shown = reply?.properties?.['items']?.items?.properties?.[name]
      return route.method === 'GET' && shown?.enum !== undefined && schema.enum === undefined
    })
    expect(loose.map(({ route, name }) => `${route.id} ${name}`)).toEqual([])
  })
})

describe('the answer that refuses a value says what is accepted', () => {
  test.each([
    [
      'POST /auth/token/revoke',
      { token_id: 't', reason: ' \n' },
      '#/reason must hold at least one visible character, and no U+0000.',
    ],
    [
      'POST /auth/token/revoke',
      { token_id: 't', expires_at: 'soon' },
      '#/expires_at must be an instant in UTC such as 2026-01-31T09:30:00Z.',
    ],
    [
      'GET /reference-data/resolve/countries?valid_at=2026-01-31',
      undefined,
      '#/valid_at must be an instant in UTC such as 2026-01-31T09:30:00Z.',
    ],
    ['GET /users/7', undefined, '#/user_id must'],
    [
      'POST /risk-matrices/any/versions/draft/validate',
      {},
      '1 field is invalid: the body must be left out: this operation takes no body, not even an empty object.',
    ],
  ])('%s %j', async (at, body, detail) => {
    const reply = await w.call(at, { token, ...(body && { body }) })
    expect(brief(reply)).toBe('422 validation_failed')
    expect(reply.json.detail).toContain(detail)
    expect(reply.text).not.toContain('must match')
  })
})

describe('returns 400 for a body that cannot be parsed', () => {
  const email = '"email":"a@example.com","roles":[]'

  test.each<[string, string | Buffer]>([
    ['cut off', '{"name":"Ada"'],
    ['a comma too many', '{"name":"Ada",}'],
    ['a comment', '{/* */"name":"Ada"}'],
    ['single quotes', "{'name':'Ada'}"],
    ['NaN', '{"name":NaN}'],
    ['two documents', '{}{}'],
    ['a byte order mark', '\uFEFF{}'],
    ['only white space', '   '],
    ['a duplicate key', `{"name":"Ada","name":"Eve",${email}}`],
    ['a duplicate key in another spelling', `{"name":"Ada","n\\u0061me":"Eve",${email}}`],
    ['a lone high surrogate', `{"name":"\\ud800",${email}}`],
    ['a lone low surrogate', `{"name":"\\udc00x",${email}}`],
    ['bytes that are not UTF-8', Buffer.from(`{"name":"\xff",${email}}`, 'latin1')],
    ['an overlong encoding', Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')])],
    [
      'an encoded surrogate',
      Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    ],
    ['UTF-16', Buffer.from('{"name":"Ada"}', 'utf16le')],
    ['a control character in a string', '{"name":"a\nb"}'],
    ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`],
    ['half a million brackets', '['.repeat(500_000)],
    ['200,001 tokens', `[${'1,'.repeat(200_000)}1]`],
    ['2^53', `{"expected_revision":9007199254740992}`],
    ['-2^53', `{"expected_revision":-9007199254740992}`],
    ['1e400', `{"expected_revision":1e400}`],
  ])('%s', async (_name, payload) => {
    const reply = await post(payload)
    expect(brief(reply)).toBe('400 malformed_request')
    expect(reply.json.errors[0]).toMatchObject({ in: 'body', pointer: expect.stringMatching(/^#/) })
  })

  test('a missing or empty body where one is required', async () => {
    expect(brief(await w.call('POST /users', { token }))).toBe('400 malformed_request')
    expect(brief(await post(''))).toBe('400 malformed_request')
  })

  test('accepts 64 levels and large integers within bounds', async () => {
    expect(brief(await post(`${'['.repeat(64)}${']'.repeat(64)}`))).toBe('422 validation_failed')
    const largest = { team: 'x', expected_revision: Number.MAX_SAFE_INTEGER }
    expect(brief(await w.call(`PATCH /users/${user_id}`, { token, body: largest }))).toBe('409 revision_stale')
  })
})

describe('returns 422 for a body that breaks its schema', () => {
  test.each<[string, unknown, string]>([
    ['an unknown member', person({ extra: 1 }), '#/extra'],
    ['tenant_id', person({ tenant_id: uuidv7() }), '#/tenant_id'],
    ['a missing member', { name: 'Ada', roles: [] }, '#/email'],
    ['the wrong type', person({ name: 7 }), '#/name'],
    ['text that is empty', person({ name: '' }), '#/name'],
    ['text that is too long', person({ name: 'x'.repeat(201) }), '#/name'],
    ['U+0000', person({ name: 'a\u0000b' }), '#/name'],
    ['U+0000 in a nullable member', person({ team: '\u0000' }), '#/team'],
    ['a role twice', person({ roles: ['viewer', 'viewer'] }), '#/roles'],
    ['an unknown role', person({ roles: ['root'] }), '#/roles/0'],
    ['null where it may not be', person({ name: null }), '#/name'],
    ['a list', [], '#'],
    ['null', null, '#'],
    ['a string', 'Ada', '#'],
  ])('%s', async (_name, body, pointer) => {
    const reply = await w.call('POST /users', { token, body })
    expect(brief(reply)).toBe('422 validation_failed')
    expect(reply.json.errors).toContainEqual(
      expect.objectContaining({ in: 'body', pointer, instancePath: pointer.slice(1), detail: expect.any(String) }),
    )
  })

  test('treats __proto__ as an ordinary unknown member', async () => {
    const reply = await post('{"__proto__":{"name":"Ada"},"email":"p@example.com","roles":[]}')
    expect(brief(reply)).toBe('422 validation_failed')
    expect(reply.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['#/name', '#/__proto__'])
  })

  test('counts characters outside the basic plane as one and returns them unchanged', async () => {
    const name = '😀'.repeat(200)
    expect((await w.call('POST /users', { token, body: person({ name }) })).json.name).toBe(name)
    expect(brief(await w.call('POST /users', { token, body: person({ name: `${name}😀` }) }))).toBe(
      '422 validation_failed',
    )
  })

  test('a body where none is accepted', async () => {
    const reply = await w.call(`POST /users/${user_id}/reactivate`, { token, body: {} })
    expect(brief(reply)).toBe('422 validation_failed')
    const declared = { token, headers: { 'content-type': 'application/json' } }
    expect((await w.call(`POST /users/${user_id}/reactivate`, declared)).status).toBe(200)
  })

  test('counts several faults of one field as one field', async () => {
    const { json } = await w.call('POST /users', { token, body: person({ roles: [1] }) })
    expect(json.errors).toMatchObject([{ pointer: '#/roles/0' }, { pointer: '#/roles/0' }])
    expect(json.detail).toMatch(/^1 field is invalid: #\/roles\/0 must be string, must be one of .*\.$/)
  })

  test('lists at most fifty faults', async () => {
    const { json } = await w.call('POST /users', { token, body: person({ roles: Array(500).fill(1) }) })
    expect(json.errors.length).toBe(50)
    expect(json.detail).toBe('26 or more fields are invalid.')
  })

  test.each(['0000-01-01', '2026-02-30', '2026-13-01'])('the date %s', async (day) => {
    const body = { away_from: `${day}T00:00:00Z`, away_until: '2027-01-01T00:00:00Z' }
    expect(brief(await w.call(`PUT /users/${user_id}/availability`, { token, body }))).toBe('422 validation_failed')
    expect(brief(await w.call(`GET /api-keys/${uuidv7()}/usage?from_on=${day}`, { token }))).toBe(
      '422 validation_failed',
    )
  })

  test('a time with an offset, since it would not come back as it was sent', async () => {
    const body = { away_from: '2026-01-01T00:00:00+01:00', away_until: '2027-01-01T00:00:00Z' }
    expect(brief(await w.call(`PUT /users/${user_id}/availability`, { token, body }))).toBe('422 validation_failed')
  })
})

describe('query parameters', () => {
  test.each(['1e2', '+5', '%205', '5%20', '0', '201', '', '-1', '1.0', '0x10', '05', '9007199254740993', 'ten', '5?x'])(
    'limit=%s is 422',
    async (limit) => {
      const reply = await w.call(`GET /users?limit=${limit}`, { token })
      expect(brief(reply)).toBe('422 validation_failed')
      expect(reply.json.errors[0]).toMatchObject({ in: 'query', pointer: '#/limit' })
    },
  )

  test('limit=1 and limit=200 are in range', async () => {
    for (const limit of [1, 200]) expect((await w.call(`GET /users?limit=${limit}`, { token })).status).toBe(200)
  })

  test.each(['limit=5&limit=5', 'role=viewer&role=analyst', 'limit=5&%6cimit=6', 'state=active&state='])(
    'a scalar sent twice (%s) is 400',
    async (query) => {
      expect(brief(await w.call(`GET /users?${query}`, { token }))).toBe('400 malformed_request')
    },
  )

  test.each(['%zz', 'limit=%ff', 'role=%ED%A0%80', '%'])('a query that is not UTF-8 (%s) is 400', async (query) => {
    expect(brief(await w.call(`GET /users?${query}`, { token }))).toBe('400 malformed_request')
  })

  test.each(['x=1', 'LIMIT=5', 'limit%20=5', '__proto__=1', 'constructor=1', 'tenant_id=1', 'limit[]=5'])(
    'an unknown parameter (%s) is 422',
    async (query) => {
      expect(brief(await w.call(`GET /users?${query}`, { token }))).toBe('422 validation_failed')
    },
  )

  test('an operation without parameters accepts none; an empty query is none', async () => {
    expect(brief(await w.call('GET /auth/me?x=1', { token }))).toBe('422 validation_failed')
    expect(brief(await w.call('GET /health?x'))).toBe('422 validation_failed')
    expect((await w.call('GET /auth/me?', { token })).status).toBe(200)
    expect((await w.call('GET /users?&&', { token })).status).toBe(200)
  })

  test('U+0000 is 422', async () => {
    expect(brief(await w.call('GET /users?cursor=%00', { token }))).toBe('422 validation_failed')
    expect(brief(await w.call('GET /errors/a%00b'))).toBe('422 validation_failed')
  })
})

describe('paths', () => {
  test.each([
    'x',
    `${uuidv7()}x`,
    uuidv7().toUpperCase(),
    `%7B${uuidv7()}%7D`,
    'a'.repeat(5000),
    '..%2F..%2Fhealth',
    '*',
  ])('an identifier that is none (%s) is 422', async (id) => {
    const reply = await w.call(`GET /users/${id}`, { token })
    expect(brief(reply)).toBe('422 validation_failed')
    expect(reply.json.errors[0]).toMatchObject({ in: 'path', pointer: '#/user_id' })
  })

  test.each([
    '/api',
    '/api/',
    '/api/users/',
    '/api/users//roles',
    '/api//users',
    '/api/users/x/y/z',
    '/API/users',
    '/api/user',
  ])('an unknown path (%s) is 404 without a token', async (url) => {
    const { statusCode, headers, body } = await w.server.app.inject({ url })
    expect(statusCode).toBe(404)
    expect(headers['content-type']).toBe('application/problem+json')
    expect(JSON.parse(body).code).toBe('not_found')
  })

  test('a path that is not UTF-8 is 400', async () => {
    for (const id of ['%zz', '%ff', '%ED%A0%80']) {
      expect(brief(await w.call(`GET /users/${id}`, { token }))).toBe('400 malformed_request')
    }
  })
})

describe('media types', () => {
  const json = JSON.stringify(person())
  const sent = async (type: string | undefined, payload = json) =>
    brief(await w.call('POST /users', { token, payload, headers: type === undefined ? {} : { 'content-type': type } }))

  test.each([
    'text/plain',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'json',
    'application/octet-stream',
    '',
  ])('%s is 415 for JSON', async (type) => {
    expect(await sent(type)).toBe('415 media_type_unsupported')
  })

  test('bytes without any type are 415', async () => {
    expect(await sent(undefined)).toBe('415 media_type_unsupported')
  })

  test('parameters and letter case are ignored', async () => {
    const body = () => JSON.stringify(person())
    expect(await sent('application/json; charset=utf-8', body())).toBe('201 undefined')
    expect(await sent('Application/JSON', body())).toBe('201 undefined')
  })

  test('JSON is 415 where bytes are taken', async () => {
    expect(brief(await w.call('POST /uploads', { token, body: {} }))).toBe('415 media_type_unsupported')
  })

  test.each([
    ['application/json', 200],
    ['application/*', 200],
    ['*/*', 200],
    ['text/html, */*;q=0.1', 200],
    ['application/problem+json', 200],
    ['APPLICATION/JSON', 200],
    ['', 200],
    ['text/html', 406],
    ['application/xml, text/*', 406],
    ['application/json;q=0', 406],
    ['application/json; q=0.0, text/plain', 406],
  ])('Accept: %s is %i', async (accept, status) => {
    expect((await w.call('GET /auth/me', { token, headers: { accept } })).status).toBe(status)
  })

  test('serves the page to clients that accept HTML', async () => {
    expect((await w.call('GET /docs', { headers: { accept: 'text/html' } })).status).toBe(200)
    expect((await w.call('GET /docs', { headers: { accept: 'application/json' } })).status).toBe(406)
  })
})
