/**
 * What may happen to a tenant's transaction on a shared connection: it works, it fails, the failure is swallowed, it is
 * cancelled, its backend dies, its handle outlives it. Each turn checks what it sees; the pool suite deals them at random.
 */
import type pg from 'pg'
import { expect } from 'vitest'
import type { Database, Scope, Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'

const INSERT_SQL = `insert into app.user_account (tenant_id, user_id, issuer, subject, name, origin, state, created_by)
  values ($1, $2, 'pool', $3, 'pool', 'external', 'active', 'user:pool')`
function newUserParams(tx: Tx): string[] {
  const id = uuidv7()
  return [tx.tenant_id, id, id]
}

export const insertUser = (tx: Tx): Promise<number> => tx.run(INSERT_SQL, newUserParams(tx))

/** Travels with COMMIT. */
const deferUserInsert = (tx: Tx): void => tx.defer(INSERT_SQL, newUserParams(tx))

/** Without any condition: only the isolation policy decides what comes back. */
export const selectAllUsers = (tx: Tx) => tx.query<{ tenant_id: string }>('select tenant_id from app.user_account')

/** As soon as the backend is asleep inside a statement of its own. */
async function signalSleepingBackend(
  admin: pg.Client,
  pid: number,
  strike: 'pg_cancel_backend' | 'pg_terminate_backend',
): Promise<void> {
  for (;;) {
    const struck = await admin.query(
      `select ${strike}(pid) from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'`,
      [pid],
    )
    if (struck.rowCount) return
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

async function terminateIdleBackend(admin: pg.Client, pid: number): Promise<void> {
  await admin.query('select pg_terminate_backend($1)', [pid])
  for (;;) {
    if ((await admin.query('select 1 from pg_stat_activity where pid = $1', [pid])).rowCount === 0) return
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

const getBackendPid = async (tx: Tx): Promise<number> =>
  (await tx.find<{ pid: number }>('select pg_backend_pid() as pid'))?.pid as number

const expectProblem = (code: string) => (error: unknown) => {
  expect(error).toBeInstanceOf(Problem)
  expect((error as Problem).code).toBe(code)
}
/** The promise must fail, and with this. */
export const expectFailure = (promise: Promise<unknown>, judge: (error: unknown) => void = () => {}) =>
  promise.then(() => expect.unreachable('committed'), judge)

export interface PoolOperation {
  readonly name: string
  readonly weight: number
  /** How many rows it leaves behind. */
  readonly commits: 0 | 1
  readonly play: (database: Database, scope: Scope, admin: pg.Client) => Promise<void>
}

const expectEnded = (error: unknown) => expect(String(error)).toContain('after it ended')
export const expectOwnRows = (rows: readonly { tenant_id: string }[], scope: Scope) => {
  for (const { tenant_id } of rows) expect(tenant_id).toBe(scope.tenant_id)
}

export const poolOperations: readonly PoolOperation[] = [
  {
    name: 'one query',
    weight: 25,
    commits: 0,
    play: async (database, scope) => expectOwnRows(await database.one(scope, selectAllUsers), scope),
  },
  {
    name: 'several queries',
    weight: 25,
    commits: 0,
    play: (database, scope) =>
      database.read(scope, async (tx) => {
        expectOwnRows(await selectAllUsers(tx), scope)
        await new Promise((resolve) => setImmediate(resolve))
        expectOwnRows(await selectAllUsers(tx), scope)
      }),
  },
  {
    name: 'a write',
    weight: 15,
    commits: 1,
    play: (database, scope) =>
      database.write(scope, async (tx) => {
        await insertUser(tx)
        expectOwnRows(await selectAllUsers(tx), scope)
      }),
  },
  {
    name: 'a write nobody waited for',
    weight: 4,
    commits: 1,
    play: (database, scope) =>
      database.write(scope, async (tx) => {
        void insertUser(tx)
      }),
  },
  {
    name: 'a write sent with the commit',
    weight: 4,
    commits: 1,
    play: (database, scope) => database.write(scope, async (tx) => deferUserInsert(tx)),
  },
  {
    name: 'a write sent with the commit that fails',
    weight: 3,
    commits: 0,
    play: (database, scope) =>
      expectFailure(
        database.write(scope, async (tx) => {
          await insertUser(tx)
          tx.defer('select 1 / 0', [])
          deferUserInsert(tx)
        }),
        (error) => expect((error as { code: string }).code).toBe('22012'),
      ),
  },
  {
    name: 'a failure that is swallowed before a write sent with the commit',
    weight: 3,
    commits: 0,
    play: (database, scope) =>
      expectFailure(
        database.write(scope, async (tx) => {
          await insertUser(tx)
          await tx.query('select 1 / 0').catch(() => {})
          deferUserInsert(tx)
        }),
      ),
  },
  {
    name: 'a statement that fails',
    weight: 5,
    commits: 0,
    play: (database, scope) =>
      expectFailure(
        database.write(scope, async (tx) => {
          await insertUser(tx)
          await tx.query('select 1 / 0')
        }),
        (error) => expect((error as { code: string }).code).toBe('22012'),
      ),
  },
  {
    name: 'a first statement that fails',
    weight: 4,
    commits: 0,
    play: (database, scope) => expectFailure(database.write(scope, (tx) => tx.query('select nothing from nowhere'))),
  },
  {
    name: 'a value that cannot be sent',
    weight: 3,
    commits: 0,
    play: (database, scope) => {
      const cyclic: Record<string, unknown> = {}
      cyclic['self'] = cyclic
      return expectFailure(
        database.write(scope, async (tx) => {
          await insertUser(tx)
          await tx.query('select $1::jsonb', [cyclic])
        }),
      )
    },
  },
  {
    name: 'a failure that is swallowed',
    weight: 5,
    commits: 0,
    play: (database, scope) =>
      expectFailure(
        database.write(scope, async (tx) => {
          await insertUser(tx)
          await tx.query('select 1 / 0').catch(() => {})
        }),
        (error) => expect(String(error)).toContain('swallowed'),
      ),
  },
  {
    name: 'an error after a query',
    weight: 5,
    commits: 0,
    play: (database, scope) =>
      expectFailure(
        database.write(scope, async (tx) => {
          await insertUser(tx)
          throw new Error('mine')
        }),
        (error) => expect(String(error)).toBe('Error: mine'),
      ),
  },
  {
    name: 'a cancelled statement',
    weight: 2,
    commits: 0,
    play: (database, scope, admin) =>
      expectFailure(
        database.write(scope, async (tx) => {
          await insertUser(tx)
          const pid = await getBackendPid(tx)
          await Promise.all([tx.query('select pg_sleep(60)'), signalSleepingBackend(admin, pid, 'pg_cancel_backend')])
        }),
        expectProblem('overloaded'),
      ),
  },
  {
    name: 'a cancelled statement that is swallowed',
    weight: 2,
    commits: 0,
    play: (database, scope, admin) =>
      expectFailure(
        database.write(scope, async (tx) => {
          await insertUser(tx)
          const pid = await getBackendPid(tx)
          await Promise.allSettled([
            tx.query('select pg_sleep(60)'),
            signalSleepingBackend(admin, pid, 'pg_cancel_backend'),
          ])
        }),
      ),
  },
  {
    name: 'a backend killed at work',
    weight: 2,
    commits: 0,
    play: (database, scope, admin) =>
      expectFailure(
        database.write(scope, async (tx) => {
          await insertUser(tx)
          const pid = await getBackendPid(tx)
          await Promise.all([
            tx.query('select pg_sleep(60)'),
            signalSleepingBackend(admin, pid, 'pg_terminate_backend'),
          ])
        }),
        expectProblem('dependency_unavailable'),
      ),
  },
  {
    name: 'a backend killed between two queries',
    weight: 2,
    commits: 0,
    play: (database, scope, admin) =>
      expectFailure(
        database.write(scope, async (tx) => {
          await insertUser(tx)
          await terminateIdleBackend(admin, await getBackendPid(tx))
        }),
        expectProblem('dependency_unavailable'),
      ),
  },
  {
    name: 'a handle that outlived its transaction',
    weight: 4,
    commits: 1,
    play: async (database, scope) => {
      const handles = await Promise.all([
        database.write(scope, async (tx) => {
          await insertUser(tx)
          return tx
        }),
        database.read(scope, async (tx) => tx),
        database.one(scope, async (tx) => tx),
      ])
      for (const tx of handles) {
        await expectFailure(selectAllUsers(tx), expectEnded)
        await expectFailure(insertUser(tx), expectEnded)
        expect(() => deferUserInsert(tx)).toThrow()
      }
    },
  },
  {
    name: 'a write where only reading was declared',
    weight: 4,
    commits: 0,
    play: async (database, scope) => {
      const readOnly = (error: unknown) => expect((error as { code: string }).code).toBe('25006')
      await expectFailure(database.one(scope, insertUser), readOnly)
      await expectFailure(database.read(scope, insertUser), readOnly)
    },
  },
]
