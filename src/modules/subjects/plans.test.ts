/** Query plans of searching ten thousand subjects of one tenant among others: every search uses indexes and reads few rows. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { insertOverride, insertRatings, listRatings } from './ratings/queries.ts'
import {
  findSubject,
  insertSubjects,
  listSubjectEvents,
  listSubjects,
  listSubjectsAfter,
  listSubjectVersions,
  lockByExternalId,
  type SubjectFilter,
  updateSubjects,
} from './records/queries.ts'
import { listSubjectsByExternalId, listSubjectsByWords, listSubjectsInRange } from './search/queries.ts'

const SUBJECTS = 10_000
const STEP = 1000
let w: TestApp
let tenant: string
let ids: string[]

const inside = <T>(tenant_id: string, body: (tx: Tx) => Promise<T>) =>
  w.runtime.database.write(fullScope(tenant_id, 'operator:test'), body)

/** One in a hundred is rare: another type, an odd name, a high band, a small segment. */
const isRare = (n: number): boolean => n % 100 === 7

async function fill(tenant_id: string, count: number): Promise<string[]> {
  const made: string[] = []
  for (let from = 0; from < count; from += STEP) {
    const numbers = Array.from({ length: Math.min(STEP, count - from) }, (_, i) => from + i)
    const subjects = numbers.map((n) => ({
      subject_id: uuidv7(),
      subject_type: isRare(n) ? 'other' : 'person',
      external_id: `customer-${n}`,
      name: isRare(n) ? `Rarissima Family${n}` : `Anna Family${n}`,
      segment: isRare(n) ? 'private' : 'retail',
      attributes: { n },
    }))
    await inside(tenant_id, async (tx) => {
      await insertSubjects(tx, subjects)
      await updateSubjects(
        tx,
        subjects.map((subject) => ({ ...subject, attributes: { n: 0 } })),
      )
      await insertRatings(
        tx,
        subjects.map(({ subject_id, subject_type }) => ({
          rating_id: uuidv7(),
          subject_id,
          cause: 'batch' as const,
          matrix_key: 'customer-risk',
          matrix_version: 1,
          band: subject_type === 'other' ? 'high' : 'low',
          score_bps: 0,
        })),
      )
    })
    made.push(...subjects.map(({ subject_id }) => subject_id))
  }
  return made
}

beforeAll(async () => {
  w = await startTestApp()
  tenant = await w.makeTenant()
  ids = await fill(tenant, SUBJECTS)
  for (let n = 0; n < 3; n++) await fill(await w.makeTenant(), STEP)
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  await inside(tenant, async (tx) => {
    const about = { subject_id: ids[5] as string, band: 'prohibited', reason: 'x', expires_at }
    await insertOverride(tx, { rating_id: uuidv7(), ...about })
    await tx.run(
      `update app.subject set state = 'offboarded', offboarded_at = now() where tenant_id = $1 and subject_id = $2`,
      [tenant, ids[6]],
    )
  })
  const superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  await superuser.query('analyze')
  await superuser.end()
}, 60_000)
afterAll(() => w.close())

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Node[]
}
const listNodes = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(listNodes)]

/** The plan of the statement that a query sends, as role `app` under row-level security. */
const explain = (ask: (tx: Tx) => Promise<unknown>): Promise<Node[]> =>
  inside(tenant, async (tx) => {
    let plan: Node | undefined
    const query = async (text: string, values: readonly unknown[] = []) => {
      const [row] = await tx.query<{ 'QUERY PLAN': { Plan: Node }[] }>(`explain (analyze, format json) ${text}`, values)
      plan = row?.['QUERY PLAN'][0]?.Plan
      return []
    }
    await ask({
      ...tx,
      query,
      find: async (text: string, values: readonly unknown[] = []) => (await query(text, values))[0],
    } as Tx)
    return listNodes(plan as Node)
  })

/** Rows read from tables, including those that were filtered out. */
const countReadRows = (nodes: readonly Node[]): number =>
  nodes
    .filter((node) => node['Relation Name'] !== undefined)
    .reduce(
      (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    )

const PAGE = 51

/** Of tables that have more than a page of rows: any plan reads a smaller one whole. */
const listScans = (nodes: readonly Node[]): (string | undefined)[] =>
  nodes
    .filter((node) => node['Node Type'] === 'Seq Scan')
    .filter((node) => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) > PAGE)
    .map((node) => node['Relation Name'])

/** Names with a word of a search are counted up to this. */
const COUNTED = 201
const searches: readonly [title: string, filter: SubjectFilter, most: number][] = [
  ['without a filter', {}, 3 * PAGE],
  ['by a rare name', { name: 'rarissima' }, 800],
  ['by a whole name', { name: 'anna family4711' }, 200],
  ['by a name nobody has', { name: 'nobody' }, 10],
  ['by external id', { external_id: 'customer-4711' }, 10],
  ['by a rare type', { subject_type: 'other' }, 3 * PAGE],
  ['by a rare segment', { segment: 'private' }, 3 * PAGE],
  ['by a rare state', { state: 'offboarded' }, 10],
  ['by a common band', { band: 'low' }, 5 * PAGE],
  ['by a rare band', { band: 'high' }, 600],
  ['by the band of an override', { band: 'prohibited' }, 10],
  ['by type, state and band', { subject_type: 'other', state: 'active', band: 'high' }, 800],
]

describe('a page of subjects', () => {
  test.each(searches)('%s', async (_title, filter, most) => {
    for (const after of [null, ids[SUBJECTS / 2] as string]) {
      for (const ask of [
        (tx: Tx) => listSubjects(tx, filter, after === null ? null : [after], PAGE),
        (tx: Tx) => listSubjectsAfter(tx, filter, after, PAGE),
      ]) {
        const nodes = await explain(ask)
        expect(listScans(nodes)).toEqual([])
        expect(countReadRows(nodes)).toBeLessThanOrEqual(most)
      }
    }
  })

  test('the check fails on a plan that reads too much', async () => {
    const nodes = await explain((tx) =>
      tx.query('select * from app.subject where tenant_id = $1 and lower(name) like $2', [tx.tenant_id, '%rarissima%']),
    )
    expect(countReadRows(nodes)).toBeGreaterThanOrEqual(SUBJECTS)
    const scanned = await explain((tx) => tx.query('select * from app.subject where name <> $1', ['nobody']))
    expect(listScans(scanned)).toEqual(['subject'])
  })
})

test.each<[string, number, (tx: Tx) => Promise<unknown>]>([
  ['one subject', 1, (tx) => findSubject(tx, ids[1] as string)],
  ['many by external id', 20, (tx) => lockByExternalId(tx, ['customer-1', 'customer-2', 'no'])],
  ['its versions', 5, (tx) => listSubjectVersions(tx, { subject_id: ids[6] as string, at: null }, null, PAGE)],
  ['its timeline', 10, (tx) => listSubjectEvents(tx, ids[6] as string, null, PAGE)],
  [
    'searching a word that nearly all have',
    3 * PAGE,
    (tx) => listSubjectsByWords(tx, { prefixes: ['anna'], max_candidates: 200, count: 50 }),
  ],
  [
    'searching a rare and a common word',
    10 + COUNTED,
    (tx) => listSubjectsByWords(tx, { prefixes: ['anna', 'family4711'], max_candidates: COUNTED - 1, count: 50 }),
  ],
  [
    'searching two common words',
    2 * COUNTED + 4 * PAGE,
    (tx) => listSubjectsByWords(tx, { prefixes: ['anna', 'family'], max_candidates: COUNTED - 1, count: 50 }),
  ],
  [
    'searching the beginning of external ids',
    40,
    (tx) => listSubjectsByExternalId(tx, ['customer-4', 'CUSTOMER-4'], 6),
  ],
  [
    'searching the beginning of ids',
    30,
    (tx) => listSubjectsInRange(tx, { from: ids[0] as string, to: ids[SUBJECTS - 1] as string }, 6),
  ],
  ['its ratings', 5, (tx) => listRatings(tx, ids[6] as string, null, PAGE)],
])('%s', async (_title, most, ask) => {
  const nodes = await explain(ask)
  expect(listScans(nodes)).toEqual([])
  expect(countReadRows(nodes)).toBeLessThanOrEqual(most)
})
