/** The sign-in at a provider, against a small real one that checks what a real one checks. */
import { createHash } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { challengeOf, finishSignIn, type Provider, startSignIn } from './oidc.ts'

const kept = new Map<string, string>()
const storage = {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => void kept.set(key, value),
  removeItem: (key: string) => void kept.delete(key),
} as Storage

let server: http.Server
let provider: Provider
let challenge = ''

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
    response.writeHead(fits ? 200 : 400, { 'content-type': 'application/json' })
    response.end(JSON.stringify(fits ? { access_token: 'a.b.c', token_type: 'Bearer' } : { error: 'invalid_grant' }))
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
beforeEach(() => kept.clear())

async function start() {
  const url = await startSignIn(provider, 'https://probity.example', '/users?state=active', storage)
  challenge = url.searchParams.get('code_challenge') ?? ''
  return url.searchParams
}

test('the challenge is that of RFC 7636, appendix B', async () => {
  expect(await challengeOf('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')).toBe(
    'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  )
})

test('the way there names client, scopes, state and challenge, and never the verifier', async () => {
  const asked = await start()
  expect(Object.fromEntries(asked)).toMatchObject({
    realm: 'bank',
    response_type: 'code',
    client_id: 'console',
    scope: 'openid profile',
    code_challenge_method: 'S256',
    redirect_uri: 'https://probity.example/sign-in/callback',
  })
  const { verifier } = JSON.parse([...kept.values()][0] ?? '{}') as { verifier: string }
  expect(verifier.length).toBeGreaterThanOrEqual(43)
  expect(asked.toString()).not.toContain(verifier)
})

test('the way back gives the token and the place, once', async () => {
  const answer = new URLSearchParams({ code: 'good-code', state: (await start()).get('state') ?? '' })
  expect(await finishSignIn(answer, storage)).toEqual({ token: 'a.b.c', place: '/users?state=active' })
  expect(kept.size).toBe(0)
  expect(await finishSignIn(answer, storage)).toEqual({ fault: expect.stringContaining('not started') })
})

test.each([
  ['another state', { code: 'good-code', state: 'forged' }, 'another sign-in'],
  ['a refusal', { error: 'access_denied', error_description: 'Not today' }, 'Not today'],
  ['no code', {}, 'no code'],
  ['a code the provider does not know', { code: 'bad-code' }, 'no token'],
])('%s signs nobody in', async (_name, parts, fault) => {
  const state = (await start()).get('state') ?? ''
  const answer = new URLSearchParams({ state, ...parts })
  expect(await finishSignIn(answer, storage)).toEqual({ fault: expect.stringContaining(fault) })
  expect(kept.size).toBe(0)
})
