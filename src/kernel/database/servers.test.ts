/** Database URLs with several hosts: what libpq would read, and sentences for what cannot be used. */
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { evaluateServers } from '#app/cli/database-checks.ts'
import { parseDatabaseUrl } from './database-url.ts'
import { openWritable, toConnectionConfig } from './servers.ts'

describe('a database URL', () => {
  test.each([
    'postgres://app:secret@db.example.com:5432/probity?sslmode=verify-full',
    'postgres://app@/probity?host=/run/postgresql',
    'postgres://app@%2Frun%2Fpostgresql/probity',
    'postgres://app:p%40ss%2Cword@[::1]:5432/probity',
    'postgres:///probity',
  ])('with one host stays as it was written: %s', (url) => {
    expect(parseDatabaseUrl(url)).toMatchObject({ urls: [url], needs_writable: false })
    expect(toConnectionConfig(url, { keepAlive: true })).toEqual({ connectionString: url, keepAlive: true })
  })

  test.each([
    ['postgres://a@h/p?target_session_attrs=read-write', 'postgres://a@h/p'],
    ['postgres://a@h/p?target_session_attrs=primary&sslmode=require', 'postgres://a@h/p?sslmode=require'],
    ['postgres://a@h/p?sslmode=require&target_session_attrs=read-write', 'postgres://a@h/p?sslmode=require'],
  ])('with one host is asked for writes when it says so: %s', (url, plain) => {
    expect(parseDatabaseUrl(url)).toEqual({ urls: [plain], hosts: ['h'], needs_writable: true })
    expect(toConnectionConfig(url, {}).candidates).toHaveLength(1)
  })

  const several = (url: string) =>
    parseDatabaseUrl(url).urls.map((connectionString) => {
      const { host, port, user, password, database, ssl } = new pg.Client({ connectionString })
      return { host, port, user, password, database, encrypted: Boolean(ssl) }
    })

  test('with several hosts becomes one for each, with everything else kept', () => {
    const facts = { user: 'app', password: 'p@ss,word', database: 'probity', encrypted: true }
    expect(
      several(
        'postgresql://app:p%40ss%2Cword@h1:5432,h2:5433,[::1]/probity?target_session_attrs=read-write&sslmode=verify-full',
      ),
    ).toEqual([
      { ...facts, host: 'h1', port: 5432 },
      { ...facts, host: 'h2', port: 5433 },
      { ...facts, host: '::1', port: 5432 },
    ])
  })

  test('may give hosts and ports as parameters, also folders of sockets', () => {
    const facts = { user: 'app', password: null, database: 'probity', encrypted: false }
    const both = [
      { ...facts, host: '/run/a', port: 5432 },
      { ...facts, host: '/run/b', port: 5433 },
    ]
    expect(several('postgres://app@/probity?host=/run/a,/run/b&port=5432,5433')).toEqual(both)
    expect(several('postgres://app@%2Frun%2Fa:5432,%2Frun%2Fb:5433/probity')).toEqual(both)
    expect(several('postgres://app@/probity?host=a,b&port=6000').map(({ port }) => port)).toEqual([6000, 6000])
  })

  test.each([
    ['postgres://a@h1,h2/p?target_session_attrs=standby', 'Probity needs a server that takes writes'],
    ['postgres://a@h1,,h2/p', 'one of its hosts is empty'],
    ['postgres://a@h1:x,h2/p', 'the port of host h1 is not a number'],
    ['postgres://a:secret@h1,h2/p?port=1,2,3', 'it names 2 hosts and 3 ports'],
  ])('is refused with a sentence: %s', (url, sentence) => {
    expect(() => parseDatabaseUrl(url)).toThrow(sentence)
  })
})

describe('the first server that takes writes', () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  const wrongPassword = Object.assign(new Error('wrong password'), { code: '28P01' })
  type Fake = 'on' | 'off' | Error
  const open = async (servers: readonly Fake[], first = 0) => {
    const closed: number[] = []
    const tried: number[] = []
    const result = await openWritable(
      servers.length,
      first,
      async (index) => {
        tried.push(index)
        const answer = servers[index]
        if (answer instanceof Error) throw answer
        return { index, query: async () => ({ rows: [{ transaction_read_only: answer }] }) } as never
      },
      (client) => closed.push((client as unknown as { index: number }).index),
    ).then(
      ({ index }) => index,
      (error: Error) => error.message,
    )
    return { result, tried, closed }
  }

  test('is found after those that are down or read-only, which are closed again', async () => {
    expect(await open([refused, 'on', 'off', 'off'])).toEqual({ result: 2, tried: [0, 1, 2], closed: [1] })
  })

  test('is looked for from the last good one on', async () => {
    expect(await open(['off', 'off', 'on'], 2)).toEqual({ result: 0, tried: [2, 0], closed: [2] })
  })

  test('is missing: the reasons are reported', async () => {
    const { result } = await open([refused, 'on'])
    expect(result).toBe('none of 2 database servers takes writes: refused; takes no writes')
  })

  test('is not looked for behind a wrong password', async () => {
    expect(await open([wrongPassword, 'off'])).toEqual({ result: 'wrong password', tried: [0], closed: [] })
  })
})

test('the doctor wants exactly one of the servers to take writes', () => {
  const at = (host: string, state: 'writable' | 'standby' | 'unreachable') => ({ host, state })
  const judge = (...states: ('writable' | 'standby' | 'unreachable')[]) =>
    evaluateServers(
      'DATABASE_URL',
      states.map((state, index) => at(`h${index}`, state)),
    ).status
  expect(judge('standby', 'writable')).toBe('ok')
  expect(judge('unreachable', 'writable')).toBe('warn')
  expect(judge('standby', 'standby')).toBe('fail')
  expect(judge('writable', 'writable')).toBe('fail')
})
