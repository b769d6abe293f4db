import { describe, expect, test } from 'vitest'
import { judgePooler, judgeRoom } from './doctor.ts'
import { table } from './table.ts'
import { closest } from './token.ts'

describe('doctor', () => {
  test('a pooler is a fault only with prepared statements it does not keep track of', () => {
    const verdicts = [false, true].flatMap((pooled) =>
      [false, true].flatMap((tracks) => [false, true].map((prepared) => judgePooler(pooled, tracks, prepared).status)),
    )
    expect(verdicts).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'fail', 'ok', 'ok'])
    expect(judgePooler(true, false, true).remedy).toContain('PROBITY_PREPARED_STATEMENTS=off')
  })

  test('a pool must fit into the server', () => {
    expect(judgeRoom({ limit: 97, used: 96 }, 10).status).toBe('ok')
    expect(judgeRoom({ limit: 97, used: 0 }, 100)).toMatchObject({
      status: 'fail',
      remedy: expect.stringContaining('POOL_SIZE'),
    })
  })
})

test('a token without a named user speaks for who has the roles and the fewest others', () => {
  const users = [{ roles: ['viewer', 'analyst'] }, { roles: ['viewer'] }, { roles: ['auditor'] }]
  expect(closest(users, ['viewer'])).toBe(users[1])
  expect(closest(users, ['viewer', 'analyst'])).toBe(users[0])
  expect(closest(users, ['viewer', 'auditor'])).toBeUndefined()
})

test('a table has aligned columns', () => {
  expect(
    table([
      { slug: 'demo', state: 'active' },
      { slug: 'x', state: null },
    ]),
  ).toBe('slug  state\ndemo  active\nx')
  expect(table([])).toBe('none')
})
