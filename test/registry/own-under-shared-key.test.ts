/** A tenant's own list, matrix or rule under the key of a shared one: both stay readable, and decisions read what they pinned. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDefinitionSeeds } from '#modules/risk-matrices/index.ts'
import { projectRoot } from '../support/database.ts'
import { SharedList } from '../support/shared-list.ts'
import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
beforeAll(async () => {
  w = await startTestApp()
})
afterAll(() => w.close())

const seeds = readDefinitionSeeds(`${projectRoot}/db/seed`)
const inputsOf = (key: string) => seeds.find((seed) => seed.key === key)?.cases[0]?.inputs as Record<string, unknown>

type Call = (at: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>
async function tenant(): Promise<Call> {
  const token = await w.token({ tenant_id: await w.makeTenant() })
  return (at, body, headers = {}) => w.call(at, { token, headers, ...(body !== undefined && { body }) })
}
/** Whose it is, by whichever name the answer says it. */
const ownerIn = ({ status, json }: Reply): string =>
  `${status} ${json.list_origin ?? json.matrix_origin ?? json.rule_origin ?? json.origin ?? json.code}`

const families = [
  { path: '/risk-matrices', param: 'matrix_key', word: 'matrix', key: 'customer-risk-person' },
  { path: '/rules', param: 'rule_key', word: 'rule', key: 'dormant-account' },
] as const

describe.each(families)('an own $word under a shared key', ({ path, param, word, key }) => {
  const at = `${path}/${key}`
  const inputs = inputsOf(key)
  let call: Call
  /** Decided before there was a draft. */
  let earlier: string
  let head: Reply
  let version: Reply
  /** Of the shared version in force; the tenant's own gets the same number later. */
  let number: number

  beforeAll(async () => {
    call = await tenant()
    head = await call(`GET ${at}`)
    number = head.json.active.version
    version = await call(`GET ${at}/versions/${number}`)
    earlier = (await call('POST /evaluations', { [param]: key, inputs })).json.evaluation_id
    expect((await call(`POST ${path}`, { [param]: key, title: 'Ours', from_key: key })).status).toBe(201)
  })

  test('keeps the shared definition readable while it is a draft', async () => {
    expect((await call(`GET ${at}`)).json).toEqual(head.json)
    expect((await call(`GET ${at}/versions/${number}`)).json).toEqual(version.json)
    expect((await call(`GET ${at}/versions`)).json.items).toHaveLength(number)
    expect((await call(`GET ${at}/diff?from=1&to=${number}`)).json.summary).not.toBeNull()
    expect((await call(`GET ${at}/test-cases`)).json.items.length).toBeGreaterThan(0)
    expect((await call(`GET ${at}/dependencies`)).json).toMatchObject({ origin: 'shared', version: number })
    expect((await call(`GET ${at}/coverage`)).json).toMatchObject({ origin: 'shared', version: number, decisions: 1 })
    expect((await call(`POST ${at}/versions/${number}/simulate`, { inputs })).json.decided).toBe(true)
    expect((await call(`POST ${at}/versions/${number}/test`, {})).json).toMatchObject({ failed: 0 })
    expect((await call(`POST ${at}/versions/${number}/validate`)).json.valid).toBe(true)
    if (word === 'rule') {
      const covered = (await call('GET /rules/typologies')).json.items.filter(
        ({ rules }: { rules: { rule_key: string }[] }) => rules.some(({ rule_key }) => rule_key === key),
      )
      expect(covered).toEqual([expect.objectContaining({ covered: true })])
    }
    const run = (await call(`POST ${at}/versions/${number}/backtest`, {})).json.resource.split('/').at(-1)
    expect((await call(`GET ${at}/backtests/${run}`)).json).toMatchObject({ origin: 'shared', version: number })
  })

  test('is found by origin, and its draft by key', async () => {
    expect((await call(`GET ${at}?origin=own`)).json).toMatchObject({ origin: 'own', active: null, title: 'Ours' })
    expect(ownerIn(await call(`GET ${at}/versions/draft`))).toBe('200 own')
    expect(ownerIn(await call(`GET ${at}/versions/draft?origin=shared`))).toBe('404 not_found')
    expect(ownerIn(await call(`GET ${at}/versions/${number}?origin=own`))).toBe('404 not_found')
    expect((await call(`GET ${at}/versions?origin=own`)).json.items).toEqual([])
    expect((await call(`GET ${at}/test-cases?origin=own`)).json.items).toEqual([])
    expect((await call(`GET ${at}/coverage?origin=own`)).json.code).toBe('nothing_in_force')
    expect((await call(`GET ${at}?origin=theirs`)).status).toBe(422)
  })

  test('refuses a change based on the shared revision', async () => {
    const { etag } = (await call(`GET ${at}`)).headers as { etag: string }
    expect((await call(`PATCH ${at}`, { title: 'Mine' }, { 'if-match': etag })).json.code).toBe('precondition_failed')
    const { etag: own } = (await call(`GET ${at}?origin=own`)).headers as { etag: string }
    expect(ownerIn(await call(`PATCH ${at}`, { title: 'Ours' }, { 'if-match': own }))).toBe('200 own')
  })

  test('is published beside the shared versions under its own address', async () => {
    const made = await call(`POST ${at}/versions/draft/publish`, { note: 'ours' })
    expect(ownerIn(made)).toBe('201 own')
    const place = String(made.headers['location'])
    expect((await call(`GET ${place}`)).json).toMatchObject({ origin: 'own', version: 1, note: 'ours' })
    expect(ownerIn(await call(`GET ${at}/versions/1`))).toBe('200 shared')
    const cursor = (await call(`GET ${at}/versions?limit=1`)).json.next_cursor
    expect((await call(`GET ${at}/versions?origin=own&cursor=${cursor}`)).status).toBe(404)
    const difference = await call(`GET ${at}/diff?from=${number}&from_origin=shared&to=1&origin=own`)
    expect(difference.json).toMatchObject({ from_origin: 'shared', to_origin: 'own', items: [] })
    const back = await call(`GET ${at}/diff?from=1&from_origin=own&to=1&origin=shared`)
    const within = await call(`GET ${at}/diff?from=${number}&to=1&origin=shared`)
    expect([back.json.items, back.json.summary]).toEqual([within.json.items, within.json.summary])
    expect(back.json.items.length).toBeGreaterThan(0)
  })

  test('a draft begun from the one in force is based on no version of its own', async () => {
    const made = await call(`POST ${at}/versions`, {})
    expect(made.json).toMatchObject({ origin: 'own', based_on: null, definition: version.json.definition })
    expect((await call(`POST ${at}/versions/draft/publish`, {})).json.version).toBe(2)
    for (let own = 3; own <= number; own++) {
      await call(`POST ${at}/versions`, {})
      expect((await call(`POST ${at}/versions/draft/publish`, {})).json.version).toBe(own)
    }
  })

  test('takes precedence once it is active, and the shared one stays readable', async () => {
    const before = await call(`GET ${at}/versions?limit=1`)
    const made = await call(`POST ${at}/activations`, { version: number, reason: 'ours from now on' })
    expect([made.status, made.json.origin]).toEqual([201, 'own'])
    expect((await call(`GET ${at}/versions?limit=1&cursor=${before.json.next_cursor}`)).status).toBe(404)
    expect(ownerIn(await call(`GET ${at}`))).toBe('200 own')
    expect(ownerIn(await call(`GET ${at}/versions/${number}`))).toBe('200 own')
    expect((await call(`GET ${at}/versions/${number}?origin=shared`)).json).toEqual(version.json)
    expect((await call(`GET ${at}?origin=shared`)).json).toMatchObject({
      origin: 'shared',
      active: null,
      attention: [],
    })
    const { in_force } = (await call(`GET ${at}/activations`)).json
    expect(in_force).toMatchObject([{ version: number, origin: 'own', until: null }])
  })

  test('an earlier decision reads what it pinned', async () => {
    const { json } = await call(`GET /evaluations/${earlier}`)
    expect(json.definition).toMatchObject({ key, version: number, origin: 'shared' })
    expect(json.lists.every(({ origin }: { origin: string }) => origin === 'shared')).toBe(true)
    expect((await call(`POST /evaluations/${earlier}/replay`)).json.verdict).toBe('identical')
    const whatIf = (body: object) => call(`POST /evaluations/${earlier}/what-if`, body)
    expect((await whatIf({ definition_version: 1 })).json.after.outcome).not.toBeNull()
    expect((await whatIf({ definition_version: number, definition_origin: 'own' })).json.changes).toEqual([])
    expect((await whatIf({ definition_version: number + 1, definition_origin: 'own' })).json.code).toBe('conflict')
    expect((await whatIf({ definition_origin: 'own' })).json.code).toBe('conflict')
    const { switches } = (await call(`POST /evaluations/${earlier}/reevaluate`)).json
    const moved = { from_version: number, from_origin: 'shared', to_version: number, to_origin: 'own' }
    expect(switches).toEqual([expect.objectContaining({ family: word, ...moved })])
  })

  test('decisions of the same version number are distinguished by owner', async () => {
    const { json } = await call('POST /evaluations', { [param]: key, inputs })
    expect(json.definition).toMatchObject({ version: number, origin: 'own' })
    await call('POST /evaluations', { [param]: key, inputs })
    for (const [origin, decisions] of [['own', 2] as const, ['shared', 1] as const]) {
      const covered = await call(`GET ${at}/coverage?version=${number}&origin=${origin}`)
      expect(covered.json).toMatchObject({ origin, version: number, decisions })
    }
    if (word === 'matrix') return
    const { items } = (await call('GET /rules/typologies')).json
    const rules = items.flatMap((item: { rules: { rule_key: string }[] }) => item.rules)
    expect(rules.filter(({ rule_key }: { rule_key: string }) => rule_key === key)).toEqual([])
    const { versions } = (await call(`GET ${at}/performance`)).json
    expect(versions).toEqual([
      expect.objectContaining({ version: number, origin: 'own', decisions: 2 }),
      expect.objectContaining({ version: number, origin: 'shared', decisions: 1 }),
    ])
  })

  test('a batch says whose version decides', async () => {
    const body = { [param]: key, items: [{ inputs }] }
    expect((await call('POST /batch-evaluations/estimate', body)).json).toMatchObject({ definition_origin: 'own' })
    const { resource } = (await call('POST /batch-evaluations', body)).json
    expect((await call(`GET ${resource}`)).json).toMatchObject({ definition_version: number, definition_origin: 'own' })
  })
})

describe('an own list under a shared key', () => {
  const german = { country: 'DE', rating: 'low' } as const
  const french = { country: 'FR', rating: 'medium' } as const
  let call: Call
  let shared: SharedList
  let at: string
  beforeAll(async () => {
    call = await tenant()
    shared = await SharedList.create(w, 'free', [german])
    await shared.publish([german, french])
    at = `/reference-data/datasets/${shared.list_key}`
    const body = { list_key: shared.list_key, type_key: shared.list_key, title: 'Ours' }
    const made = await call('POST /reference-data/datasets', body)
    expect(ownerIn(made)).toBe('201 own')
    expect(ownerIn(await call(`GET ${made.headers['location']}`))).toBe('200 own')
  })

  test('keeps the shared list readable before it is active', async () => {
    expect((await call(`GET ${at}`)).json).toMatchObject({ origin: 'shared', active: { version: 2 } })
    const version = await call(`GET ${at}/versions/2`)
    expect([ownerIn(version), version.json.data]).toEqual(['200 shared', [german, french]])
    expect((await call(`GET ${at}/versions`)).json.items).toHaveLength(2)
    expect((await call(`GET ${at}/versions/2/entries`)).json.items).toHaveLength(2)
    expect((await call(`GET ${at}/versions/2/provenance`)).json).toMatchObject({ list_origin: 'shared' })
    expect((await call(`GET ${at}/versions/2/provenance`)).json.activations).toHaveLength(1)
    expect((await call(`GET ${at}/versions/2/export?format=ndjson`)).text.split('\n')).toHaveLength(3)
    expect((await call(`GET ${at}/versions/2/proof?key=FR`)).json).toMatchObject({ origin: 'shared', present: true })
    expect((await call(`GET ${at}/diff?from=1&to=2`)).json.summary).toMatchObject({ added: 1 })
    expect((await call(`GET ${at}/dependents`)).status).toBe(200)
    expect((await call(`POST ${at}/versions/2/impact`, {})).status).toBe(202)
    expect(ownerIn(await call(`GET ${at}/versions/2?origin=own`))).toBe('404 not_found')
  })

  test('takes new versions, which are reached by their owner, also with the same content', async () => {
    const made = await call(`POST ${at}/versions`, { data: [german, french] })
    expect(ownerIn(made)).toBe('201 own')
    expect((await call(`POST ${at}/versions`, { data: [french] })).json.version).toBe(2)
    const own = await call(`GET ${made.headers['location']}`)
    expect([ownerIn(own), own.json.version]).toEqual(['200 own', 1])
    const theirs = await call(`GET ${at}/versions/2`, undefined, { 'if-none-match': String(own.headers['etag']) })
    expect(ownerIn(theirs)).toBe('200 shared')
    expect((await call(`GET ${at}/diff?from=2&from_origin=shared&to=2&origin=own`)).json).toMatchObject({
      summary: { added: 0, removed: 1, changed: 0 },
      items: [{ op: 'removed', key: 'DE' }],
    })
    const cursor = (await call(`GET ${at}/versions/2/entries?limit=1`)).json.next_cursor
    expect((await call(`GET ${at}/versions/2/entries?limit=1&origin=own&cursor=${cursor}`)).status).toBe(404)
    expect((await call(`PATCH ${at}/versions/1`, { state: 'deprecated', reason: 'old' })).json).toMatchObject({
      list_origin: 'own',
      state: 'deprecated',
    })
  })

  test('takes precedence once it is active, and the shared one stays readable', async () => {
    expect((await call(`POST ${at}/activations`, { version: 2, reason: 'ours' })).json).toMatchObject({ origin: 'own' })
    expect((await call(`GET ${at}`)).json).toMatchObject({ origin: 'own', active: { version: 2 } })
    expect((await call(`GET ${at}/versions/2`)).json.data).toEqual([french])
    expect((await call(`GET ${at}/versions/2?origin=shared`)).json.data).toEqual([german, french])
    expect((await call(`GET /reference-data/resolve/${shared.list_key}`)).json).toMatchObject({ origin: 'own' })
  })

  test('a version that was pinned of the shared list does not count as one of its own', async () => {
    const pinned = await call(`POST ${at}/pin`, { version: 1, reason: 'for a while' })
    expect(pinned.json).toMatchObject({ version: 1, origin: 'shared' })
    expect(ownerIn(await call(`GET ${at}/versions/1`))).toBe('200 shared')
    const own = await call(`GET ${at}/versions/1/provenance?origin=own`)
    expect(own.json.activations).toEqual([])
    const back = await call(`POST ${at}/rollback`, { reason: 'as before' })
    expect(back.json.activation).toMatchObject({ version: 2, origin: 'own' })
    const further = await call(`POST ${at}/rollback`, { to_version: 2, reason: 'once more' })
    expect(further.status).toBe(409)
  })

  test('a list nothing of which is in force is archived, whoever reads the shared one', async () => {
    const key = 'risk-levels'
    const { type_key } = (await call(`GET /reference-data/datasets/${key}`)).json
    await call('POST /reference-data/datasets', { list_key: key, type_key, title: 'Ours' })
    expect((await call(`GET /reference-data/datasets/${key}/dependents`)).json.items.length).toBeGreaterThan(0)
    expect((await call(`GET /reference-data/datasets/${key}/dependents?origin=own`)).json.items).toEqual([])
    expect((await call(`POST /reference-data/datasets/${key}/archive`)).json).toMatchObject({ state: 'archived' })
  })
})
