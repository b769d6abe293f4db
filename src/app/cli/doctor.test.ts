import { describe, expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { evaluateConnectionUsage, evaluatePooler } from './doctor.ts'
import { formatTable } from './format-table.ts'
import { checkEncryption, checkSettings } from './machine-checks.ts'
import { findLeastPrivileged } from './token.ts'

describe('doctor', () => {
  test('a pooler is a fault only with prepared statements it does not keep track of', () => {
    const verdicts = [false, true].flatMap((pooled) =>
      [false, true].flatMap((tracks) =>
        [false, true].map((prepared) => evaluatePooler(pooled, tracks, prepared).status),
      ),
    )
    expect(verdicts).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'fail', 'ok', 'ok'])
    expect(evaluatePooler(true, false, true).remedy).toContain('PROBITY_PREPARED_STATEMENTS=off')
  })

  test('a pool must fit into the server', () => {
    expect(evaluateConnectionUsage({ limit: 97, used: 96 }, 10).status).toBe('ok')
    expect(evaluateConnectionUsage({ limit: 97, used: 0 }, 100)).toMatchObject({
      status: 'fail',
      remedy: expect.stringContaining('POOL_SIZE'),
    })
  })

  test('a variable that nobody reads is named, with the one that was meant', () => {
    const known = { PROBITY_LOG_LEVEL: 'warn', PORT: '1', PROBITY_TYPO: '', ELSEWHERE: 'x' }
    expect(checkSettings(known).status).toBe('ok')
    const { status, detail, remedy } = checkSettings({
      ...known,
      PROBITY_LOGLEVEL: 'warn',
      PROBITY_MASTER_KEY: 'secret',
      PROBITY_ELSE: 'x',
    })
    expect(status).toBe('warn')
    expect(detail).toBe('nobody reads PROBITY_LOGLEVEL, PROBITY_MASTER_KEY, PROBITY_ELSE')
    expect(remedy?.split('\n')).toEqual([
      'PROBITY_LOGLEVEL: did you mean PROBITY_LOG_LEVEL?',
      'PROBITY_MASTER_KEY: did you mean PROBITY_MASTER_KEY_FILE?',
      expect.stringMatching(/^PROBITY_ELSE: .*help environment/),
    ])
  })

  test('a production database on another machine must be encrypted, or somebody must say that it is not', () => {
    const look = (host: string, parameters = '', env: Record<string, string> = {}) => {
      const url = (role: string) => `postgres://${role}:secret@${host}/probity${parameters}`
      const urls = {
        DATABASE_URL: url('app'),
        WORKER_DATABASE_URL: url('worker'),
        STEWARD_DATABASE_URL: 'postgres://steward:x@localhost/probity',
      }
      const production = { NODE_ENV: 'production', PROBITY_MASTER_KEY_FILE: '/run/secrets/master' }
      return checkEncryption(readConfig({ ...urls, ...production }), env)
    }
    const open = look('db.example.com:5432')
    expect(open).toMatchObject({ status: 'warn', remedy: expect.stringContaining('sslmode=verify-full') })
    expect(open.detail).toMatch(/^DATABASE_URL, WORKER_DATABASE_URL: /)
    expect(JSON.stringify(open)).not.toContain('secret')
    expect(look('', '?host=db.example.com').status).toBe('warn')
    expect(look('10.0.0.1', '?application_name=x').status).toBe('warn')
    for (const host of ['localhost', '127.0.0.1:5433', '[::1]:5432', '%2Fvar%2Frun', '']) {
      expect(look(host).status, host).toBe('ok')
    }
    expect(look('', '?host=/var/run/postgresql').status).toBe('ok')
    expect(look('db.example.com', '?sslmode=verify-full').status).toBe('ok')
    expect(look('db.example.com', '?sslmode=disable').status).toBe('ok')
    expect(look('db.example.com', '', { PGSSLMODE: 'require' }).status).toBe('ok')
    expect(checkEncryption(readConfig({}), {}).status).toBe('skip')
  })
})

test('a token without a named user speaks for who has the roles and the fewest others', () => {
  const users = [{ roles: ['viewer', 'analyst'] }, { roles: ['viewer'] }, { roles: ['auditor'] }]
  expect(findLeastPrivileged(users, ['viewer'])).toBe(users[1])
  expect(findLeastPrivileged(users, ['viewer', 'analyst'])).toBe(users[0])
  expect(findLeastPrivileged(users, ['viewer', 'auditor'])).toBeUndefined()
})

test('a table has aligned columns', () => {
  expect(
    formatTable([
      { slug: 'demo', state: 'active' },
      { slug: 'x', state: null },
    ]),
  ).toBe('slug  state\ndemo  active\nx')
  expect(formatTable([])).toBe('none')
})
