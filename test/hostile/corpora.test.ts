/**
 * Corpora of hostile content: JSON that must not be read, text that must come back as it was sent or be refused, and
 * strings that make careless patterns take for ever. Every operation with a JSON body is tried, from the route table.
 */
import fs from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { isFreeFormAt } from '#kernel/http/validation.ts'
import type { Route } from '#kernel/route.ts'
import type { TSchema } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { fixtures } from '../support/fixtures.ts'
import { announceSampling, sample } from '../support/sampling.ts'
import { findSharedFolder } from '../support/shared-data.ts'
import { type CallOptions, type Reply, startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let tenant: ExampleTenant
let token: string

beforeAll(async () => {
  w = await startTestApp()
  tenant = await ExampleTenant.create(w)
  token = await tenant.token()
})
afterAll(() => w.close())

const withBody = modules.flatMap(({ routes }) => routes).filter((route) => route.body !== undefined)
const json = { 'content-type': 'application/json' }

/** Any identifier will do: a body is judged before what it concerns is looked for. */
const placeOf = (route: Route): string => `${route.method} ${route.path.replace(/:[a-z_]+/g, () => uuidv7())}`
let sent = 0
const post = (route: Route, payload: string | Buffer): Promise<Reply> =>
  w.call(placeOf(route), {
    ...(route.access === 'tenant' && { token }),
    payload,
    headers: json,
    // Public operations count by address.
    address: `10.1.${(sent >> 8) & 255}.${sent++ & 255}`,
  })

describe('JSONTestSuite', () => {
  const folder = findSharedFolder('conformance/JSONTestSuite', 2)
  const files = folder ? fs.readdirSync(folder) : []
  const answersTo = async (prefix: string) => {
    const [route] = withBody.filter(({ id }) => id === 'createUser') as [Route]
    const answers: [file: string, status: number][] = []
    for (const file of files.filter((name) => name.startsWith(prefix))) {
      const reply = await post(route, fs.readFileSync(path.join(folder as string, file)))
      answers.push([file, reply.status])
    }
    return answers
  }

  test.skipIf(!folder)('what is not JSON is 400', async () => {
    const answers = await answersTo('n_')
    expect(answers.length).toBeGreaterThan(90)
    expect(answers.filter(([, status]) => status !== 400)).toEqual([])
  })

  test.skipIf(!folder)('what is JSON, or may be, is read or refused, and never fails', async () => {
    const answers = [...(await answersTo('y_')), ...(await answersTo('i_'))]
    expect(answers.length).toBeGreaterThan(50)
    expect(answers.filter(([, status]) => status !== 400 && status !== 422)).toEqual([])
    const refused = answers.filter(([file, status]) => file.startsWith('y_') && status === 400).map(([file]) => file)
    // Good JSON that a careful reader refuses all the same: names given twice, and numbers that would be rounded.
    expect(refused.filter((file) => !/duplicated|number/.test(file))).toEqual([])
  })
})

const LONG = 200_000
const hostileBodies: readonly (readonly [name: string, payload: string])[] = [
  ['65 levels of lists', `${'['.repeat(65)}${']'.repeat(65)}`],
  ['65 levels of objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
  ['an endless beginning', '[{"a":'.repeat(100_000)],
  ['fifty thousand members', `{${Array.from({ length: 50_000 }, (_, n) => `"m${n}":0`).join()}}`],
  ['a hundred thousand elements', `[${'0,'.repeat(99_999)}0]`],
  ['a very long name', `{"${'n'.repeat(LONG)}":1}`],
  ['a very long string', `"${'s'.repeat(LONG)}"`],
  ['the same name twice', '{"a":1,"a":1}'],
  ['the same name in two spellings', '{"a":1,"\\u0061":1}'],
  ['the same name twice, deep inside', '{"x":[{"a":1,"a":1}]}'],
  ['__proto__', '{"__proto__":{"polluted":true}}'],
  ['constructor.prototype', '{"constructor":{"prototype":{"polluted":true}}}'],
  ['__proto__ in a list', '[{"__proto__":{"polluted":true}}]'],
  ['names every object has', '{"toString":1,"valueOf":1,"hasOwnProperty":1,"__defineGetter__":1}'],
  ['a lone high surrogate', '{"name":"\\ud800"}'],
  ['a lone low surrogate', '{"name":"\\udc00"}'],
  ['surrogates in the wrong order', '{"name":"\\udc00\\ud800"}'],
  ['a lone surrogate in a name', '{"\\ud800":1}'],
  ['1e309', '{"expected_revision":1e309}'],
  ['-1e309', '{"expected_revision":-1e309}'],
  ['a number of 100,000 digits', `{"expected_revision":${'9'.repeat(100_000)}}`],
  ['a fraction of 100,000 digits', `{"x":0.${'9'.repeat(100_000)}}`],
  ['an exponent of 100,000 digits', `{"x":1e-${'9'.repeat(100_000)}}`],
]

/** One operation gets them all in every run; they are read by the same parser, before any operation is known. */
const SAMPLED_BODIES = 2
announceSampling('hostile documents for each operation')

describe('every operation with a JSON body', () => {
  test('exists', () => expect(withBody.length).toBeGreaterThan(10))

  test.for(withBody)('$id refuses every hostile document', async (route) => {
    const answers: [string, number][] = []
    const bodies = route.id === 'createUser' ? hostileBodies : sample(hostileBodies, SAMPLED_BODIES, route.id)
    for (const [name, payload] of bodies) answers.push([name, (await post(route, payload)).status])
    expect(answers.filter(([, status]) => status !== 400 && status !== 422)).toEqual([])
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})

/** Near misses of repeated groups, so long that a pattern that backtracks would never come to an end. */
const LONGEST = 200_000
const slowStrings: readonly string[] = [
  `${'a'.repeat(LONGEST)}!`,
  `${'a-'.repeat(LONGEST / 2)}!`,
  `${'a/'.repeat(LONGEST / 2)}!`,
  `${'a@'.repeat(LONGEST / 2)} `,
  `a@${'a.'.repeat(LONGEST / 2)}@`,
  `${'0'.repeat(LONGEST)}x`,
  `${'0-'.repeat(LONGEST / 2)}x`,
  `${'_'.repeat(LONGEST)}é`,
  ' '.repeat(LONGEST),
]

/** Every string in a value, with the path that leads to it. */
function stringsIn(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value === 'string') return [at]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]) => stringsIn(part, [...at, name]))
}

function withString(value: unknown, [name, ...rest]: readonly string[], text: string): unknown {
  if (name === undefined) return text
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) }
  return Object.assign(copy, { [name]: withString((value as Record<string, unknown>)[name], rest, text) })
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string | readonly string[] }>>
}

function patternsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, part]) =>
    name === 'pattern' && typeof part === 'string' ? [part] : patternsIn(part),
  )
}

describe('strings that make regular expressions slow', () => {
  // Where an endless match can be broken off; in the server below it could not, and nothing would ever be reported.
  beforeAll(() => {
    const inputs = modules.flatMap(({ routes }) => routes.flatMap(({ params, query, body }) => [params, query, body]))
    const patterns = new Set(inputs.flatMap(patternsIn))
    expect(patterns.size).toBeGreaterThan(5)
    const given = vm.createContext({ pattern: '', slow: '' })
    for (const pattern of patterns) {
      for (const slow of slowStrings) {
        Object.assign(given, { pattern, slow })
        const match = () => vm.runInContext(`new RegExp(pattern, 'u').test(slow)`, given, { timeout: 10_000 })
        expect(match, `${pattern} on ${slow.slice(0, 10)}…`).not.toThrow()
      }
    }
  })

  test.for(sample(withBody, 25, 'slow strings'))('$id answers them', async (route) => {
    const example = await fixtures[route.id]?.(tenant, route.roles[0] ?? 'viewer')
    const body = { ...(example?.body as object) }
    // Optional members that the example leaves out are tried as well.
    const named = Object.entries((route.body as ObjectSchema).properties ?? {})
    const texts = named.filter(([, { type }]) => [type].flat().includes('string')).map(([name]) => [name])
    const places = new Map([...stringsIn(body), ...texts].map((at) => [at.join('/'), at]))
    for (const at of places.values()) {
      for (const slow of sample(slowStrings, 1, `${route.id} ${at.join('/')}`)) {
        const { status } = await post(route, JSON.stringify(withString(body, at, slow)))
        // A field that takes anything may lead on to what it concerns, and that is not there; open content may be stored as it is.
        const is_open = isFreeFormAt(route.body as TSchema, `#/${at.join('/')}`)
        expect([at, status < 500 && (is_open || status >= 400)]).toEqual([at, true])
      }
    }
  })

  test('are answered in query parameters too', async () => {
    const places = ['/users?cursor=', '/users?state=', '/users/', '/audit/events?from_at=', '/jobs?kind=', '/errors/']
    for (const place of places) {
      for (const slow of slowStrings) {
        const text = encodeURIComponent(`${slow.slice(0, 4000)}${slow.slice(-1)}`)
        const reply = await w.call(`GET ${place}${text}`, { token, address: `10.2.0.${sent++ & 255}` })
        expect([place, reply.status]).toEqual([place, 422])
      }
    }
  })
})

const SAMPLED_STRINGS = 40
announceSampling('naughty strings for each field')

describe('naughty strings', () => {
  const folder = findSharedFolder('conformance', 5)
  const file = folder && path.join(folder, 'blns.json')
  const strings: string[] = file ? JSON.parse(fs.readFileSync(file, 'utf8')) : []
  const octets = { 'content-type': 'application/octet-stream' }

  /** Sends each string; gives what was stored of it, or undefined where it was refused with 422. */
  const fields: readonly (readonly [
    name: string,
    most: number,
    store: (text: string) => Promise<unknown[] | undefined>,
  ])[] = [
    [
      'name and team of a user',
      100,
      async (text) => {
        const body = { name: text, team: text, email: `${uuidv7()}@example.com`, roles: [] }
        const made = await stored('POST /users', { body })
        const user = made && (await stored(`GET /users/${made['user_id']}`, {}))
        return user && [user['name'], user['team']]
      },
    ],
    [
      'name, residency and licences of a tenant',
      100,
      async (text) => {
        const licences = [{ authority: text, kind: text, reference: text }]
        if (!(await stored('PATCH /tenant', { body: { name: text, residency: text, licences } }))) return undefined
        const now = await stored('GET /tenant', {})
        return now && [now['name'], now['residency'], ...(now['licences'] as object[]).flatMap(Object.values)]
      },
    ],
    [
      'name of a key',
      200,
      async (text) => {
        const made = await stored('POST /api-keys', { body: { name: text, roles: ['viewer'] } })
        return made && [(made['key'] as { name: string }).name]
      },
    ],
    [
      'reason of a revocation',
      500,
      async (text) => {
        const made = await stored('POST /auth/token/revoke', { body: { token_id: uuidv7(), reason: text } })
        return made && [made['reason']]
      },
    ],
    [
      'name of an uploaded file',
      255,
      async (text) => {
        const at = `POST /uploads?file_name=${encodeURIComponent(text)}`
        const made = await stored(at, { payload: 'x', headers: octets })
        // Stored without path and invisible characters, so it comes back as that; the rest is as it was sent.
        return made && (made['file_name'] === cleanName(text) ? [text] : [made['file_name']])
      },
    ],
  ]

  /** Control characters, soft hyphen, direction and zero-width marks, line separators, byte order mark. */
  const invisible = [
    [0x01, 0x1f],
    [0x7f, 0x9f],
    [0xad, 0xad],
    [0x61c, 0x61c],
    [0x200b, 0x200b],
    [0x200e, 0x200f],
    [0x2028, 0x202e],
    [0x2060, 0x2060],
    [0x2066, 0x2069],
    [0xfeff, 0xfeff],
  ] as const

  /** The last part of a path, without what nobody sees. */
  function cleanName(text: string): string | null {
    const isInvisible = (code: number) => invisible.some(([first, last]) => code >= first && code <= last)
    const visible = [...text.normalize('NFC')].filter((char) => !isInvisible(char.codePointAt(0) as number)).join('')
    const parts = visible.split(/[/\\]/).filter((part) => part !== '')
    const name = (parts.at(-1) ?? '').replace(/^ +| +$/g, '')
    return name === '' || name === '.' || name === '..' ? null : name
  }

  async function stored(at: string, options: CallOptions): Promise<Record<string, unknown> | undefined> {
    const reply = await w.call(at, { token, ...options })
    if (reply.status < 300) return reply.json
    expect([at, reply.status]).toEqual([at, 422])
    return undefined
  }

  test.skipIf(!file).for(fields)(
    '%s: each comes back as it was sent, or is refused for a reason',
    async ([name, most, store]) => {
      // A reason is read by people: one that shows nothing is refused.
      const isReadable = (text: string) =>
        !name.startsWith('reason') || /[^\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]/u.test(text)
      const fits = (text: string) =>
        text !== '' && [...text].length <= most && !text.includes('\u0000') && isReadable(text)
      expect(strings.filter(fits).length).toBeGreaterThan(400)
      for (const text of sample(strings, SAMPLED_STRINGS, `naughty strings as ${name}`)) {
        const came = await store(text)
        expect([text, came !== undefined]).toEqual([text, fits(text)])
        for (const one of came ?? []) expect(one).toBe(text)
      }
    },
  )
})
