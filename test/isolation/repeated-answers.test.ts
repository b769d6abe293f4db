/**
 * The answer that is kept for an Idempotency-Key carries the restriction of every object that the request or the answer names, so that
 * it is hidden with each of them.
 */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roles as allRoles } from '#kernel/auth/roles.ts'
import type { Route } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import type { Example } from '../support/operation-fixture.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { connect, getExample, getRequestLine, tenantRoutes } from './support.ts'

let w: TestApp
let t: ExampleTenant
let superuser: pg.Client
let findRestrictions: string

/** Rows that are about the object and not the object itself. */
const isObject = (table: string): boolean => !/^(restriction_|audit_event|event$|mcp_call)/.test(table)

beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  superuser = await connect(w.clone.postgres)
  // Every uuid by which a table with restrictions knows its rows: its key, without the tenant.
  const { rows } = await superuser.query<{ name: string; key: string }>(
    `select c.relname::text as name, a.attname::text as key
       from pg_constraint p join pg_class c on c.oid = p.conrelid
       join pg_attribute a on a.attrelid = c.oid and a.attnum = any (p.conkey) and a.atttypid = 'uuid'::regtype and a.attname <> 'tenant_id'
      where p.contype = 'p' and c.relnamespace = 'app'::regnamespace
        and exists (select 1 from pg_attribute r where r.attrelid = c.oid and r.attname = 'restriction_id' and not r.attisdropped)`,
  )
  findRestrictions = rows
    .filter(({ name }) => isObject(name))
    .map(
      ({ name, key }) =>
        `select '${name}' as kind, restriction_id from app.${name} where tenant_id = $1 and ${key} = any ($2::uuid[]) and restriction_id is not null`,
    )
    .join(' union ')
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const listIds = (...texts: readonly unknown[]): string[] => [
  ...new Set(JSON.stringify(texts).match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g) ?? []),
]

/** The restrictions of what the request and its answer name, and those that the stored answer carries. */
async function repeat(route: Route, example: Example) {
  const token = await t.token(allRoles, example.principal ?? t.caller)
  const headers = { 'idempotency-key': `once-${route.id}` }
  const sent = example.bytes === undefined ? { body: example.body } : { payload: example.bytes }
  const type = example.bytes === undefined ? {} : { 'content-type': 'application/octet-stream' }
  const reply = await w.call(getRequestLine(route, example), { token, ...sent, headers: { ...headers, ...type } })
  const { rows: kept } = await superuser.query(
    `select array_remove(array[object_restriction_id, object_also_restriction_id] || object_named_restriction_ids, null) as carried
       from app.idempotency where tenant_id = $1 and operation = $2`,
    [t.tenant_id, route.id],
  )
  const { rows } = await superuser.query<{ kind: string; restriction_id: string }>(findRestrictions, [
    t.tenant_id,
    listIds(example.params, example.body, reply.json, reply.headers['location']),
  ])
  return { reply, carried: kept[0]?.carried as string[] | undefined, named: rows }
}

const namesIds = ({ params, body, reply }: Route): boolean =>
  JSON.stringify([params, body, reply[1]]).includes('"uuid"')
const posts = tenantRoutes.filter(
  (route) => route.method === 'POST' && (route.tx === 'write' || route.tx === 'self') && namesIds(route),
)

interface AnySchema {
  readonly type?: string
  readonly format?: string
  readonly items?: AnySchema
  readonly properties?: Readonly<Record<string, AnySchema>>
}

/** Members of a body that are lists of ids, or of objects with one. */
const listIdLists = ({ body }: Route): string[] =>
  Object.entries((body as AnySchema | undefined)?.properties ?? {})
    .filter(([, { type, items }]) => type === 'array' && JSON.stringify(items).includes('"uuid"'))
    .map(([name]) => name)

/** Lists of what has no restriction, and of what no answer names. */
const LISTS_WITHOUT_RESTRICTIONS: Readonly<Record<string, string>> = {
  'createEvaluation call_ids': 'The decision says what it rests on, without the calls.',
  'startEvaluation call_ids': 'The answer names the job.',
}

describe('an answer that is kept', () => {
  test('is tried with two objects wherever a request may name several', async () => {
    const single: string[] = []
    for (const route of posts)
      for (const list of listIdLists(route)) {
        const { body } = await getExample(route, t)
        if (((body as Record<string, unknown[]>)[list]?.length ?? 0) < 2) single.push(`${route.id} ${list}`)
      }
    expect(single.toSorted()).toEqual(Object.keys(LISTS_WITHOUT_RESTRICTIONS).toSorted())
  })

  test.for(posts)('of $id carries the restriction of all that it names', async (route) => {
    const { reply, carried, named } = await repeat(route, await getExample(route, t))
    expect([reply.status, reply.status < 300 || reply.json]).toEqual([reply.status, true])
    if (carried === undefined) return
    if (carried.length > 0) expect(route.problems).toContain('not_found')
    expect(named.filter(({ restriction_id }) => !carried.includes(restriction_id))).toEqual([])
  })
})

describe('a repeated request about several objects', () => {
  const officer = ['compliance_officer', 'analyst'] as const
  async function createTeam() {
    const team = await ExampleTenant.create(w)
    const [owner, outsider] = [await w.person(team.tenant_id, officer), await w.person(team.tenant_id, officer)]
    const report = () => ({ source: 'desk', dedup_key: uuidv7(), title: 'A payment', priority: 'low' })
    const newAlert = async (): Promise<string> => (await team.make('POST /alerts', { body: report() })).alert_id
    const { subject_id } = await team.make('POST /subjects', { body: { subject_type: 'person', name: 'Ada Lovelace' } })
    const { investigation_id } = await team.make('POST /investigations', {
      body: { subject_id, playbook_key: 'edd-person' },
    })
    const send = async (at: string, body: object) => {
      const reply = await w.call(at, { token: outsider.token, body, headers: { 'idempotency-key': at.slice(5) } })
      return { status: reply.status, text: reply.text }
    }
    const hide = async (path: string, body?: object) =>
      expect((await w.call(path, { token: owner.token, ...(body && { body }) })).status).toBe(200)
    const hideAlert = async (alert_id: string) => {
      const { restriction_id } = (await w.call(`GET /alerts/${alert_id}`, { token: owner.token })).json
      await hide(`POST /restrictions/${restriction_id}/impose`)
    }
    const hideCase = () => hide(`PUT /investigations/${investigation_id}/access`, { is_restricted: true, reason: 'x' })
    return { team, owner, outsider, newAlert, subject_id, investigation_id, send, hideAlert, hideCase }
  }

  test('is answered as for one that does not exist after one of them was restricted', async () => {
    const { outsider, newAlert, subject_id, investigation_id, send, hideAlert } = await createTeam()
    const alert_ids = [await newAlert(), await newAlert()]
    const items = alert_ids.map((object_id) => ({ object_kind: 'alert', object_id }))
    const requests: readonly (readonly [string, object])[] = [
      ['POST /alerts/bulk', { alert_ids, action: 'prioritise', priority: 'high' }],
      ['POST /work/reassign', { items, user_id: outsider.user_id, reason: 'On leave' }],
      [`POST /investigations/${investigation_id}/alerts`, { alert_ids }],
      ['POST /investigations', { subject_id, playbook_key: 'edd-person', alert_ids }],
    ]
    for (const [at, body] of requests) expect((await send(at, body)).status).toBeLessThan(300)
    for (const [at, body] of requests) expect((await send(at, body)).status).toBeLessThan(300)
    await hideAlert(alert_ids[1] as string)
    for (const [at, body] of requests) {
      const { status, text } = await send(at, body)
      expect([at, status]).toEqual([at, 404])
      for (const alert_id of alert_ids) expect(text).not.toContain(alert_id)
    }
  })

  test('is answered so where its answer names a case that was restricted', async () => {
    const { outsider, newAlert, investigation_id, send, hideCase } = await createTeam()
    const alert_id = await newAlert()
    await send(`POST /investigations/${investigation_id}/alerts`, { alert_ids: [alert_id] })
    const assign = () => send(`POST /alerts/${alert_id}/assign`, { user_id: outsider.user_id })
    expect((await assign()).text).toContain(investigation_id)
    await hideCase()
    expect((await w.call(`GET /alerts/${alert_id}`, { token: outsider.token })).status).toBe(200)
    expect((await assign()).status).toBe(404)
  })

  test('is made again after its answer has expired, whatever that was about', async () => {
    const { team, send } = await createTeam()
    const raise = () => send('POST /alerts', { source: 'desk', dedup_key: uuidv7(), title: 'One', priority: 'low' })
    expect((await raise()).status).toBe(201)
    await team.write((tx) =>
      tx.run(`update app.idempotency set expires_at = now() - interval '1 s' where tenant_id = $1`, [tx.tenant_id]),
    )
    expect((await raise()).status).toBe(201)
  })
})
