/** Overlays of a shared list: what each policy allows, and what happens when the shared list changes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { type Rating, SharedList } from '#test/support/shared-list.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

const de: Rating = { country: 'DE', rating: 'low', score: 10 }
const fr: Rating = { country: 'FR', rating: 'medium', score: 50, note: 'reviewed' }
const ng: Rating = { country: 'NG', rating: 'high' }
const base = [de, fr, ng]
const shared = (policy: 'none' | 'add_only' | 'tighten_only' | 'free') => SharedList.create(w, policy, base)

const stricter = { key: 'DE', op: 'merge', value: { rating: 'high' } }
const path = ({ list_key }: SharedList) => `/reference-data/datasets/${list_key}/overlay`
const put = async (list: SharedList, entries: object[], mode?: 'follow' | 'pinned') =>
  w.call(`PUT ${path(list)}`, {
    token: await t.token(),
    body: { entries, reason: 'own assessment', ...(mode && { mode }) },
  })
const view = (list: SharedList) => t.make(`GET ${path(list)}`)
const conflicts = async (list: SharedList): Promise<[string, string][]> =>
  (await view(list)).conflicts.map(({ key, kind }: { key: string; kind: string }) => [key, kind])
const rebase = async (list: SharedList, body: object) =>
  w.call(`POST ${path(list)}/rebase`, { token: await t.token(), body })

async function resolveEntry({ list_key }: SharedList, key: string, token?: string): Promise<Rating | null> {
  const at = `GET /reference-data/resolve/${list_key}/entry?key=${key}`
  return (await w.call(at, { token: token ?? (await t.token()) })).json.entry
}

describe('the policy', () => {
  const added = { key: 'IT', op: 'put', value: { country: 'IT', rating: 'low' } }
  const removed = { key: 'DE', op: 'remove' }
  const looser = { key: 'FR', op: 'merge', value: { rating: 'low' } }
  const lowered = { key: 'FR', op: 'merge', value: { score: 49 } }
  const renamed = { key: 'DE', op: 'merge', value: { note: 'ours' } }
  const unrated = { key: 'FR', op: 'merge', value: { score: null } }
  const replaced = { key: 'FR', op: 'put', value: { country: 'FR', rating: 'high', score: 50 } }

  test.each([
    ['none', [], [added, stricter, removed]],
    ['add_only', [added], [stricter, removed, looser]],
    ['tighten_only', [added, stricter], [looser, lowered, removed, renamed, unrated, replaced]],
    ['free', [added, stricter, removed, looser, lowered, renamed, unrated, replaced], []],
  ] as const)('%s', async (policy, allowed, refused) => {
    const list = await shared(policy)
    for (const change of refused) {
      const { status, json } = await put(list, [change])
      expect([change, status, json.code, json.errors?.[0]?.pointer]).toEqual([
        change,
        409,
        'type_violation',
        '#/entries/0',
      ])
      expect((await view(list)).overlay).toBeNull()
    }
    for (const change of allowed) expect([change, (await put(list, [change])).status]).toEqual([change, 200])
  })

  test('does not override the type, the key, or a missing entry to merge into', async () => {
    const list = await shared('free')
    const pointers = async (change: object) =>
      (await put(list, [change])).json.errors?.map(({ pointer }: { pointer: string }) => pointer)
    expect(await pointers({ key: 'DE', op: 'merge', value: { rating: 'huge' } })).toEqual(['#/entries/0/value/rating'])
    expect(await pointers({ key: 'ES', op: 'merge', value: { rating: 'low' } })).toEqual(['#/entries/0/key'])
    expect(await pointers({ key: 'DE', op: 'put', value: ng })).toEqual(['#/entries/0/key'])
  })
})

describe('an overlay', () => {
  test('is visible to its tenant and to no other', async () => {
    const list = await shared('tighten_only')
    expect((await put(list, [stricter])).status).toBe(200)
    expect(await resolveEntry(list, 'DE')).toEqual({ ...de, rating: 'high' })
    expect(await resolveEntry(list, 'FR')).toEqual(fr)
    const token = await w.token({ tenant_id: await w.makeTenant() })
    expect(await resolveEntry(list, 'DE', token)).toEqual(de)
    const theirs = await w.call(`GET ${path(list)}`, { token })
    expect([theirs.status, theirs.json]).toMatchObject([200, { overlay: null, conflicts: [] }])
    const resolved = await w.call(`GET /reference-data/resolve/${list.list_key}`, { token })
    expect(resolved.json).toMatchObject({ via: 'shared', overlay: null })
  })

  test('that follows the base applies to every later base version', async () => {
    const list = await shared('tighten_only')
    await put(list, [stricter], 'follow')
    await list.publish([{ ...de, score: 20 }, fr])
    expect(await resolveEntry(list, 'DE')).toEqual({ ...de, score: 20, rating: 'high' })
    expect(await resolveEntry(list, 'NG')).toBeNull()
  })

  test('that is pinned applies only to the version it was written for, even when another one is equal', async () => {
    const list = await shared('tighten_only')
    await put(list, [stricter], 'pinned')
    expect(await resolveEntry(list, 'DE')).toEqual({ ...de, rating: 'high' })
    await list.publish(base)
    expect(await resolveEntry(list, 'DE')).toEqual(de)
    expect((await rebase(list, { apply: true })).json).toMatchObject({ applied: true, conflicts: [] })
    expect(await resolveEntry(list, 'DE')).toEqual({ ...de, rating: 'high' })
  })

  test('is not applied where a new base would make it loosen', async () => {
    const list = await shared('tighten_only')
    await put(list, [{ key: 'DE', op: 'merge', value: { rating: 'medium' } }])
    await list.publish([{ ...de, rating: 'high' }, fr, ng])
    expect(await resolveEntry(list, 'DE')).toEqual({ ...de, rating: 'high' })
  })

  test('creates no entry from a merge into a removed one', async () => {
    const list = await shared('free')
    await put(list, [stricter])
    await list.publish([fr, ng])
    expect(await resolveEntry(list, 'DE')).toBeNull()
  })

  test('is deleted while its versions remain', async () => {
    const list = await shared('tighten_only')
    await put(list, [stricter])
    const token = await t.token()
    expect((await w.call(`DELETE ${path(list)}?reason=enough`, { token })).status).toBe(204)
    expect(await resolveEntry(list, 'DE')).toEqual(de)
    expect((await view(list)).overlay).toBeNull()
    const again = await w.call(`DELETE ${path(list)}`, { token })
    expect([again.status, again.json.code]).toEqual([409, 'transition_not_allowed'])
    const { items } = await t.make(`GET /reference-data/datasets/${list.list_key}/activations`)
    expect(items.map(({ kind }: { kind: string }) => kind)).toEqual(['overlay-removed', 'overlay'])
    expect((await put(list, [stricter])).json.overlay.version).toBe(2)
  })
})

describe('when the base changes', () => {
  const changes = [
    { key: 'DE', op: 'merge', value: { rating: 'medium' } },
    { key: 'FR', op: 'merge', value: { score: 60 } },
    { key: 'NG', op: 'merge', value: { score: 90 } },
    { key: 'IT', op: 'put', value: { country: 'IT', rating: 'high' } },
    { key: 'ES', op: 'put', value: { country: 'ES', rating: 'high' } },
  ]
  /** DE is loosened by the overlay, FR changed beside it, NG removed, IT equal to the overlay, ES untouched. */
  async function publishChangedBase(): Promise<SharedList> {
    const list = await shared('tighten_only')
    expect((await put(list, changes)).status).toBe(200)
    expect(await conflicts(list)).toEqual([])
    await list.publish([
      { ...de, rating: 'high' },
      { ...fr, note: 'again' },
      { country: 'IT', rating: 'high' },
    ])
    return list
  }

  test('each change is clean, changed under the patch, removed, redundant or against the policy', async () => {
    const list = await publishChangedBase()
    expect(await conflicts(list)).toEqual([
      ['DE', 'policy-violating'],
      ['FR', 'changed-under-patch'],
      ['IT', 'redundant'],
      ['NG', 'removed'],
    ])
    const [, changed] = (await view(list)).conflicts
    expect(changed).toMatchObject({
      base: fr,
      ours: { ...fr, note: 'again', score: 60 },
      theirs: { ...fr, note: 'again' },
    })
  })

  test('a rebase without resolutions only reports conflicts', async () => {
    const list = await publishChangedBase()
    const looked = await rebase(list, {})
    expect([looked.status, looked.json]).toMatchObject([
      200,
      { applied: false, version: null, clean: 1, dropped: ['IT'] },
    ])
    const refused = await rebase(list, { apply: true })
    expect([refused.status, refused.json.code]).toEqual([409, 'gates_closed'])
    expect(refused.json.gates.map(({ facts }: { facts: { key: string } }) => facts.key)).toEqual(['DE', 'FR', 'NG'])
    expect((await view(list)).overlay.version).toBe(1)
  })

  test('refuses "ours" where the policy forbids it', async () => {
    const list = await publishChangedBase()
    const refused = await rebase(list, { apply: true, resolutions: { DE: 'ours', FR: 'ours', NG: 'theirs' } })
    expect(refused.json.gates).toMatchObject([
      { gate: 'overlay-conflict', facts: { key: 'DE', kind: 'policy-violating' } },
    ])
  })

  test('"ours" and "theirs" make a new overlay without conflicts', async () => {
    const list = await publishChangedBase()
    const done = await rebase(list, { apply: true, resolutions: { DE: 'theirs', FR: 'ours', NG: 'theirs' } })
    expect([done.status, done.json]).toMatchObject([200, { applied: true, version: 2 }])
    const { overlay, conflicts: left } = await view(list)
    expect(left).toEqual([])
    expect(overlay.entries.map(({ key }: { key: string }) => key)).toEqual(['ES', 'FR'])
    expect(await resolveEntry(list, 'DE')).toEqual({ ...de, rating: 'high' })
    expect(await resolveEntry(list, 'FR')).toEqual({ ...fr, note: 'again', score: 60 })
    expect(await resolveEntry(list, 'NG')).toBeNull()
  })

  test('a merge into a removed entry cannot be kept', async () => {
    const list = await publishChangedBase()
    const { status, json } = await rebase(list, { apply: true, resolutions: { DE: 'theirs', FR: 'ours', NG: 'ours' } })
    expect([status, json.code]).toEqual([409, 'gates_closed'])
    expect(json.gates).toMatchObject([{ facts: { key: 'NG', kind: 'removed' } }])
  })
})

describe('an entry that would become invalid for the type', () => {
  const signed = { key: 'FR', op: 'merge', value: { reviewer: 'A. Clerk' } }
  const unnoted: Rating = { country: 'FR', rating: 'medium', score: 50 }

  test('is a conflict that only "theirs" resolves, and is never visible to the tenant', async () => {
    const list = await shared('free')
    expect((await put(list, [signed, stricter])).status).toBe(200)
    expect(await resolveEntry(list, 'FR')).toEqual({ ...fr, reviewer: 'A. Clerk' })
    await list.publish([de, unnoted, ng])
    expect(await resolveEntry(list, 'FR')).toEqual(unnoted)
    expect(await conflicts(list)).toEqual([['FR', 'invalid']])
    const [{ detail, ours, theirs }] = (await view(list)).conflicts
    expect([ours, theirs]).toEqual([{ ...unnoted, reviewer: 'A. Clerk' }, unnoted])
    expect(detail).toBe('Note is missing; it is needed because Reviewer is given.')

    const kept = await rebase(list, { apply: true, resolutions: { FR: 'ours' } })
    expect([kept.status, kept.json.gates]).toMatchObject([409, [{ facts: { key: 'FR', kind: 'invalid' } }]])
    expect((await rebase(list, { apply: true, resolutions: { FR: 'theirs' } })).json).toMatchObject({ applied: true })
    expect((await view(list)).overlay.entries.map(({ key }: { key: string }) => key)).toEqual(['DE'])
    expect(await resolveEntry(list, 'FR')).toEqual(unnoted)
  })

  test('is also found when the type has changed, and for an added entry', async () => {
    const list = await shared('tighten_only')
    const italy = { country: 'IT', rating: 'low', note: 'long enough to be too long' }
    expect((await put(list, [{ key: 'IT', op: 'put', value: italy }])).status).toBe(200)
    await list.publishTypeVersion({ note: { type: 'string', maxLength: 10 } })
    await list.publish(base)
    expect(await resolveEntry(list, 'IT')).toBeNull()
    expect(await conflicts(list)).toEqual([['IT', 'invalid']])
  })

  test('is refused when the overlay is written, and a valid one is stored as the type normalises it', async () => {
    const list = await shared('free')
    await list.publish([de, unnoted, ng])
    const { status, json } = await put(list, [signed])
    expect([status, json.code]).toEqual([409, 'type_violation'])
    const spaced = { country: 'IT', rating: 'low', note: ' ours ' }
    expect((await put(list, [{ key: 'IT', op: 'put', value: spaced }])).status).toBe(200)
    expect(await resolveEntry(list, 'IT')).toEqual({ ...spaced, note: 'ours' })
  })
})

describe('with four eyes', () => {
  const roles = ['policy_editor', 'compliance_officer'] as const
  async function createAuthorAndChecker() {
    const tenant_id = await w.makeTenant()
    const rules = [{ action: 'overlay', approvers: 1, role: 'compliance_officer' }]
    await w.setApprovalRules(tenant_id, rules)
    const createToken = () => w.token({ tenant_id, roles, principal: `user:${uuidv7()}` })
    return { tenant_id, author: await createToken(), checker: await createToken() }
  }
  const approve = (cr_id: string, token: string) =>
    w.call(`POST /change-requests/${cr_id}/approve`, { token, body: {} })
  const request = { entries: [stricter], reason: 'own assessment' }

  test('writing, rebasing and deleting an overlay need a second person', async () => {
    const list = await shared('tighten_only')
    const { author, checker } = await createAuthorAndChecker()
    const propose = async (at: string, body?: object) => {
      const proposed = await w.call(at, { token: author, ...(body && { body }) })
      expect([at, proposed.status, proposed.json?.action]).toEqual([at, 202, 'overlay'])
      return proposed.json.cr_id as string
    }
    const cr_id = await propose(`PUT ${path(list)}`, request)
    expect(await resolveEntry(list, 'DE', author)).toEqual(de)
    expect((await approve(cr_id, author)).json.code).toBe('approval_own_request')
    expect((await approve(cr_id, checker)).status).toBe(200)
    expect(await resolveEntry(list, 'DE', author)).toEqual({ ...de, rating: 'high' })

    await list.publish([{ ...de, score: 20 }, fr, ng])
    expect((await w.call(`POST ${path(list)}/rebase`, { token: author, body: {} })).status).toBe(200)
    const rebased = await propose(`POST ${path(list)}/rebase`, { apply: true, resolutions: { DE: 'ours' } })
    expect((await w.call(`GET ${path(list)}`, { token: author })).json.overlay.version).toBe(1)
    expect((await approve(rebased, checker)).status).toBe(200)
    expect((await w.call(`GET ${path(list)}`, { token: author })).json).toMatchObject({
      overlay: { version: 2 },
      conflicts: [],
    })

    const deleted = await propose(`DELETE ${path(list)}?reason=enough`)
    expect(await resolveEntry(list, 'DE', author)).toMatchObject({ rating: 'high' })
    const approved = await approve(deleted, checker)
    expect([approved.status, approved.json.code]).toEqual([200, undefined])
    expect(await resolveEntry(list, 'DE', author)).toEqual({ ...de, score: 20 })
    const said = await w.call(`GET /reference-data/datasets/${list.list_key}/activations`, { token: author })
    expect(said.json.items[0]).toMatchObject({ kind: 'overlay-removed', reason: 'enough', cr_id: deleted })
  })

  test('the query of a request is part of the proposal', async () => {
    const list = await shared('tighten_only')
    const { tenant_id, author, checker } = await createAuthorAndChecker()
    await approve((await w.call(`PUT ${path(list)}`, { token: author, body: request })).json.cr_id, checker)
    const { json } = await w.call(`DELETE ${path(list)}?reason=enough`, { token: author })
    expect(json).toMatchObject({ operation: 'deleteOverlay', query: { reason: 'enough' }, body: null })
    await w.runtime.database.write(fullScope(tenant_id, 'operator:test'), (tx) =>
      tx.run(`update app.change_request set query = '{"reason":"other"}' where tenant_id = $1 and cr_id = $2`, [
        tenant_id,
        json.cr_id,
      ]),
    )
    expect((await approve(json.cr_id, checker)).json.code).toBe('approval_void')
  })

  test('a proposal is void once the base it was checked against has changed', async () => {
    const list = await shared('tighten_only')
    const { author, checker } = await createAuthorAndChecker()
    const { json } = await w.call(`PUT ${path(list)}`, { token: author, body: request })
    await list.publish([de, fr])
    const { status, json: refused } = await approve(json.cr_id, checker)
    expect([status, refused.code]).toEqual([409, 'approval_void'])
    expect(await resolveEntry(list, 'DE', author)).toEqual(de)
  })
})
