/** Sign-in with a small OpenID provider that checks requests as a real one does. */
import { createHash } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createChallenge, finishSignIn, type Grant, type Provider, refreshGrant, startSignIn } from './oidc.ts'

const kept = new Map<string, string>()
const storage = {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => void kept.set(key, value),
  removeItem: (key: string) => void kept.delete(key),
} as Storage

let server: http.Server
let provider: Provider
let challenge = ''
/** What the provider returns with the token. */
let along: Record<string, unknown> = {}
/** Valid for one use. */
let refresh_token = 'refresh-1'

beforeAll(async () => {
  server = http.createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const form = new URLSearchParams(text)
    const proven = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const fits =
      form.get('grant_type') === 'authorization_code' &&
      form.get('code') === 'good-code' &&
      form.get('client_id') === 'console' &&
      form.get('redirect_uri') === 'https://probity.example/sign-in/callback' &&
      proven === challenge
    const renews =
      form.get('grant_type') === 'refresh_token' &&
      form.get('client_id') === 'console' &&
      form.get('refresh_token') === refresh_token
    if (renews) refresh_token = 'refresh-2'
    response.writeHead(fits || renews ? 200 : 400, { 'content-type': 'application/json' })
    const granted = { access_token: renews ? 'd.e.f' : 'a.b.c', token_type: 'Bearer', ...along }
    response.end(JSON.stringify(fits || renews ? granted : { error: 'invalid_grant' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  provider = {
    issuer: base,
    client_id: 'console',
    authorization_endpoint: `${base}/authorize?realm=bank`,
    token_endpoint: `${base}/token`,
    scopes: ['openid', 'profile'],
  }
})
afterAll(() => server?.close())
beforeEach(() => {
  kept.clear()
  along = {}
  refresh_token = 'refresh-1'
})

async function start() {
  const url = await startSignIn(provider, 'https://probity.example', '/users?state=active', storage)
  challenge = url.searchParams.get('code_challenge') ?? ''
  return url.searchParams
}

test('creates the challenge of RFC 7636, appendix B', async () => {
  expect(await createChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe(
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  )
})

test('sends client, scopes, state and challenge, but not the verifier', async () => {
  const params = await start()
  expect(Object.fromEntries(params)).toMatchObject({
    realm: 'bank',
    response_type: 'code',
    client_id: 'console',
    scope: 'openid profile',
    code_challenge_method: 'S256',
    redirect_uri: 'https://probity.example/sign-in/callback',
  })
  const { verifier } = JSON.parse([...kept.values()][0] ?? '{}') as { verifier: string }
  expect(verifier.length).toBeGreaterThanOrEqual(43)
  expect(params.toString()).not.toContain(verifier)
})

test('returns the token and the requested path once', async () => {
  const answer = new URLSearchParams({ code: 'good-code', state: (await start()).get('state') ?? '' })
  expect(await finishSignIn(answer, storage)).toEqual({
    token: 'a.b.c',
    grant: null,
    place: '/users?state=active',
  })
  expect(kept.size).toBe(0)
  expect(await finishSignIn(answer, storage)).toEqual({ fault: expect.stringContaining('not started') })
})

test.each([
  ['another state', { code: 'good-code', state: 'forged' }, 'another sign-in'],
  ['a refusal', { error: 'access_denied', error_description: 'Not today' }, 'Not today'],
  ['no code', {}, 'no code'],
  ['a code the provider does not know', { code: 'bad-code' }, 'no token'],
])('%s does not sign in', async (_name, parts, fault) => {
  const state = (await start()).get('state') ?? ''
  const answer = new URLSearchParams({ state, ...parts })
  expect(await finishSignIn(answer, storage)).toEqual({ fault: expect.stringContaining(fault) })
  expect(kept.size).toBe(0)
})

test('renews a token and uses each refresh token once', async () => {
  along = { refresh_token: 'refresh-1', expires_in: 100 }
  const before_ms = Date.now()
  const answer = new URLSearchParams({ code: 'good-code', state: (await start()).get('state') ?? '' })
  const { grant } = (await finishSignIn(answer, storage)) as { grant: Grant }
  expect(grant).toMatchObject({ refresh_token: 'refresh-1', client_id: 'console' })
  expect(grant.renew_at_ms).toBeGreaterThanOrEqual(before_ms + 90_000)
  expect(grant.renew_at_ms).toBeLessThan(Date.now() + 100_000)

  along = { refresh_token: 'refresh-2' }
  expect(await refreshGrant(grant)).toEqual({
    token: 'd.e.f',
    grant: { ...grant, refresh_token: 'refresh-2', renew_at_ms: null },
  })
  expect(await refreshGrant(grant)).toBe('refused')
})

test('keeps the refresh token if the provider returns none, and fails if the provider is unavailable', async () => {
  const grant: Grant = { ...provider, refresh_token: 'refresh-1', renew_at_ms: null }
  expect(await refreshGrant(grant)).toMatchObject({ token: 'd.e.f', grant: { refresh_token: 'refresh-1' } })
  expect(await refreshGrant({ ...grant, token_endpoint: 'http://127.0.0.1:1/token' })).toBe('unreachable')
})
