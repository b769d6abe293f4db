/** The credential of a request is found in what came back, in each form in which providers repeat it. */
import { expect, test } from 'vitest'
import { hasSecret, hideSecrets, listSecretForms } from './echoed-secrets.ts'

const manifest = {
  auth: { kind: 'basic' },
  credential: { members: [{ name: 'username', secret: false }, { name: 'password' }, { name: 'pin' }] },
}
const members = new Map(
  Object.entries({ username: 'acme-company', password: 'p"ss w€rd/1234', pin: '1234' }).map(([name, value]) => [
    name,
    Buffer.from(value),
  ]),
)
const forms = listSecretForms(manifest, { members, access_token: 'token-5678-abcd' })
const isFound = (text: string) => hasSecret([Buffer.from('{}'), Buffer.from(text)], forms)

test('a secret is found as it is, encoded, and as part of Basic authentication', () => {
  const password = 'p"ss w€rd/1234'
  const found = [
    password,
    JSON.stringify({ echo: password }),
    JSON.stringify({ [password]: 1 }),
    Buffer.from(password).toString('base64'),
    Buffer.from(password).toString('hex').toUpperCase(),
    `Basic ${Buffer.from(`acme-company:${password}`).toString('base64')}`,
    `https://a.example/?key=${encodeURIComponent(password)}`,
    'Bearer token-5678-abcd',
  ]
  expect(found.filter((text) => !isFound(text))).toEqual([])
})

test('members that are not secret, and values that occur by chance, are not', () => {
  expect(['acme-company', '1234', 'token-5678', '{}'].filter(isFound)).toEqual([])
  expect(listSecretForms(manifest, { members: new Map() })).toEqual([])
})

test('a header that repeats a secret is replaced as a whole', () => {
  expect(hideSecrets({ etag: '"token-5678-abcd"', date: 'today' }, forms)).toEqual({
    etag: '[credential]',
    date: 'today',
  })
})
