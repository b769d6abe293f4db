/** What belongs to a merged case is hidden with every case that it was merged into. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCaseTeam, type Someone, settleSteps } from '#test/support/case-team.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'

let w: JobTestApp

beforeAll(async () => {
  w = await startJobTestApp()
})
afterAll(() => w.close())

const reference = {
  ...{ kind: 'external_reference', reference: 'HRB 17', source: 'Court', obtained_at: '2026-01-02T00:00:00Z' },
}
const SEARCHED = 'Orchid Basin'

/** A case with what belongs to one, merged into a second that was merged into a third. */
async function mergeChain() {
  const team = await createCaseTeam(w)
  const { t, analyst, officer, second, send, open } = team
  const opened = (await open(analyst, { title: SEARCHED })).json
  const { investigation_id, job_id } = opened
  const at = `/investigations/${investigation_id}`
  await settleSteps(t, investigation_id)
  const named = { owner_kind: 'investigation', owner_id: investigation_id }
  const item = await send(analyst, 'POST /evidence', {
    ...named,
    ...reference,
    title: SEARCHED,
  })
  const { task_id } = (await send(analyst, `POST ${at}/tasks`, { title: SEARCHED })).json
  await send(analyst, `PATCH ${at}/tasks/${task_id}`, { state: 'done', result: 'x' })
  await send(analyst, `POST ${at}/notes`, { text: SEARCHED })
  const [between, last] = [(await open()).json.investigation_id, (await open()).json.investigation_id] as string[]
  for (const [from, into] of [
    [investigation_id, between],
    [between, last],
  ]) {
    if (from === between) await settleSteps(t, between as string)
    expect((await send(officer, `POST /investigations/${from}/merge`, { into, note: 'The same' })).status).toBe(200)
  }
  const { restriction_id } = (await send(officer, `GET ${at}/access`)).json
  const hide = async (id: string | undefined, is_restricted: boolean, people: readonly Someone[] = [second]) => {
    const reply = await send(officer, `PUT /investigations/${id}/access`, {
      ...{ is_restricted, reason: 'Suspicion' },
      ...(is_restricted && { people: people.map(({ user_id }) => user_id) }),
    })
    expect([reply.status, reply.json]).toMatchObject([200, { is_restricted }])
  }
  const places = [
    ...['', '/timeline', '/notes', '/tasks', '/steps', '/subjects', '/narrative/versions', '/information-requests'].map(
      (part) => `${at}${part}`,
    ),
    ...[`/evidence/${item.json.evidence_id}`, `/jobs/${job_id}`],
  ]
  const lists = [
    ...[
      '/investigations?limit=100',
      `/evidence?owner_kind=investigation&owner_id=${investigation_id}`,
      '/jobs?limit=100',
    ],
    ...[`/search?q=${encodeURIComponent(SEARCHED)}`, '/events?limit=100', '/work/clocks?limit=100'],
  ]
  const ids = [investigation_id, item.json.evidence_id, job_id, task_id, SEARCHED]
  /** Where something of the first case is shown. */
  const findShown = async (who: Someone) => {
    const shown: string[] = []
    for (const place of places) if ((await send(who, `GET ${place}`)).status !== 404) shown.push(place)
    for (const list of lists) {
      const { text } = await send(who, `GET ${list}`)
      if (ids.some((id) => text.replaceAll(/"(href|next)":"[^"]*"/g, '').includes(id))) shown.push(list)
    }
    return shown
  }
  const auditor = await w.person(t.tenant_id, ['auditor'])
  const countEvents = async () =>
    (await send(auditor, `GET /audit/events?limit=200`)).json.items.filter(({ object_id }: { object_id: string }) =>
      ids.includes(object_id),
    ).length
  return { ...team, investigation_id, between, last, restriction_id, hide, findShown, countEvents, places, lists, item }
}

describe('what belongs to a merged case', () => {
  test('is hidden with each case that it was merged into, and nothing else is', async () => {
    const { t, analyst, officer, second, between, last, hide, findShown, countEvents, item, send } = await mergeChain()
    expect(item.status).toBe(201)
    const before = await findShown(analyst)
    expect(before.length).toBeGreaterThan(12)
    const recorded = await countEvents()
    expect(recorded).toBeGreaterThan(3)
    const open = (
      await send(analyst, 'POST /evidence', {
        ...{ owner_kind: 'investigation', owner_id: last, ...reference, title: 'Open' },
      })
    ).json
    for (const one of [last, between]) {
      await hide(one, true)
      expect([await findShown(analyst), await countEvents()], one).toEqual([[], 0])
      expect([await findShown(second), await findShown(officer)], one).toEqual([before, before])
      expect((await send(analyst, `GET /evidence/${open.evidence_id}`)).status).toBe(one === last ? 404 : 200)
      await hide(one, false)
      expect(await findShown(analyst), one).toEqual(before)
    }
    // Whoever writes: only merging makes such a row, and nothing removes it.
    const forged = `insert into app.restriction_merged (tenant_id, from_id, into_id)
      select tenant_id, into_id, from_id from app.restriction_merged limit 1`
    for (const act of [
      forged,
      'delete from app.restriction_merged',
      'update app.restriction_merged set into_id = into_id',
    ])
      await expect(
        t.write((tx) => tx.run(act)),
        act,
      ).rejects.toMatchObject({ code: 'PB002' })
  })

  test('is seen by whoever may see all that is restricted of the chain, and has a padlock', async () => {
    const { other, second, investigation_id, between, last, hide, findShown, item, send } = await mergeChain()
    await hide(last, true, [second, other])
    await hide(between, true, [second])
    expect([await findShown(other), (await findShown(second)).length > 12]).toEqual([[], true])
    await hide(last, false)
    expect(await findShown(other)).toEqual([])
    await hide(investigation_id, true, [other])
    expect([await findShown(other), await findShown(second)]).toEqual([[], []])
    await hide(investigation_id, false)
    const { json } = await send(second, `GET /evidence/${item.json.evidence_id}`)
    expect(json.restriction_id).toEqual(expect.any(String))
    await hide(between, false)
    expect((await findShown(other)).length).toBeGreaterThan(12)
  })
})

test('reports of a match meet no alert that a merged case hides', async () => {
  const { t, analyst, officer, second, send, open } = await createCaseTeam(w)
  const report = async (who: Someone, subject_id: string) =>
    (
      await send(who, 'POST /alerts', {
        source: 'desk',
        dedup_key: 'same',
        title: 'x',
        priority: 'high',
        facts: [],
        subject_id,
      })
    ).json
  const { subject_id } = (await send(analyst, 'POST /subjects', { subject_type: 'person', name: 'Kim Test' })).json
  const { alert_id } = await report(analyst, subject_id)
  const escalated = await send(officer, `POST /alerts/${alert_id}/escalate`, { note: 'x' })
  const merged = escalated.json.investigation_id as string
  const into = (await open()).json.investigation_id as string
  await settleSteps(t, merged)
  expect((await send(officer, `POST /investigations/${merged}/merge`, { into, note: 'x' })).status).toBe(200)
  const access = { is_restricted: true, reason: 'x', people: [second.user_id] }
  expect((await send(officer, `PUT /investigations/${into}/access`, access)).status).toBe(200)
  expect((await send(analyst, `GET /alerts/${alert_id}`)).status).toBe(404)
  const again = await report(analyst, subject_id)
  expect(again).toMatchObject({ outcome: 'opened', occurrences: 1, previous_alert_id: null })
  expect(again.alert_id).not.toBe(alert_id)
})
