/** The credential of a request is found in what came back, in each form in which providers repeat it. */
import { expect, test } from 'vitest'
import { hasSecret, hideSecrets, listSecretForms } from './echoed-secrets.ts'
import { undoEscapes } from './undo-escapes.ts'

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

const toUnits = (text: string, hex: (unit: string) => string = (unit) => unit) =>
  text
    .split('')
    .map((unit) => `\\u${hex(unit.charCodeAt(0).toString(16).padStart(4, '0'))}`)
    .join('')
const toReferences = (text: string, write: (code: number) => string) =>
  [...text].map((character) => `&#${write(character.codePointAt(0) as number)};`).join('')
const toPercent = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const json = (text: string) => JSON.stringify({ error: { message: `The key ${text} is not known` } })

/** Spellings that a parser of the answer decodes to the secret. */
const escapes: readonly (readonly [name: string, write: (text: string) => string])[] = [
  ['an escaped solidus', (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/')],
  ['a plus sign as \\u002B', (text) => JSON.stringify(text).slice(1, -1).replaceAll('+', '\\u002B')],
  ['every character as \\uXXXX', (text) => toUnits(text)],
  ['every character as \\uXXXX in capitals', (text) => toUnits(text, (hex) => hex.toUpperCase())],
  ['every byte as \\xXX', (text) => toUnits(text).replaceAll('\\u00', '\\x')],
  ['decimal references', (text) => toReferences(text, String)],
  ['decimal references with zeros', (text) => toReferences(text, (code) => `000000${code}`)],
  ['hexadecimal references', (text) => toReferences(text, (code) => `x${code.toString(16)}`)],
  [
    'hexadecimal references in capitals',
    (text) => toReferences(text, (code) => `x00${code.toString(16).toUpperCase()}`),
  ],
  [
    'named references',
    (text) =>
      text
        .replaceAll('&', '&amp;')
        .replaceAll('"', '&quot;')
        .replaceAll('<', '&lt;')
        .replaceAll("'", '&apos;')
        .replaceAll('/', '&sol;')
        .replaceAll('+', '&plus;')
        .replaceAll('=', '&equals;'),
  ],
  [
    'percent encoding in small letters',
    (text) => encodeURIComponent(text).replace(/%../g, (each) => each.toLowerCase()),
  ],
  ['every byte percent-encoded', toPercent],
  ['percent encoding in JSON in JSON', (text) => json(json(toPercent(text)))],
  ['JSON in JSON in JSON', (text) => json(json(json(text.replaceAll('/', '\\/'))))],
  ['references in an escaped text', (text) => toUnits(toReferences(text, String))],
  [
    'a URL in XML in JSON',
    (text) => json(`<a href="?k=${encodeURIComponent(text).toLowerCase().replaceAll('%', '&#37;')}"/>`),
  ],
]
/** Among them such as contain what looks like an escape. */
const keys = [
  'sk_live/Ab+9==Zq',
  'a&b<c>"d\'e/f+g=',
  'q€\u{1F511}/ü+0123=',
  'p%41ss\\u0041/x+=&amp;',
  '\\\\/\\\\/%%2F+&lt;=Xy01',
]
const formsOf = (key: string) =>
  listSecretForms({ credential: { members: [{ name: 'key' }] } }, { members: new Map([['key', Buffer.from(key)]]) })

test.each(escapes)('a secret is found behind %s', (name, write) => {
  // Small letters of a key are its own; only the digits of an escape may be written either way.
  const tried = name === 'a URL in XML in JSON' ? keys.map((key) => key.toLowerCase()) : keys
  for (const key of tried) {
    expect.soft(hasSecret([Buffer.from(`<a>{"x":"${write(key)}"}</a>`)], formsOf(key)), key).toBe(true)
    const headers = { etag: `"${Buffer.from(write(key)).toString('latin1')}"` }
    if (/^[\x20-\x7e]*$/.test(write(key)))
      expect.soft(hideSecrets(headers, formsOf(key)), key).toEqual({ etag: '[credential]' })
    const other = write(key).replace(/.$/u, '').slice(0, -8)
    expect.soft(hasSecret([Buffer.from(`${other}`)], formsOf(`${key}0123456789`)), key).toBe(false)
  }
})

test.each(['', 'k', 'k=', 'Bearer ', '{"x-api-key":"'])('a secret is found in base64 after %o', (before) => {
  for (const key of keys) {
    for (const after of ['', '\n', '"}', '&a=1']) {
      const bytes = Buffer.from(`${before}${key}${after}`)
      expect.soft(hasSecret([bytes], formsOf(key))).toBe(true)
      for (const encoding of ['base64', 'base64url'] as const) {
        const body = Buffer.from(JSON.stringify({ request: bytes.toString(encoding) }))
        expect.soft(hasSecret([body], formsOf(key)), `${key}${after}`).toBe(true)
        expect.soft(hasSecret([body], formsOf(`${key}0123`)), `${key}${after}`).toBe(false)
      }
    }
  }
})

test('a secret is found in UTF-16 of either order, as it is and behind escapes', () => {
  for (const key of keys) {
    for (const text of [json(key), json(toUnits(key)), `<a>${toReferences(key, String)}</a>`]) {
      const little = Buffer.from(`\ufeff${text}`, 'utf16le')
      expect.soft(hasSecret([little], formsOf(key)), key).toBe(true)
      expect.soft(hasSecret([Buffer.from(little).swap16()], formsOf(key)), key).toBe(true)
      expect.soft(hasSecret([Buffer.concat([little, Buffer.from('\n')])], formsOf(key)), key).toBe(true)
      expect.soft(hasSecret([little], formsOf(`${key}0123`)), key).toBe(false)
    }
  }
})

test('escapes are undone in one pass over the bytes', () => {
  const size = 128 * 1024
  for (const piece of ['&', '&#', '&#0', '&#x', '\\', '\\u', '\\ud83d', '%', '%2', '%25', '&amp;', '\\\\u005c']) {
    const body = Buffer.alloc(size, piece)
    expect(undoEscapes(body).length).toBeLessThanOrEqual(size)
    expect(hasSecret([body], forms), piece).toBe(false)
  }
  const plain = Buffer.from('{"name":"Example Farm Ltd"}')
  expect(undoEscapes(plain)).toBe(plain)
})

test('what is no escape stays as it is', () => {
  for (const text of [
    '\\u12g4',
    '\\q',
    '&#;',
    '&#x;',
    '&#1114112;',
    '&#12',
    '&unknown;',
    '&amp',
    '%2',
    '%zz',
    '100 %',
  ]) {
    expect(undoEscapes(Buffer.from(text)).toString()).toBe(text)
  }
  expect(undoEscapes(Buffer.from('\\ud83d\\udd11 &#128273; %f0%9f%94%91')).toString()).toBe(
    '\u{1F511} \u{1F511} \u{1F511}',
  )
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
