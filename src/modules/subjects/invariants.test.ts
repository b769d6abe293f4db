/** Invariants of subjects that the database enforces, tested with SQL that violates each of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { toForgery } from '#test/support/own-trigger.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { insertCanaryRows } from './canary.ts'

let w: TestApp
let tenant: string
let subject: string
let foreign: string

const inside = <T>(tenant_id: string, body: (tx: Tx) => Promise<T>) =>
  w.runtime.database.write(fullScope(tenant_id, 'operator:test'), body)
async function planted(): Promise<[tenant_id: string, subject_id: string]> {
  const tenant_id = await w.makeTenant()
  await inside(tenant_id, insertCanaryRows)
  // The other subject of the canary is being erased.
  const row = await inside(tenant_id, (tx) =>
    tx.find<{ id: string }>(`select subject_id as id from app.subject where external_id = 'canary'`),
  )
  return [tenant_id, row?.id as string]
}
beforeAll(async () => {
  w = await shareTestApp()
  ;[tenant, subject] = await planted()
  foreign = (await planted())[1]
})
afterAll(() => w.close())

/** Runs the statements in one transaction: how many rows the last one changed, or the SQLSTATE that refused it. */
const attempt = (...statements: readonly string[]): Promise<number | string> =>
  inside(tenant, async (tx) => {
    let count = 0
    for (const sql of statements) count = await tx.run(sql)
    return count
  }).catch((error: { code: string; cause?: { code: string } }) => error.cause?.code ?? error.code)

const KEPT = 'PB002'
const ERASED = 'PB009'
const NOT_GRANTED = '42501'
const CHECK = '23514'
const MISSING = '23503'
const TAKEN = '23505'

const change = (assignments: string) => `update app.subject set ${assignments} where subject_id = '${subject}'`
const newSubject = (columns = '', values = '') =>
  `insert into app.subject (tenant_id, subject_id, subject_type, name, created_by, updated_by${columns})
   values ('${tenant}', gen_random_uuid(), 'person', 'x', 'nobody', 'nobody'${values})`
interface Said {
  readonly of?: string
  readonly cause?: string
  readonly matrix?: string
  readonly band?: string
  readonly valid_at?: string
  readonly reason?: string
  readonly expires_at?: string
}
const newRating = ({ of, cause = 'evaluation', matrix, band, valid_at, reason, expires_at }: Said = {}) =>
  `insert into app.rating (tenant_id, rating_id, subject_id, cause, matrix_key, matrix_version, score_bps, band, valid_at, reason,
     expires_at, recorded_at, actor)
   values ('${tenant}', gen_random_uuid(), '${of ?? subject}', '${cause}', ${matrix ?? `'m', 1, 1`}, ${band ?? `'low'`},
     ${valid_at ?? 'now()'}, ${reason ?? 'null'}, ${expires_at ?? 'null'}, '2001-01-01', 'user:somebody-else')`
const newOverride = (said: Said) =>
  newRating({
    cause: 'override',
    matrix: 'null, null, null',
    reason: `'x'`,
    expires_at: `now() + interval '1 day'`,
    ...said,
  })

const attempts: readonly [title: string, refused_with: string, statements: () => string[]][] = [
  ['remove a subject', NOT_GRANTED, () => ['delete from app.subject']],
  ['give a subject another identity', KEPT, () => [change('subject_id = gen_random_uuid()')]],
  ['change who made a subject', KEPT, () => [change(`created_by = 'user:x'`)]],
  [
    'change an offboarded subject',
    KEPT,
    () => [change(`state = 'offboarded', offboarded_at = now()`), change(`state = 'active', offboarded_at = null`)],
  ],
  [
    'change a subject that is being erased',
    ERASED,
    () => [`update app.subject set name = 'x' where external_id = 'canary erasure'`],
  ],
  ['offboard without a time', CHECK, () => [change(`state = 'offboarded'`)]],
  ['keep attributes that are no object', CHECK, () => [change(`attributes = '[]'`)]],
  ['make a subject of another type', CHECK, () => [change(`subject_type = 'cat'`)]],
  ['use an external id twice', TAKEN, () => [newSubject(', external_id', `, 'canary'`)]],
  ['change an earlier state', KEPT, () => [`update app.subject_version set name = 'x'`]],
  ['remove an earlier state', NOT_GRANTED, () => ['delete from app.subject_version']],
  [
    'invent an earlier state',
    KEPT,
    () => [
      `insert into app.subject_version select tenant_id, subject_id, 99, subject_type, external_id, 'x', segment, attributes, state,
         offboarded_at, offboard_reason, recorded_from, recorded_until, changed_by from app.subject_version limit 1`,
    ],
  ],
  ['change a rating', NOT_GRANTED, () => [`update app.rating set band = 'low'`]],
  ['remove a rating', NOT_GRANTED, () => ['delete from app.rating']],
  ['rate the subject of another tenant', MISSING, () => [newRating({ of: foreign })]],
  [
    'rate a subject that is being erased, in one statement with another',
    ERASED,
    () => [
      `insert into app.rating (tenant_id, rating_id, subject_id, cause, matrix_key, matrix_version, score_bps, band, valid_at, recorded_at,
         actor) select tenant_id, gen_random_uuid(), subject_id, 'evaluation', 'm', 1, 1, 'low', now(), now(), 'user:x' from app.subject`,
    ],
  ],
  ['rate for later', CHECK, () => [newRating({ valid_at: `now() + interval '1 hour'` })]],
  ['rate without a band', CHECK, () => [newRating({ band: 'null' })]],
  ['rate without a matrix', CHECK, () => [newRating({ matrix: 'null, null, null' })]],
  ['rate with an end', CHECK, () => [newRating({ expires_at: `now() + interval '1 day'` })]],
  ['override without a reason', CHECK, () => [newOverride({ reason: 'null' })]],
  ['override without an end', CHECK, () => [newOverride({ expires_at: 'null' })]],
  ['override for more than 400 days', CHECK, () => [newOverride({ expires_at: `now() + interval '9601 hours'` })]],
  ['override in the past', CHECK, () => [newOverride({ expires_at: `now() - interval '1 s'` })]],
  ['change the current rating', KEPT, () => [`update app.subject_risk set rated_band = 'low'`]],
  [
    'insert a current rating',
    KEPT,
    () => [`insert into app.subject_risk (tenant_id, subject_id) values ('${tenant}', gen_random_uuid())`],
  ],
  ['delete the current rating', NOT_GRANTED, () => ['delete from app.subject_risk']],
  [
    'find the subject of another tenant',
    MISSING,
    () => [`insert into app.subject_word (tenant_id, word, subject_id) values ('${tenant}', 'x', '${foreign}')`],
  ],
]

describe('the database refuses to', () => {
  test.each(attempts)('%s', async (_title, refused_with, statements) => {
    expect(await attempt(...statements())).toBe(refused_with)
  })

  test('take what contradicts its source from a trigger of the writer', async () => {
    const invented = `insert into app.subject_version (tenant_id, subject_id, revision, subject_type, name, attributes, state, recorded_from, recorded_until, changed_by)
      select tenant_id, subject_id, revision, subject_type, 'x', attributes, state, updated_at, clock_timestamp(), updated_by
        from app.subject where subject_id = '${subject}'`
    for (const statement of [
      invented,
      invented.replace('select tenant_id, subject_id, revision,', 'select tenant_id, subject_id, 99,'),
    ])
      expect([statement, await attempt(...toForgery(statement))]).toEqual([statement, KEPT])
  })

  test('accepts valid statements of the same form', async () => {
    expect(await attempt(newSubject(), newRating(), newOverride({}))).toBe(1)
    expect(await attempt(`update app.subject set name = 'canary two' where external_id = 'canary'`)).toBe(1)
  })
})

describe('the database records', () => {
  test('who created and changed a subject and when, whatever the statement says', async () => {
    const row = await inside(tenant, async (tx) => {
      await tx.run(newSubject(', external_id, created_at, revision', `, 'claimed', '2001-01-01', 77`))
      await tx.run(`update app.subject set name = 'y', revision = 77, updated_by = 'user:x', updated_at = '2001-01-01'
        where external_id = 'claimed'`)
      return tx.find<Record<string, unknown>>(
        `select revision, created_by, updated_by, created_at > now() - interval '1 minute' as fresh, updated_at > created_at as later
           from app.subject where external_id = 'claimed'`,
      )
    })
    const own = { created_by: 'operator:test', updated_by: 'operator:test' }
    expect(row).toEqual({ revision: 2, ...own, fresh: true, later: true })
  })

  test('who rated and when', async () => {
    const row = await inside(tenant, async (tx) => {
      await tx.run(newRating({ band: `'claimed'` }))
      return tx.find<Record<string, unknown>>(
        `select actor, recorded_at > now() - interval '1 minute' as fresh from app.rating where band = 'claimed'`,
      )
    })
    expect(row).toEqual({ actor: 'operator:test', fresh: true })
  })

  test('every earlier version without gap or overlap, even of changes in one transaction', async () => {
    const rows = await inside(tenant, async (tx) => {
      await tx.run(newSubject(', external_id', `, 'thrice'`))
      for (const name of ['a', 'b', 'c']) {
        await tx.run(`update app.subject set name = '${name}' where external_id = 'thrice'`)
      }
      return tx.query<{ revision: number; name: string; joins: boolean }>(
        `select v.revision, v.name, v.recorded_until = lead(v.recorded_from, 1, s.updated_at) over (order by v.revision) as joins
           from app.subject_version v join app.subject s using (tenant_id, subject_id) where s.external_id = 'thrice' order by 1`,
      )
    })
    expect(rows).toEqual([
      { revision: 1, name: 'x', joins: true },
      { revision: 2, name: 'a', joins: true },
      { revision: 3, name: 'b', joins: true },
    ])
  })

  test('versions in the order of the changes, although the later transaction began first', async () => {
    await inside(tenant, (tx) => tx.run(newSubject(', external_id', `, 'late'`)))
    const change = (name: string) => `update app.subject set name = '${name}' where external_id = 'late'`
    await inside(tenant, async (early) => {
      // now() of this transaction is fixed from here on.
      await early.find('select now()')
      await inside(tenant, (tx) => tx.run(change('first')))
      await early.run(change('second'))
    })
    const rows = await inside(tenant, (tx) =>
      tx.query<{ name: string }>(
        `select v.name from app.subject_version v join app.subject s using (tenant_id, subject_id)
          where s.external_id = 'late' order by v.recorded_from`,
      ),
    )
    expect(rows.map(({ name }) => name)).toEqual(['x', 'first'])
  })
})
