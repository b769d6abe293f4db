/**
 * Every code of the catalogue is provoked here by a real request, and every answer has the one shape. A code that no request can
 * provoke yet is listed with its reason; both lists together are exactly the catalogue.
 */
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { modules } from '#app/modules.ts'
import { updateTenantState } from '#app/queries.ts'
import { signingKeyContext } from '#kernel/auth/built-in-issuer.ts'
import { listSigningKeys } from '#kernel/auth/queries.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { type ProblemCode, problems } from '#kernel/problem.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { createDocumentTriggers } from '../support/document-problem-triggers.ts'
import { createPluginTriggers } from '../support/plugin-problem-triggers.ts'
import { createProviderTriggers } from '../support/provider-problem-triggers.ts'
import { formatRequest, sendRaw } from '../support/raw-http.ts'
import { createRecordTriggers } from '../support/record-problem-triggers.ts'
import { EXAMPLES_STALE, ExampleRecorder, toProblemExample } from '../support/recorded-examples.ts'
import {
  createRegistryTriggers,
  type ProblemReply,
  type ProblemTriggers,
} from '../support/registry-problem-triggers.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { createTestModule } from '../support/test-module.ts'
import { type ForgeryContext, goodToken } from '../support/token-forge.ts'
import { createToolTriggers } from '../support/tool-problem-triggers.ts'

const rehearsal = createTestModule()
const DEAD_ISSUER = 'https://issuer.example'
let w: TestApp
let base: string
let admin: string
let worker: string
let user_id: string
let forgery: ForgeryContext

beforeAll(async () => {
  w = await startTestApp({
    // Short enough for the one case that waits until the timeout.
    wait_ms: 2000,
    modules: [...modules, rehearsal.module],
    issuers: [
      {
        issuer: DEAD_ISSUER,
        audience: 'probity',
        algorithms: ['ES256'],
        tenants: [uuidv7()],
        tenant_claim: 'tenant_id',
        roles_claim: 'roles',
        role_map: {},
        // Nobody listens on this port.
        keys: { kind: 'jwks', url: 'http://127.0.0.1:1/jwks' },
      },
    ],
  })
  base = await w.listen()
  admin = await w.token({ roles: ['tenant_admin'] })
  worker = await w.token({ roles: ['analyst'] })
  user_id = (await newUser([])).user_id
  const [row] = await w.runtime.database.one(fullScope(SYSTEM_TENANT, 'operator:test'), listSigningKeys)
  if (!row) throw new Error('no signing key')
  forgery = {
    issuer: w.kernel.issuer.issuer,
    audience: w.kernel.issuer.audience,
    tenant_id: await w.tenant(),
    subject: `user:${uuidv7()}`,
    role: 'viewer',
    now_s: Math.floor(Date.now() / 1000),
    key: {
      kid: row.kid,
      public_jwk: row.public_jwk,
      private_jwk: JSON.parse(w.seedContext.keyring.decrypt(row.sealed_private, signingKeyContext(row.kid)).toString()),
    },
  }
})
afterAll(() => {
  examples.write(() => Object.keys(problems))
  return w.close()
})

const examples = new ExampleRecorder()

let count = 0
async function newUser(roles: string[], token = admin) {
  const body = { name: 'Ada', email: `ada-${count++}@example.com`, roles }
  return (await w.call('POST /users', { token, body })).json
}

async function call(...request: Parameters<TestApp['call']>): Promise<ProblemReply> {
  const { status, headers, json } = await w.call(...request)
  return { status, type: headers['content-type'], retry_after: headers['retry-after'], body: json }
}

async function raw(text: string): Promise<ProblemReply> {
  const { status, headers, body } = await sendRaw(base, text)
  return { status, type: headers['content-type'], retry_after: headers['retry-after'], body: JSON.parse(body) }
}

/** A tenant with one limit, and a token of one of its analysts. */
async function limited(bucket: string, burst: number): Promise<string> {
  const tenant_id = await w.makeTenant()
  await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
    tx.run('insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ($1, $2, 1, $3)', [
      tenant_id,
      bucket,
      burst,
    ]),
  )
  return w.token({ tenant_id, roles: ['analyst'] })
}

/** Four eyes: an author, a checker, a user, and the author's open request to change that user's roles. */
async function proposal() {
  const tenant_id = await w.makeTenant({ four_eyes: true })
  const person = () => w.token({ tenant_id, roles: ['tenant_admin'] })
  const [author, checker] = [await person(), await person()]
  const user = await newUser([], author)
  const asked = await w.call(`PUT /users/${user.user_id}/roles`, { token: author, body: { roles: ['viewer'] } })
  return { author, checker, user, cr_id: asked.json.cr_id as string }
}

async function duringMark(
  token: string,
  names: string[],
  then: () => Promise<ProblemReply>,
  key?: string,
): Promise<ProblemReply> {
  const gates = names.map((name) => rehearsal.hold(name))
  const headers = key ? { 'idempotency-key': key } : {}
  const running = names.map((name) => w.call('POST /rehearsal/marks', { token, headers, body: { name } }))
  await Promise.all(gates.map(({ arrived }) => arrived))
  const seen = await then()
  for (const gate of gates) gate.release()
  await Promise.all(running)
  return seen
}

const provocations: ProblemTriggers = {
  malformed_request: () => call('POST /auth/token', { payload: '{', headers: { 'content-type': 'application/json' } }),
  token_missing: () => call('GET /auth/me'),
  token_invalid: () => call('GET /auth/me', { token: 'never.a.token' }),
  token_expired: () => {
    const claims = { iat: forgery.now_s - 1000, exp: forgery.now_s - 100 }
    return call('GET /auth/me', { token: goodToken(forgery, { claims }) })
  },
  token_revoked: async () => {
    const token = await w.token()
    const { token_id } = (await w.call('GET /auth/me', { token })).json
    await w.call('POST /auth/token/revoke', { token: admin, body: { token_id } })
    return call('GET /auth/me', { token })
  },
  tenant_context_missing: () =>
    call('GET /auth/me', { token: goodToken(forgery, { claims: { tenant_id: undefined } }) }),
  tenant_suspended: async () => {
    const tenant_id = await w.makeTenant()
    const token = await w.token({ tenant_id })
    await w.steward.write(fullScope(SYSTEM_TENANT, 'operator:test'), (tx) =>
      updateTenantState(tx, tenant_id, 'suspended'),
    )
    return call('GET /auth/me', { token })
  },
  api_key_invalid: () => call('POST /auth/token', { body: { api_key: 'pk_never' } }),
  person_required: async () => {
    const token = await w.token({ principal: `key:${uuidv7()}`, roles: ['compliance_officer'] })
    const body = { reason: 'x', break_glass: { reason: 'x' } }
    return call('POST /rules/dormant-account/rollback', { token, body })
  },
  role_required: () => call('GET /users', { token: worker }),
  not_found: () => call(`GET /users/${uuidv7()}`, { token: admin }),
  cursor_not_found: () => call('GET /users?cursor=AAAA', { token: admin }),
  method_not_allowed: () => call('DELETE /users', { token: admin }),
  not_acceptable: () => call('GET /auth/me', { token: admin, headers: { accept: 'image/png' } }),
  request_timeout: async () => {
    const { headersTimeout } = w.server.app.server
    w.server.app.server.headersTimeout = 1
    const seen = await raw('GET /api/health HTTP/1.1\r\nHost: slow\r\n')
    w.server.app.server.headersTimeout = headersTimeout
    return seen
  },
  conflict: () =>
    call(`PUT /users/${user_id}/availability`, {
      token: admin,
      body: { away_from: '2026-01-01T00:00:00Z', away_until: null },
    }),
  duplicate: async () => {
    const { email } = await newUser([])
    return call('POST /users', { token: admin, body: { name: 'Twin', email, roles: [] } })
  },
  revision_stale: () => call(`PATCH /users/${user_id}`, { token: admin, body: { team: 'x', expected_revision: 99 } }),
  transition_not_allowed: async () => {
    const { author, cr_id } = await proposal()
    await w.call(`POST /change-requests/${cr_id}/withdraw`, { token: author, body: {} })
    return call(`POST /change-requests/${cr_id}/withdraw`, { token: author, body: {} })
  },
  approvers_missing: () => {
    const rules = [{ action: 'roles', approvers: 5, role: 'tenant_admin' }]
    return call('PUT /tenant/approval-policy', { token: admin, body: { rules } })
  },
  approval_void: async () => {
    const { author, checker, user, cr_id } = await proposal()
    await w.call(`PATCH /users/${user.user_id}`, { token: author, body: { team: 'moved' } })
    return call(`POST /change-requests/${cr_id}/approve`, { token: checker, body: {} })
  },
  author_not_permitted: async () => {
    const tenant_id = await w.makeTenant()
    const [author, checker] = [await w.person(tenant_id, ['tenant_admin']), await w.person(tenant_id, ['tenant_admin'])]
    await w.setApprovalRules(tenant_id, [{ action: 'tenant-profile', approvers: 1, role: 'tenant_admin' }])
    const { cr_id } = (await w.call('PATCH /tenant', { token: author.token, body: { name: 'New' } })).json
    await w.call(`POST /users/${author.user_id}/deactivate`, { token: checker.token })
    return call(`POST /change-requests/${cr_id}/approve`, { token: checker.token, body: {} })
  },
  approval_own_request: async () => {
    const { author, cr_id } = await proposal()
    return call(`POST /change-requests/${cr_id}/approve`, { token: author, body: {} })
  },
  last_administrator: async () => {
    const token = await w.token({ tenant_id: await w.makeTenant() })
    const only = await newUser(['tenant_admin'], token)
    return call(`POST /users/${only.user_id}/deactivate`, { token })
  },
  idempotency_in_progress: () => {
    const again = { token: worker, headers: { 'idempotency-key': 'busy' }, body: { name: 'busy' } }
    return duringMark(worker, ['busy'], () => call('POST /rehearsal/marks', again), 'busy')
  },
  idempotency_key_reused: async () => {
    const headers = { 'idempotency-key': 'once' }
    await w.call('POST /rehearsal/marks', { token: worker, headers, body: { name: 'one' } })
    return call('POST /rehearsal/marks', { token: worker, headers, body: { name: 'two' } })
  },
  idempotency_not_replayable: async () => {
    const request = { token: admin, headers: { 'idempotency-key': 'k' }, body: { name: 'key', roles: ['viewer'] } }
    await w.call('POST /api-keys', request)
    return call('POST /api-keys', request)
  },
  upload_incomplete: async () => {
    const upload_id = uuidv7()
    const principal = `user:${uuidv7()}` as const
    await w.runtime.database.write(fullScope(await w.tenant(), 'operator:test'), (tx) =>
      tx.run(
        `insert into app.upload (tenant_id, upload_id, state, media_type, created_by, expires_at)
         values ($1, $2, 'receiving', 'application/octet-stream', $3, now() + interval '1 hour')`,
        [tx.tenant_id, upload_id, principal],
      ),
    )
    return call(`POST /rehearsal/uses/${upload_id}`, { token: await w.token({ principal, roles: ['analyst'] }) })
  },
  precondition_failed: () =>
    call(`PATCH /users/${user_id}`, { token: admin, headers: { 'if-match': '"99"' }, body: { team: 'x' } }),
  too_large: () =>
    call('POST /auth/token', {
      payload: Buffer.alloc(1024 * 1024 + 1),
      headers: { 'content-type': 'application/json' },
    }),
  media_type_unsupported: () => call('POST /auth/token', { payload: '<a/>', headers: { 'content-type': 'text/xml' } }),
  validation_failed: () => call('POST /auth/token', { body: {} }),
  rate_limited: async () => {
    vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    const token = await limited('principal', 1)
    await w.call('GET /auth/me', { token })
    const seen = await call('GET /auth/me', { token })
    vi.restoreAllMocks()
    return seen
  },
  not_finished: async () => {
    // No worker runs here: the export stays queued.
    const token = await w.token({ roles: ['auditor'] })
    const { json: job } = await w.call('POST /audit/exports', { token, body: {} })
    return call(`GET ${job.resource}/content`, { token })
  },
  concurrency_limited: async () => {
    const token = await limited('in_flight', 1)
    return duringMark(token, ['full'], () => call('GET /auth/me', { token }))
  },
  ...createRegistryTriggers(() => w, call),
  ...createProviderTriggers(() => w, call),
  ...createPluginTriggers(() => w, call),
  ...createRecordTriggers(() => w, call),
  ...createToolTriggers(() => w),
  ...createDocumentTriggers(() => w, call),
  headers_too_large: () => raw(formatRequest('GET /api/health HTTP/1.1', { 'X-Long': 'x'.repeat(20_000) })),
  internal: () => call('POST /rehearsal/accidents', { token: worker, body: { name: 'accident' } }),
  dependency_unavailable: () => call('GET /auth/me', { token: goodToken(forgery, { claims: { iss: DEAD_ISSUER } }) }),
  overloaded: async () => {
    // One tenant may hold half of the six connections; the fourth request waits until the timeout.
    return duringMark(worker, ['a', 'b', 'c'], () =>
      call('POST /rehearsal/marks', { token: worker, body: { name: 'd' } }),
    )
  },
}

/** Nothing that exists today can answer these. Whoever builds what can, moves the code up and provokes it. */
const notYetReachable: Partial<Record<ProblemCode, string>> = {
  provider_refused: 'the problem of a job: src/modules/providers/calls.test.ts',
  provider_failed: 'the problem of a job: src/modules/providers/calls.test.ts',
  not_recorded: 'the problem of a job: src/modules/providers/calls.test.ts',
  outcome_unknown: 'the problem of a job: src/modules/providers/calls.test.ts',
  contract_violated: 'no operation decides on payloads yet: src/modules/source-contracts/payloads.test.ts',
  document_infected: 'needs a malware scanner: src/modules/documents/scanning.test.ts',
  import_rejected: 'the problem of a job, not of an answer: src/modules/reference-data/imports.test.ts',
  shutting_down: 'a draining process serves until it closes; only the tool protocol will have to refuse new sessions',
}

describe('the catalogue', () => {
  test('every code is provoked below or listed as not reachable', () => {
    const listed = [...Object.keys(provocations), ...Object.keys(notYetReachable)]
    expect(listed.toSorted()).toEqual(Object.keys(problems).toSorted())
  })

  test('is public, complete, and the same code by code', async () => {
    const { status, json } = await w.call('GET /errors')
    expect(status).toBe(200)
    expect(json.items.map(({ code }: { code: string }) => code)).toEqual(Object.keys(problems))
    for (const item of json.items) expect((await w.call(`GET ${item.type}`)).json).toEqual(item)
    expect((await w.call('GET /errors/no_such_code')).json.code).toBe('not_found')
    expect((await w.call('GET /errors/constructor')).json.code).toBe('not_found')
  })

  test('advice is a sentence, titles have no full stop, and retryable problems say so', () => {
    for (const [code, { title, advice, status, ...rest }] of Object.entries(problems)) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
      expect(title).toMatch(/[^.]$/)
      expect(advice).toMatch(/\.$/)
      if (status === 429) expect(rest).toEqual({ retryable: true })
    }
  })
})

describe('provoked', () => {
  test.each(Object.entries(provocations))('%s', async (code, provoke) => {
    const known = problems[code as ProblemCode]
    const { status, type, retry_after, body } = await provoke()
    expect(body).toMatchObject({
      type: `/api/errors/${code}`,
      title: known.title,
      status: known.status,
      code,
      retryable: 'retryable' in known,
    })
    expect(status).toBe(known.status)
    expect(type).toBe('application/problem+json')
    expect(body['detail']).toMatch(/^[A-Z0-9].*\.$/)
    expect(body['request_id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(body['instance']).toBe(`urn:uuid:${body['request_id']}`)
    const seen = toProblemExample(body)
    expect(Object.keys(examples.record('problems', code, seen) ?? {}), EXAMPLES_STALE).toEqual(Object.keys(seen))
    const isWorthWaiting = [429, 503].includes(status) && 'retryable' in known
    if (isWorthWaiting) expect(Number(retry_after)).toBeGreaterThanOrEqual(1)
    else if (status === 503) expect(retry_after).toBeUndefined()
    expect((await w.call(`GET ${body['type']}`)).json).toMatchObject({ code, status, title: known.title })
  })
})

describe('error details', () => {
  test('an unexpected failure reveals no reason, and an undeclared problem is one in tests', async () => {
    const accident = await w.call('POST /rehearsal/accidents', { token: worker, body: { name: 'accident' } })
    expect(accident.text).not.toContain('secret')
    expect(accident.text).not.toContain('stack')
    expect((await w.call('GET /rehearsal/undeclared', { token: worker })).json.code).toBe('internal')
    expect((await w.call('GET /rehearsal/lies')).json.code).toBe('internal')
  })

  test('do not repeat a refused token or a long body', async () => {
    const token = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}`
    expect((await w.call('GET /auth/me', { token })).text).not.toContain('aaaa')
    const long = 'z'.repeat(5000)
    const { status, text } = await w.call('POST /users', { token: admin, body: { [long]: 1, name: long } })
    expect(status).toBe(422)
    expect(text.length).toBeLessThan(3000)
  })

  test('a connection that breaks does not stop the server', async () => {
    const { port } = new URL(base)
    await new Promise<void>((resolve) => {
      const socket = net.connect(Number(port), '127.0.0.1', () => {
        socket.write(
          formatRequest('POST /api/auth/token HTTP/1.1', { 'Content-Type': 'application/json', 'Content-Length': '9' }),
        )
        socket.resetAndDestroy()
        resolve()
      })
    })
    expect((await w.call('GET /health')).status).toBe(200)
  })
})
