/** Flights against a real server: what is remembered of a statement between flights, and what is forgotten after a failure. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cloneDatabase } from '../../../test/support/world.ts'
import { fly, type Statement } from './flight.ts'
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
  (await fly(client, [statement(text, ...values)], true))[0]?.rows

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

  test('keeps its own columns beside others in the same flight', async () => {
    const flight = [
      statement('select 1 as one'),
      statement('select 2 as two, 3 as three'),
      statement('select 1 as one'),
    ]
    for (let round = 0; round < 2; round++) {
      const results = await fly(client, flight, true)
      expect(results.map(({ rows }) => rows)).toEqual([[{ one: 1 }], [{ two: 2, three: 3 }], [{ one: 1 }]])
    }
  })

  test('counts what it changed and gives no rows where there are none', async () => {
    await fly(client, [statement('create temporary table thing (id bigint)')], true)
    const insert = [statement('insert into pg_temp.thing select generate_series(1, $1)', 3)]
    for (let round = 0; round < 2; round++) {
      expect(await fly(client, insert, true)).toEqual([{ rows: [], command: 'INSERT', count: 3 }])
    }
  })

  test('is prepared again when its columns have changed, after one failure', async () => {
    await fly(client, [statement('create temporary table thing as select 1::bigint as value')], true)
    expect(await rowsOf('select value from pg_temp.thing')).toEqual([{ value: 1 }])
    await fly(client, [statement('alter table pg_temp.thing alter value type text')], true)
    await expect(rowsOf('select value from pg_temp.thing')).rejects.toMatchObject({ code: '0A000' })
    expect(await rowsOf('select value from pg_temp.thing')).toEqual([{ value: '1' }])
  })

  test('is forgotten when its flight failed before or after it', async () => {
    const good = statement('select 5 as five')
    await expect(fly(client, [statement('select nothing'), good], true)).rejects.toMatchObject({ code: '42703' })
    expect((await fly(client, [good], true))[0]?.rows).toEqual([{ five: 5 }])
    const other = statement('select 6 as six')
    await expect(fly(client, [other, statement('select 1 / $1::int', 0)], true)).rejects.toMatchObject({
      code: '22012',
    })
    expect((await fly(client, [other], true))[0]?.rows).toEqual([{ six: 6 }])
  })
})

test('a value that cannot be sent fails its flight and leaves the connection usable', async () => {
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  await expect(rowsOf('select $1::jsonb as value', cyclic)).rejects.toThrow()
  expect(await rowsOf('select $1::jsonb as value', { fine: true })).toEqual([{ value: { fine: true } }])
})

test('without names nothing is remembered', async () => {
  for (let round = 0; round < 2; round++) {
    expect((await fly(client, [statement('select 1 as one')], false))[0]?.rows).toEqual([{ one: 1 }])
  }
  expect(heard).toEqual(['parseComplete', 'rowDescription', 'parseComplete', 'rowDescription'])
  expect((await client.query('select count(*) from pg_prepared_statements')).rows).toEqual([{ count: 0 }])
})
