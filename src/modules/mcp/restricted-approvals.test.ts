/** Tool calls that wait for a person are hidden with what they name or worked on, and nothing of it reaches an assistant. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { uuidv7 } from '#kernel/uuid.ts'
import { createCaseTeam } from '#test/support/case-team.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'

let w: JobTestApp
let team: Awaited<ReturnType<typeof createCaseTeam>>
beforeAll(async () => {
  w = await startJobTestApp()
})
beforeEach(async () => {
  team = await createCaseTeam(w)
  const rules = ['get_investigation', 'add_investigation_note', 'list_investigations', 'open_investigation']
  await team.t.make('PUT /mcp/tool-policy', {
    body: { rules: rules.map((tool) => ({ tool, roles: [], decision: 'person' })) },
  })
})
afterAll(() => w.close())

async function call(name: string, given: object, who = team.analyst) {
  const { json } = await w.call('POST /mcp', {
    token: who.token,
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
    headers: { accept: 'application/json, text/event-stream' },
  })
  return json.result.structuredContent as Readonly<Record<string, unknown>>
}
const approve = (approval_id: unknown, who = team.second) =>
  team.send(who, `POST /mcp/approvals/${approval_id}/approve`, {})
const openCase = async (): Promise<string> => (await team.open()).json.investigation_id
/** For the first officer and the analyst; the second officer sees nothing of the case any more. */
const restrict = async (investigation_id: string) =>
  expect(
    await team.send(team.officer, `PUT /investigations/${investigation_id}/access`, {
      is_restricted: true,
      people: [team.analyst.user_id],
      reason: 'Suspicion',
    }),
  ).toMatchObject({ status: 200 })
const listApprovals = async (who = team.second) =>
  (await team.send(who, 'GET /mcp/approvals')).json.items.map(
    ({ approval_id }: { approval_id: string }) => approval_id,
  ) as string[]

describe('an approval of a call about a case that is restricted afterwards', () => {
  test('is hidden with its arguments and outcome, waiting or done', async () => {
    const investigation_id = await openCase()
    const read = await call('get_investigation', { investigation_id })
    const written = await call('add_investigation_note', { investigation_id, text: 'A suspicion' })
    for (const { approval_id } of [read, written])
      expect((await approve(approval_id)).json).toMatchObject({ state: 'succeeded', restriction_id: null })
    const waiting = await call('add_investigation_note', { investigation_id, text: 'Another one' })
    const approvals = [read, written, waiting].map(({ approval_id }) => approval_id)
    expect((await listApprovals()).toSorted()).toEqual(approvals.toSorted())
    await restrict(investigation_id)
    expect(await listApprovals()).toEqual([])
    const random = await approve(uuidv7())
    for (const approval_id of approvals) {
      expect((await team.send(team.second, `GET /mcp/approvals/${approval_id}`)).status).toBe(404)
      expect([(await approve(approval_id)).status, (await approve(approval_id)).json.code]).toEqual([
        random.status,
        random.json.code,
      ])
    }
    expect((await team.send(team.second, 'GET /mcp/calls')).json.items).toEqual([])
    const events = (await team.send(team.second, 'GET /audit/events')).json.items
    expect(JSON.stringify(events)).not.toMatch(new RegExp(approvals.join('|')))
    // Whoever has access sees them, and that they are restricted.
    expect((await listApprovals(team.officer)).toSorted()).toEqual(approvals.toSorted())
    const seen = await team.send(team.officer, `GET /mcp/approvals/${approvals[0]}`)
    expect(seen.json).toMatchObject({ restriction_id: expect.any(String), outcome: { investigation_id } })
  })

  test('is neither collected by an assistant nor run for it, whatever its caller may see', async () => {
    const investigation_id = await openCase()
    const given = { investigation_id }
    const { approval_id } = await call('get_investigation', given)
    expect((await approve(approval_id)).json.state).toBe('succeeded')
    const waiting = await call('add_investigation_note', { investigation_id, text: 'Another one' })
    await restrict(investigation_id)
    const random = await call('get_investigation', { investigation_id: uuidv7() })
    const { instance: _, request_id: __, ...expected } = random
    expect(await call('get_investigation', given)).toMatchObject(expected)
    expect(expected['code']).toBe('not_found')
    expect((await approve(waiting['approval_id'], team.officer)).json.code).toBe('transition_not_allowed')
    expect((await team.send(team.officer, `GET /investigations/${investigation_id}/notes`)).json.items).toEqual([])
    const denied = await team.send(team.officer, `POST /mcp/approvals/${waiting['approval_id']}/deny`, {})
    expect(denied.json).toMatchObject({ state: 'denied', restriction_id: expect.any(String) })
  })
})

test('a search of the audit record for a hidden object waits for nobody, like one for an object that does not exist', async () => {
  const [hidden, open] = [await openCase(), await openCase()]
  await restrict(hidden)
  const rules = [{ tool: 'search_audit', roles: [], decision: 'person' }]
  await team.t.make('PUT /mcp/tool-policy', { body: { rules } })
  const search = (object_id: string) => call('search_audit', { object_type: 'investigations', object_id }, team.officer)
  const codes = await Promise.all([hidden, uuidv7(), open].map(async (id) => (await search(id))['code']))
  expect(codes).toEqual(['not_found', 'not_found', 'tool_approval_required'])
  expect(await listApprovals()).toHaveLength(1)
  expect(JSON.stringify((await team.send(team.second, 'GET /mcp/approvals')).json)).not.toContain(hidden)
})

test('an approval of a call that opened a case is hidden with the case', async () => {
  const { approval_id } = await call('open_investigation', {
    subject_id: await team.newSubject(),
    playbook_key: 'edd-person',
  })
  const { investigation_id } = (await approve(approval_id)).json.outcome
  expect(await listApprovals()).toEqual([approval_id])
  await restrict(investigation_id)
  expect(await listApprovals()).toEqual([])
  expect(await listApprovals(team.officer)).toEqual([approval_id])
})

test('an approval whose outcome lists a case that is restricted afterwards is hidden, and the call can be made again', async () => {
  const investigation_id = await openCase()
  const { approval_id } = await call('list_investigations', {})
  expect((await approve(approval_id)).json.outcome.items).toMatchObject([{ investigation_id }])
  await restrict(investigation_id)
  expect(await listApprovals()).toEqual([])
  const again = await call('list_investigations', {})
  expect(again).toMatchObject({ code: 'tool_approval_required', state: 'waiting' })
  expect(again['approval_id']).not.toBe(approval_id)
  const calls = async (who = team.second) =>
    (await team.send(who, 'GET /mcp/calls')).json.items as { call_id: string; approval_id: string }[]
  const named = (await calls(team.officer)).filter((one) => one.approval_id === approval_id)
  expect(named.length).toBeGreaterThan(0)
  expect((await calls()).map((one) => one.approval_id)).not.toContain(approval_id)
  expect((await team.send(team.second, `GET /mcp/calls/${named[0]?.call_id}`)).status).toBe(404)
  expect((await approve(again['approval_id'])).json.outcome.items).toEqual([])
})
