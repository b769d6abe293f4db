/** Version, documentation, metadata, capabilities and upload names. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let token: string

beforeAll(async () => {
  w = await shareTestApp()
  token = await w.token({ roles: ['analyst'] })
})
afterAll(() => w.close())

describe('the contract', () => {
  test('version describes the running build', async () => {
    const { json } = await w.call('GET /version')
    expect(json).toMatchObject({ version: '0.0.0-test', commit: null, node: process.version })
    expect(json.schema_version).toMatch(/^\d{4}$/)
  })

  test('the documentation page is self-contained and has a strict policy', async () => {
    const { status, headers, text } = await w.call('GET /docs')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['content-security-policy']).toContain("script-src 'self'")
    expect(text).toContain('data-openapi-url="/api/openapi.json"')
    expect(text).not.toMatch(/(src|href)="(https?:)?\/\//)
    expect(text).not.toMatch(/<script>/)
  })

  test('capabilities are those of the token', async () => {
    const { json } = await w.call('GET /capabilities', { token })
    expect(json).toMatchObject({
      tenant_id: await w.tenant(),
      roles: ['analyst'],
      providers: ['prohibited-jurisdiction-check'],
      plugins: [],
      tools: expect.arrayContaining(['explain_evaluation', 'evaluate_subject']),
    })
    expect(json.operations).toContain('createUpload')
    expect(json.operations).not.toContain('createUser')
    expect(json.job_kinds).toContain('housekeeping')
  })
})

describe('uploads', () => {
  const send = (query = '') =>
    w.call(`POST /uploads${query}`, {
      token,
      payload: 'bytes',
      headers: { 'content-type': 'application/octet-stream' },
    })

  test('are read at their location, by their tenant only', async () => {
    const { status, headers, json } = await send('?file_name=list%20%C3%BC.csv')
    expect(status).toBe(201)
    expect(json).toMatchObject({ state: 'stored', file_name: 'list ü.csv', size_bytes: 5 })
    expect((await w.call(`GET ${headers['location']}`, { token })).json).toEqual(json)
    const outsider = await w.token({ tenant_id: await w.makeTenant() })
    expect((await w.call(`GET ${headers['location']}`, { token: outsider })).json.code).toBe('not_found')
  })

  test.each([
    ['a path', '../../etc/passwd', 'passwd'],
    ['a path of Windows', 'C:\\lists\\sdn.csv', 'sdn.csv'],
    ['a folder', 'lists/2026/', '2026'],
    ['control characters', 'a\r\nSet-Cookie: x\u007f\u0085.csv', 'aSet-Cookie: x.csv'],
    ['text that is shown backwards', 'invoice\u202efdp.exe\u2066\u200f', 'invoicefdp.exe'],
    ['invisible characters', '\ufeffa\u200b\u2028b.csv', 'ab.csv'],
    ['two forms of one letter', 'u\u0308.csv', 'ü.csv'],
    ['white space around', '  list.csv ', 'list.csv'],
    ['letters of any script', 'سجل الأسماء 名簿.csv', 'سجل الأسماء 名簿.csv'],
    ['nothing but a path', '../..', null],
    ['nothing but invisible characters', '\u202e\u0007', null],
  ])('are stored under a clean name: %s', async (_what, given, stored) => {
    const { status, json, headers } = await send(`?file_name=${encodeURIComponent(given)}`)
    expect([status, json.file_name]).toEqual([201, stored])
    expect((await w.call(`GET ${headers['location']}`, { token })).json.file_name).toBe(stored)
  })

  test('need bytes and a valid name', async () => {
    expect((await w.call('POST /uploads', { token })).json.code).toBe('malformed_request')
    for (const name of ['', '%00', 'x'.repeat(256)]) {
      expect((await send(`?file_name=${name}`)).json.code).toBe('validation_failed')
    }
  })
})
