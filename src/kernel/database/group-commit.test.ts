/** Writes of one principal share commits, and each caller learns what became of its own. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { recordEvent } from '../audit/record.ts'
import { type DeferredWrite, GroupCommit } from './group-commit.ts'
import { fullScope } from './scope.ts'
import type { Transactions } from './tx.ts'

let w: TestApp
beforeAll(async () => {
  w = await startTestApp()
})
afterAll(() => w.close())

const createScope = async () => fullScope(await w.makeTenant(), 'operator:test')
type TestScope = Awaited<ReturnType<typeof createScope>>

const record =
  (operation: string): DeferredWrite =>
  (tx) =>
    void recordEvent(tx, w.kernel.auditKeys, {
      operation,
      object_type: 'test',
      object_id: tx.tenant_id,
      restriction_id: null,
      request_id: null,
      detail: {},
    })

const listOperations = async (scope: TestScope): Promise<string[]> =>
  (
    await w.runtime.database.one(scope, (tx) =>
      tx.query<{ operation: string }>(
        `select operation from app.audit_event where tenant_id = $1 and object_type = 'test' order by event_id`,
        [tx.tenant_id],
      ),
    )
  ).map(({ operation }) => operation)

test('writes that arrive during a commit share the next one, and none is lost', async () => {
  const scope = await createScope()
  let commits = 0
  const write: Transactions['write'] = (given, body) => {
    commits++
    return w.runtime.database.write(given, body)
  }
  const group = new GroupCommit({ write })
  const operations = Array.from({ length: 100 }, (_, number) => `write${String(number).padStart(2, '0')}`)
  await Promise.all(operations.map((operation) => group.write(scope, record(operation))))
  expect((await listOperations(scope)).toSorted()).toEqual(operations)
  // The first, and the others up to 64 at a time.
  expect(commits).toBe(3)
  await group.write(scope, record('later'))
  expect(await listOperations(scope)).toHaveLength(101)
})

test('a write that the database refuses fails alone', async () => {
  const scope = await createScope()
  const group = new GroupCommit(w.runtime.database)
  const refused: DeferredWrite = (tx) => tx.defer('insert into app.audit_event (tenant_id) values ($1)', [tx.tenant_id])
  const outcomes = await Promise.allSettled(
    [record('one'), record('two'), refused, record('three')].map((write) => group.write(scope, write)),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect((await listOperations(scope)).toSorted()).toEqual(['one', 'three', 'two'])
})

test('principals and tenants do not share a commit', async () => {
  const [scope, other] = [await createScope(), await createScope()]
  const group = new GroupCommit(w.runtime.database)
  await Promise.all([scope, other, scope, other].map((each, number) => group.write(each, record(`write${number}`))))
  expect((await listOperations(scope)).toSorted()).toEqual(['write0', 'write2'])
  expect((await listOperations(other)).toSorted()).toEqual(['write1', 'write3'])
})
