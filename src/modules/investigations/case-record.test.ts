/** What a case says about who did what: nobody changes it in another name, and nothing comes under a proposal unseen. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { escalateByPolicy } from '#modules/alerts/index.ts'
import { createReportFormat } from '#modules/reports/report-format.ts'
import { codesOf, createCaseTeam, type Someone, settleSteps } from '#test/support/case-team.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'
import { createMemoryLedger } from '#test/support/memory-ledger.ts'
import { escalates } from './opening/triggers.ts'
import { arrangeReport } from './report/arrange-case.ts'
import { collectCase } from './report/collect-case.ts'

let w: JobTestApp

beforeAll(async () => {
  w = await startJobTestApp({ erasureLedger: createMemoryLedger([]) })
})
afterAll(() => w.close())

const ASSESSMENT = { paragraphs: [{ kind: 'assessment', text: 'It fits the business.', cites: [] }] }

async function openCase() {
  const team = await createCaseTeam(w)
  const { investigation_id } = (await team.open()).json as { investigation_id: string }
  const at = `/investigations/${investigation_id}`
  const addTask = async (body: object): Promise<string> =>
    (await team.send(team.analyst, `POST ${at}/tasks`, { title: 'Look at the funds', ...body })).json.task_id
  const patch = (who: Someone, task_id: string, body: object) => team.send(who, `PATCH ${at}/tasks/${task_id}`, body)
  const findGuards = async (who: Someone, action: string) =>
    (await team.read(investigation_id, who)).next_actions.find((one: { action: string }) => one.action === action)
  const finish = async () => {
    await settleSteps(team.t, investigation_id)
    await team.send(team.analyst, `PUT ${at}/narrative`, ASSESSMENT)
  }
  /** An analyst proposes. */
  const propose = async () => {
    const { json } = await team.send(team.analyst, `POST ${at}/propose-outcome`, { outcome: 'INV_NO_SUSPICION' })
    return json.proposal as { proposal_hash: string }
  }
  return { ...team, investigation_id, at, addTask, patch, findGuards, finish, propose }
}

/** As the service writes, whatever its code does. */
async function writeAs(tenant_id: string, actor: string, act: string): Promise<string> {
  const app = new pg.Client(w.clone.app)
  await app.connect()
  try {
    for (const [name, value] of [
      ['app.tenant_id', tenant_id],
      ['app.actor', actor],
      ['app.sight', 'all'],
    ])
      await app.query('select set_config($1, $2, false)', [name, value])
    await app.query(act)
    return 'done'
  } catch (error) {
    return (error as { code: string }).code
  } finally {
    await app.end()
  }
}

describe('a task', () => {
  test('that has ended keeps what was found until it is opened again', async () => {
    const { t, analyst, other, officer, send, at, addTask, patch } = await openCase()
    const task_id = await addTask({ checklist: ['Contract seen'] })
    const found = { state: 'done', checklist: [true], result: 'Funds are clean' }
    expect((await patch(analyst, task_id, found)).status).toBe(200)
    for (const body of [{ result: 'hacked' }, { checklist: [false] }, { state: 'done', result: null }])
      expect((await patch(other, task_id, body)).json).toMatchObject({
        code: 'transition_not_allowed',
        detail: expect.stringContaining('open it again first'),
      })
    // The same again changes nothing, and says nothing else of it.
    const same = (await patch(other, task_id, found)).json
    expect([same.result, same.ended_by]).toEqual(['Funds are clean', analyst.principal])
    const update = (set: string) =>
      writeAs(
        t.tenant_id,
        other.principal,
        `update app.investigation_task set ${set}, revision = revision + 1 where task_id = '${task_id}'`,
      )
    for (const set of [`result = 'hacked'`, `title = 'x'`, `detail = 'x'`, `checklist = '[]'`, `ended_by = 'user:x'`])
      expect([set, await update(set)]).toEqual([set, 'PB010'])

    expect((await patch(other, task_id, { state: 'open', result: 'Looked at again' })).json.ended_by).toBeNull()
    expect(await update(`state = 'done', ended_at = now(), ended_by = '${analyst.principal}'`)).toBe('PB002')
    const again = (await patch(other, task_id, { state: 'done', result: 'One transfer is unclear' })).json
    expect([again.result, again.ended_by]).toEqual(['One transfer is unclear', other.principal])
    const { items } = (await send(officer, `GET ${at}/timeline?limit=50`)).json
    const changes = items.filter(({ kind }: { kind: string }) => kind === 'task_changed')
    expect(
      changes.map(({ data, recorded_by }: { data: { state: string }; recorded_by: string }) => [
        data.state,
        recorded_by,
      ]),
    ).toEqual([
      ['done', other.principal],
      ['open', other.principal],
      ['done', analyst.principal],
    ])
  })

  test('for a role is changed only by people who have it', async () => {
    const { analyst, officer, addTask, patch } = await openCase()
    const task_id = await addTask({ role: 'compliance_officer', checklist: ['Seen'] })
    for (const body of [{ result: 'x' }, { checklist: [true] }, { due_at: '2030-01-01T00:00:00Z' }, { assignee: null }])
      expect([body, (await patch(analyst, task_id, body)).json.code]).toEqual([body, 'role_required'])
    expect((await patch(officer, task_id, { state: 'done', checklist: [true], result: 'Fine' })).status).toBe(200)
    for (const body of [{ result: 'hacked' }, { state: 'open' }, {}])
      expect([body, (await patch(analyst, task_id, body)).json.code]).toEqual([body, 'role_required'])
  })

  test('has hashes of its result and checklist in the audit event of each change, and no text', async () => {
    const { t, analyst, addTask, patch } = await openCase()
    const task_id = await addTask({ checklist: ['Seen'] })
    await patch(analyst, task_id, { result: 'Funds are clean' })
    await patch(analyst, task_id, { checklist: [true] })
    await patch(analyst, task_id, { due_at: '2030-01-01T00:00:00Z' })
    const { items } = await t.make('GET /audit/events?operation=updateInvestigationTask')
    const changed = items.map(({ detail }: { detail: object }) => {
      const names = Object.keys(typeof detail === 'string' ? JSON.parse(detail) : detail)
      return names.filter((name) => /^(result|checklist)/.test(name)).sort()
    })
    expect(changed).toEqual([[], ['checklist_before_hash', 'checklist_hash'], ['result_before_hash', 'result_hash']])
    expect(JSON.stringify(items)).not.toContain('Funds are clean')
  })

  test('of a step that is opened again is said in the report', async () => {
    const { t, officer, send, at, investigation_id, patch } = await openCase()
    await t.write((tx) =>
      tx.run(
        `insert into app.investigation_task (tenant_id, task_id, investigation_id, step_key, title, is_required, created_by, updated_by)
         select tenant_id, gen_random_uuid(), investigation_id, step_key, 'Source of funds', false, 'job:x', 'job:x'
           from app.investigation_step where tenant_id = $1 and investigation_id = $2 and step_key = 'source-of-funds'`,
        [t.tenant_id, investigation_id],
      ),
    )
    const { items } = (await send(officer, `GET ${at}/tasks`)).json
    const { task_id } = items.find(({ title }: { title: string }) => title === 'Source of funds')
    for (const state of ['done', 'open', 'done'])
      expect((await patch(officer, task_id, { state, result: 'Salary' })).status).toBe(200)
    const collected = await w.kernel.transactions.read(fullScope(t.tenant_id, 'job:test'), (tx) =>
      collectCase(w.kernel, tx, investigation_id),
    )
    const { sections } = arrangeReport(collected, createReportFormat('en-GB', 'UTC'))
    const [said] = sections.find(({ title }) => title === 'Who did what')?.blocks ?? []
    const rows = said?.kind === 'table' ? said.rows.map(([, who, what]) => [who, what]) : []
    const step = collected.steps.find(({ step_key }) => step_key === 'source-of-funds')
    const opened = rows.filter(([, what]) => what?.startsWith('Task '))
    expect(opened).toEqual([[collected.names[officer.principal], `Task opened again: ${step?.title}`]])
  })
})

describe('a proposed case', () => {
  test('takes no note and no link, and can be closed as it was proposed', async () => {
    const { t, analyst, officer, send, newSubject, investigation_id, at, findGuards, finish, propose } =
      await openCase()
    const raise = async (more: object = {}): Promise<string> =>
      (
        await send(analyst, 'POST /alerts', {
          ...{ source: 'desk', dedup_key: uuidv7(), title: 'A listed name', priority: 'medium' },
          ...more,
        })
      ).json.alert_id
    const alert_id = await raise()
    await finish()
    const { proposal_hash } = await propose()
    const { subject } = await send(officer, `GET ${at}`).then(({ json }) => json)
    const joining = { subject_id: subject.subject_id, playbook_key: 'edd-person', alert_ids: [alert_id] }
    for (const [act, body] of [
      [`POST ${at}/notes`, { text: 'Agreed' }],
      [`POST ${at}/alerts`, { alert_ids: [alert_id] }],
      [`POST ${at}/subjects`, { subject_id: await newSubject(), part: 'related' }],
      [`POST ${at}/tasks`, { title: 'Look again' }],
      ['POST /investigations', joining],
    ] as const) {
      const { status, json } = await send(officer, act, body)
      expect([act, status, json.code, json.detail]).toEqual([
        act,
        409,
        'transition_not_allowed',
        expect.stringContaining('An outcome is proposed; return it first.'),
      ])
    }
    const assigned = { user_id: officer.user_id }
    expect((await send(officer, `POST ${at}/assign`, { ...assigned, note: 'For me' })).status).toBe(409)
    expect((await send(officer, `POST ${at}/assign`, assigned)).status).toBe(200)
    const insert = (table: string, columns: string, values: string) =>
      writeAs(
        t.tenant_id,
        analyst.principal,
        `insert into app.${table} (tenant_id, investigation_id, ${columns}) values ('${t.tenant_id}', '${investigation_id}', ${values})`,
      )
    const by = `'${analyst.principal}'`
    expect([
      await insert('investigation_note', 'note_id, content, created_by', `gen_random_uuid(), 'x', ${by}`),
      await insert('investigation_alert', 'alert_id, linked_by', `'${alert_id}', ${by}`),
    ]).toEqual(['PB010', 'PB010'])
    expect(await findGuards(officer, 'close')).toMatchObject({ is_permitted: true })
    const closed = await send(officer, `POST ${at}/close`, { proposal_hash, note: 'Agreed' })
    expect([closed.status, closed.json.state]).toEqual([200, 'closed'])
  })

  test('says before anybody closes it that an alert has come since', async () => {
    const { t, analyst, officer, send, read, investigation_id, at, findGuards, finish, propose } = await openCase()
    await finish()
    const { proposal_hash } = await propose()
    const { subject_id } = (await read(investigation_id)).subject
    const report = { source: 'feed', dedup_key: uuidv7(), title: 'A listed name', priority: 'high', subject_id }
    const { alert_id } = (await send(analyst, 'POST /alerts', report)).json
    const joined = await t.write((tx) =>
      escalateByPolicy(w.kernel, tx, alert_id, { playbook_key: 'edd-person', escalates }),
    )
    expect([joined, (await read(investigation_id)).alerts.length]).toEqual([true, 1])
    expect(await findGuards(officer, 'close')).toMatchObject({
      is_permitted: false,
      missing: [{ code: 'proposal_stale', detail: expect.stringContaining('Return it') }],
    })
    expect(codesOf(await send(officer, `POST ${at}/close`, { proposal_hash }))).toEqual(['proposal_stale'])
    expect((await send(officer, `POST ${at}/return`, { note: 'An alert came' })).json.state).toBe('open')
    const later = (await propose()).proposal_hash
    expect((await send(officer, `POST ${at}/close`, { proposal_hash: later })).json.state).toBe('closed')
  })
})

describe('a person whose access to a case ends', () => {
  test("changes nobody's access to it, and keeps theirs no longer", async () => {
    const { t, analyst, officer, second, send, open, investigation_id, at } = await openCase()
    await settleSteps(t, investigation_id)
    const restrict = (who: Someone, to: string, people: readonly string[]) =>
      send(who, `PUT ${to}/access`, { is_restricted: true, people, reason: 'Suspicion' })
    await restrict(officer, at, [analyst.user_id])
    const grant = (who: Someone, user_id: string, until?: string) =>
      send(who, `POST ${at}/access/grants`, { user_id, reason: 'Helps', ...(until && { until }) })
    const until = new Date(Date.now() + 600_000).toISOString()
    expect((await grant(officer, second.user_id, until)).status).toBe(201)
    const list = async () => (await send(officer, `GET ${at}/access`)).json.items
    const before = await list()
    const into = (await open()).json.investigation_id
    for (const { status, json } of [
      await restrict(second, at, []),
      await send(second, `PUT ${at}/access`, { is_restricted: false, reason: 'No suspicion' }),
      await grant(second, (await w.person(t.tenant_id, ['compliance_officer'])).user_id),
      // The other case would be restricted to the people of this one.
      await send(second, `POST ${at}/merge`, { into, note: 'The same' }),
    ])
      expect([status, json.detail]).toEqual([409, expect.stringContaining('Your access ends by itself')])
    expect(await list()).toEqual(before)
    // Imposing a restriction again does not make the grant permanent.
    await send(officer, `PUT ${at}/access`, { is_restricted: false, reason: 'No suspicion' })
    expect((await restrict(second, at, [])).json.detail).toContain('Your access ends by itself')
  })
})

describe('a merged case', () => {
  test('has no open request for information', async () => {
    const { t, analyst, officer, send, open, investigation_id, at, findGuards } = await openCase()
    await settleSteps(t, investigation_id)
    const asked = (await send(analyst, `POST ${at}/information-requests`, { addressee: 'Branch', question: 'Which?' }))
      .json
    const into = (await open()).json.investigation_id
    const merge = () => send(officer, `POST ${at}/merge`, { into, note: 'The same' })
    expect(await findGuards(officer, 'merge')).toMatchObject({
      is_permitted: false,
      missing: [{ code: 'information_open', detail: expect.stringContaining('fulfil or withdraw it') }],
    })
    expect(codesOf(await merge())).toEqual(['information_open'])
    const set = `state = 'merged', merged_into = '${into}', merged_by = '${officer.principal}', merged_at = now(), revision = revision + 1`
    const where = `where investigation_id = '${investigation_id}'`
    expect(await writeAs(t.tenant_id, officer.principal, `update app.investigation set ${set} ${where}`)).toBe('PB010')
    await send(analyst, `POST ${at}/information-requests/${asked.request_id}/fulfil`, {})
    expect((await merge()).json.state).toBe('merged')
  })

  test('is not named with the other one in the audit record, which may be restricted later', async () => {
    const { t, analyst, officer, second, send, open, read, investigation_id, at } = await openCase()
    await settleSteps(t, investigation_id)
    const into = (await open()).json.investigation_id
    expect((await send(officer, `POST ${at}/merge`, { into, note: 'The same' })).status).toBe(200)
    const hidden = { is_restricted: true, people: [second.user_id], reason: 'Suspicion' }
    expect((await send(officer, `PUT /investigations/${into}/access`, hidden)).status).toBe(200)
    const listMerging = async (who: Someone) => send(who, 'GET /audit/events?operation=mergeInvestigation')
    const auditor = await w.person(t.tenant_id, ['auditor'])
    expect((await listMerging(auditor)).json.items).toEqual([])
    await send(officer, `PUT /investigations/${into}/access`, { is_restricted: false, reason: 'No suspicion' })
    const { text, json } = await listMerging(auditor)
    expect([json.items.length, text.includes(into), text.includes('merged_into_hash')]).toEqual([1, false, true])
    expect((await read(investigation_id, analyst)).merged_into).toBe(into)
  })

  test('is hidden with the case that goes on with it, also through another one', async () => {
    const { t, analyst, officer, second, send, open, read, investigation_id, at } = await openCase()
    const [between, last] = [(await open()).json.investigation_id, (await open()).json.investigation_id]
    const merge = async (from: string, into: string) => {
      await settleSteps(t, from)
      expect((await send(officer, `POST /investigations/${from}/merge`, { into, note: 'The same' })).status).toBe(200)
    }
    await merge(investigation_id, between)
    await merge(between, last)
    const hide = (is_restricted: boolean) =>
      send(officer, `PUT /investigations/${last}/access`, {
        is_restricted,
        reason: 'Suspicion',
        ...(is_restricted && { people: [second.user_id] }),
      })
    expect((await hide(true)).status).toBe(200)
    for (const place of [at, `${at}/timeline`, `${at}/notes`, `/investigations/${between}`])
      expect((await send(analyst, `GET ${place}`)).status, place).toBe(404)
    const seen = async (who: Someone) => {
      const { text } = await send(who, 'GET /investigations?limit=100')
      return [investigation_id, between, last].filter((id) => text.includes(id))
    }
    expect([await seen(analyst), await seen(second)]).toEqual([[], [investigation_id, between, last]])
    const merged = await read(investigation_id, second)
    expect(merged).toMatchObject({ state: 'merged', merged_into: between, is_restricted: true })
    const { items } = (await send(second, `GET ${at}/access-log`)).json
    expect(items.map(({ object_id }: { object_id: string }) => object_id)).toContain(investigation_id)
    // Whatever is written, it belongs to the case that goes on with it.
    const clear = `update app.investigation set also_restriction_id = null where investigation_id = '${investigation_id}'`
    expect(await writeAs(t.tenant_id, officer.principal, clear)).toBe('done')
    expect((await send(analyst, `GET ${at}`)).status).toBe(404)
    expect((await hide(false)).status).toBe(200)
    expect((await read(investigation_id, analyst)).state).toBe('merged')
  })
})

test('refuses a request for information that is due in the past', async () => {
  const { analyst, send, at } = await openCase()
  const ask = (due_at: string) =>
    send(analyst, `POST ${at}/information-requests`, { addressee: 'Branch', question: 'Which?', due_at })
  const { status, json } = await ask('2020-01-01T00:00:00Z')
  expect([status, json.code, json.detail]).toEqual([409, 'conflict', 'The due date is in the past.'])
  expect((await ask('2100-01-01T00:00:00Z')).status).toBe(201)
})
