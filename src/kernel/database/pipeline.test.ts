/** Pipelined batches against a real server: which prepared statements are reused between batches, and which are discarded after a failure. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cloneDatabase } from '#test/support/test-app.ts'
import { type Statement, StatementBatch, sendBatch, sendPipeline } from './pipeline.ts'
import { wireTypes } from './wire-types.ts'

let clone: Awaited<ReturnType<typeof cloneDatabase>>
let client: pg.Client
/** Messages of the server since the connection was made, by name. */
let heard: string[]

beforeAll(async () => {
  clone = await cloneDatabase()
})
afterAll(() => clone.drop())

beforeEach(async () => {
  client = new pg.Client({ ...clone.postgres, types: wireTypes })
  await client.connect()
  heard = []
  const connection = (client as unknown as { connection: NodeJS.EventEmitter }).connection
  for (const name of ['rowDescription', 'parseComplete']) connection.on(name, () => heard.push(name))
  return () => client.end()
})

const statement = (text: string, ...values: unknown[]): Statement => ({ text, values })
const rowsOf = async (text: string, ...values: unknown[]) =>
  (await sendBatch(client, [statement(text, ...values)], true))[0]?.rows

describe('a named statement', () => {
  test('is parsed and described once, and gives the same rows ever after', async () => {
    const rows = () =>
      rowsOf('select $1::bigint as number, $2::text as word, now() > $3::timestamptz as late', 7, null, '2020-01-01')
    const first = await rows()
    expect(first).toEqual([{ number: 7, word: null, late: true }])
    expect(await rows()).toEqual(first)
    expect(await rows()).toEqual(first)
    expect(heard).toEqual(['parseComplete', 'rowDescription'])
  })

  test('keeps its own columns beside others in the same batch', async () => {
    const batch = [statement('select 1 as one'), statement('select 2 as two, 3 as three'), statement('select 1 as one')]
    for (let round = 0; round < 2; round++) {
      const results = await sendBatch(client, batch, true)
      expect(results.map(({ rows }) => rows)).toEqual([[{ one: 1 }], [{ two: 2, three: 3 }], [{ one: 1 }]])
    }
  })

  test('counts what it changed and gives no rows where there are none', async () => {
    await sendBatch(client, [statement('create temporary table thing (id bigint)')], true)
    const insert = [statement('insert into pg_temp.thing select generate_series(1, $1)', 3)]
    for (let round = 0; round < 2; round++) {
      expect(await sendBatch(client, insert, true)).toEqual([{ rows: [], command: 'INSERT', count: 3 }])
    }
  })

  test('is prepared again when its columns have changed, after one failure', async () => {
    await sendBatch(client, [statement('create temporary table thing as select 1::bigint as value')], true)
    expect(await rowsOf('select value from pg_temp.thing')).toEqual([{ value: 1 }])
    await sendBatch(client, [statement('alter table pg_temp.thing alter value type text')], true)
    await expect(rowsOf('select value from pg_temp.thing')).rejects.toMatchObject({ code: '0A000' })
    expect(await rowsOf('select value from pg_temp.thing')).toEqual([{ value: '1' }])
  })

  test('is discarded when its batch failed before or after it', async () => {
    const good = statement('select 5 as five')
    await expect(sendBatch(client, [statement('select nothing'), good], true)).rejects.toMatchObject({ code: '42703' })
    expect((await sendBatch(client, [good], true))[0]?.rows).toEqual([{ five: 5 }])
    const other = statement('select 6 as six')
    await expect(sendBatch(client, [other, statement('select 1 / $1::int', 0)], true)).rejects.toMatchObject({
      code: '22012',
    })
    expect((await sendBatch(client, [other], true))[0]?.rows).toEqual([{ six: 6 }])
  })
})

test('a value that cannot be sent fails its batch and leaves the connection usable', async () => {
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  await expect(rowsOf('select $1::jsonb as value', cyclic)).rejects.toThrow()
  expect(await rowsOf('select $1::jsonb as value', { fine: true })).toEqual([{ value: { fine: true } }])
})

test('without names no statement is prepared', async () => {
  for (let round = 0; round < 2; round++) {
    expect((await sendBatch(client, [statement('select 1 as one')], false))[0]?.rows).toEqual([{ one: 1 }])
  }
  expect(heard).toEqual(['parseComplete', 'rowDescription', 'parseComplete', 'rowDescription'])
  expect((await client.query('select count(*) from pg_prepared_statements')).rows).toEqual([{ count: 0 }])
})

describe('several batches together', () => {
  const set = (value: string) => statement(`select set_config('app.tenant_id', $1, true)`, value)
  const ask = statement(`select coalesce(current_setting('app.tenant_id', true), '') as setting`)
  const settingOf = (batch: StatementBatch) => batch.done.then((results) => results.at(-1)?.rows[0]?.['setting'])

  function together(...batches: (readonly Statement[])[]) {
    const made = batches.map((statements) => new StatementBatch(statements, true))
    const ended = new Promise<readonly Error[]>((resolve) => sendPipeline(client, made, 20_000, resolve))
    return { made, ended }
  }

  test('leave in one write, and each is a transaction with a setting of its own', async () => {
    const { stream } = (client as unknown as { connection: { stream: NodeJS.WritableStream } }).connection
    const write = stream.write.bind(stream) as (bytes: Uint8Array) => boolean
    let writes = 0
    stream.write = ((bytes: Uint8Array) => {
      writes++
      return write(bytes)
    }) as never
    const { made, ended } = together([set('one'), ask], [ask], [set('three'), ask])
    expect(await Promise.all(made.map(settingOf))).toEqual(['one', '', 'three'])
    expect(await ended).toEqual([])
    expect(writes).toBe(1)
  })

  test('fail alone, and what one did not prepare the next prepares for itself', async () => {
    const question = statement('select 7 as seven')
    const { made, ended } = together([statement('select 1 / $1::int', 0), question], [question], [set('x'), ask])
    const [first, second, third] = made as [StatementBatch, StatementBatch, StatementBatch]
    await expect(first.done).rejects.toMatchObject({ code: '22012' })
    expect((await second.done)[0]?.rows).toEqual([{ seven: 7 }])
    expect(await settingOf(third)).toBe('x')
    expect((await ended).map((error) => (error as { code?: string }).code)).toEqual(['22012'])
    expect((await sendBatch(client, [question], true))[0]?.rows).toEqual([{ seven: 7 }])
  })

  test('that fail last leave the connection to whoever comes next', async () => {
    const { made } = together([ask], [statement('select 1 / $1::int', 0)])
    expect(await settingOf(made[0] as StatementBatch)).toBe('')
    await expect((made[1] as StatementBatch).done).rejects.toMatchObject({ code: '22012' })
    expect((await sendBatch(client, [statement('select 1 as one')], true))[0]?.rows).toEqual([{ one: 1 }])
  })

  test('all fail when the connection is lost under them, those that had landed excepted', async () => {
    client.on('error', () => {})
    const end = statement('select pg_terminate_backend(pg_backend_pid())')
    const { made, ended } = together([ask], [end], [ask], [ask])
    const outcomes = await Promise.allSettled(made.map(settingOf))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
    expect(await ended).toHaveLength(3)
  })

  test('are not waited for without end', async () => {
    client.on('error', () => {})
    const slow = new StatementBatch([statement('select pg_sleep(30)')], true)
    const behind = new StatementBatch([ask], true)
    sendPipeline(client, [slow, behind], 300)
    await expect(slow.done).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    await expect(behind.done).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    ;(client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
  })
})
