/** Investigations over the API: opening and joining, who closes, narrative, tasks, merging and access. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp

beforeAll(async () => {
  w = await startTestApp()
})
afterAll(() => w.close())

type Someone = Awaited<ReturnType<TestApp['person']>>

/** Two analysts and two officers of a new tenant. */
async function createTeam() {
  const t = await ExampleTenant.create(w)
  const [analyst, other, officer, second] = (await Promise.all([
    w.person(t.tenant_id, ['analyst']),
    w.person(t.tenant_id, ['analyst']),
    w.person(t.tenant_id, ['compliance_officer']),
    w.person(t.tenant_id, ['compliance_officer']),
  ])) as [Someone, Someone, Someone, Someone]
  const send = (who: Someone, at: string, body?: unknown) =>
    w.call(at, { token: who.token, ...(body === undefined ? {} : { body }) })
  const newSubject = async (): Promise<string> =>
    (await t.make('POST /subjects', { body: { subject_type: 'person', name: 'Ada Lovelace' } })).subject_id
  const open = async (who: Someone = analyst, more: object = {}) =>
    send(who, 'POST /investigations', { subject_id: await newSubject(), playbook_key: 'edd-person', ...more })
  const read = async (id: string, who: Someone = analyst) => (await send(who, `GET /investigations/${id}`)).json
  return { t, analyst, other, officer, second, send, newSubject, open, read }
}

describe('opening', () => {
  test('answers 202 with the case and its job, and a second request joins', async () => {
    const { open, newSubject, read, officer } = await createTeam()
    const subject_id = await newSubject()
    const first = await open(undefined, { subject_id })
    expect(first.status).toBe(202)
    const { investigation_id, job_id, reference } = first.json
    expect(first.headers).toMatchObject({
      location: `/api/investigations/${investigation_id}`,
      link: `</api/jobs/${job_id}>; rel="monitor"`,
    })
    const joined = await open(officer, { subject_id })
    expect([joined.status, joined.json]).toEqual([
      200,
      { investigation_id, reference, joined: true, job_id, job: `/api/jobs/${job_id}`, warnings: [] },
    ])
    const seen = await read(investigation_id)
    expect(seen).toMatchObject({
      state: 'open',
      gathering: 'running',
      origin: 'request',
      main_action: 'propose_outcome',
    })
    const proposing = seen.next_actions.find(({ action }: { action: string }) => action === 'propose_outcome')
    expect(proposing.is_permitted).toBe(false)
    expect(proposing.missing.map(({ code }: { code: string }) => code)).toEqual(
      expect.arrayContaining(['gathering_running', 'step_open', 'narrative_missing']),
    )
  })
})
