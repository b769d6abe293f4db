/** Recurring batches: each due time starts one batch, however late and by however many workers, or records why not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { buildMatrix, newPolicy, publishMatrix } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { waitUntil } from '#test/support/job-test-app.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { buildSchedule, newSchedule } from '../fixtures.ts'
import { runIfDue } from './schedules.ts'

interface Run {
  readonly due_at: string | null
  readonly outcome: string
  readonly batch_id: string | null
  readonly skipped: string | null
  readonly detail: string | null
}

const PATH = '/batch-evaluations/schedules'
let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

const get = (schedule_id: string) => t.make(`GET ${PATH}/${schedule_id}`)
const listRuns = async (schedule_id: string): Promise<Run[]> => (await t.make(`GET ${PATH}/${schedule_id}/runs`)).items
const getState = async (batch_id: string) => (await t.make(`GET /batch-evaluations/${batch_id}`)).state as string
const post = async (more: object) => {
  const { status, json } = await w.call(`POST ${PATH}`, {
    token: await t.token(),
    body: { ...(await buildSchedule(t)), ...more },
  })
  return { status, code: json.code, errors: json.errors as { pointer: string; keyword: string }[] | undefined }
}

/** Moves the due time into the past and returns it. */
const makeDue = (schedule_id: string, ago = '1 minute'): Promise<string> =>
  t.write(async (tx) => {
    const row = await tx.find<{ next_run_at: string }>(
      `update app.batch_schedule set next_run_at = now() - $3::interval where tenant_id = $1 and schedule_id = $2 returning next_run_at`,
      [tx.tenant_id, schedule_id, ago],
    )
    await tx.run('update app.job_schedule set next_run_at = now() where tenant_id = $1 and schedule_id = $2', [
      tx.tenant_id,
      schedule_id,
    ])
    return row?.next_run_at as string
  })

/** Runs workers until the schedule has that many runs and all its batches have ended. */
async function runWorkers(schedule_id: string, runs: number, workers = 1): Promise<Run[]> {
  const runners = Array.from({ length: workers }, () => w.runtime.createRunner(2, { poll_ms: 20 }))
  for (const runner of runners) runner.start()
  try {
    return await waitUntil(`there are ${runs} runs`, async () => {
      const found = await listRuns(schedule_id)
      const states = await Promise.all(found.flatMap(({ batch_id }) => (batch_id === null ? [] : [getState(batch_id)])))
      return found.length >= runs && !states.some((state) => state === 'queued' || state === 'running') && found
    })
  } finally {
    await Promise.all(runners.map((runner) => runner.stop(5000)))
  }
}

/** Handles one due time in its own transaction. */
const handleDueTime = (schedule_id: string) =>
  w.kernel.transactions.write(fullScope(t.tenant_id, `job:${uuidv7()}`), (tx) => runIfDue(w.kernel, tx, schedule_id))

describe('a schedule', () => {
  test('is created, read with its next run, listed, changed and deleted', async () => {
    const body = { ...(await buildSchedule(t)), cron: '30 6 * * MON', note: 'weekly' }
    const made = await t.make(`POST ${PATH}`, { body })
    expect(made).toMatchObject({
      ...{ name: body.name, family: 'matrix', definition_key: body.matrix_key, filter: body.filter, note: 'weekly' },
      ...{ cron: '30 6 * * MON', time_zone: 'Europe/Berlin', paused: false, last_run: null, last_batch_id: null },
      revision: 1,
    })
    const next = new Date(made.next_run_at)
    expect([next.getUTCDay(), next.getUTCMinutes(), next > new Date(made.created_at)]).toEqual([1, 30, true])
    expect(await get(made.schedule_id)).toEqual(made)
    expect((await t.make(`GET ${PATH}?limit=200`)).items).toContainEqual(made)

    const changed = await t.make(`PATCH ${PATH}/${made.schedule_id}`, { body: { note: null, time_zone: 'UTC' } })
    expect(changed).toMatchObject({ note: null, time_zone: 'UTC', cron: '30 6 * * MON', revision: 2 })
    expect(new Date(changed.next_run_at).getUTCHours()).toBe(6)

    await t.make(`DELETE ${PATH}/${made.schedule_id}`)
    expect((await w.call(`GET ${PATH}/${made.schedule_id}`, { token: await t.token() })).status).toBe(404)
    const left = await t.write((tx) =>
      tx.query('select 1 from app.job_schedule where tenant_id = $1 and schedule_id = $2', [
        tx.tenant_id,
        made.schedule_id,
      ]),
    )
    expect(left).toEqual([])
  })

  test.each<[string, object, string, string]>([
    ['times that cannot be read', { cron: '0 25 * * *' }, '#/cron', 'cron'],
    ['times that never come', { cron: '0 0 31 4 *' }, '#/cron', 'cron'],
    ['times that come too often', { cron: '* * * * *' }, '#/cron', 'cron'],
    ['an unknown zone', { time_zone: 'Europe/Atlantis' }, '#/time_zone', 'time_zone'],
    ['an unknown matrix', { matrix_key: 'nobody-has-this' }, '#/matrix_key', 'definition_missing'],
    ['a matrix and a rule', { rule_key: 'some-rule' }, '#', 'definition_unclear'],
  ])('is refused with %s, with a pointer', async (_title, more, pointer, keyword) => {
    expect(await post(more)).toEqual({
      status: 409,
      code: 'schedule_invalid',
      errors: [expect.objectContaining({ in: 'body', pointer, keyword })],
    })
  })

  test('returns 409 when the name is taken', async () => {
    const name = `Twin ${uuidv7()}`
    expect((await post({ name })).status).toBe(201)
    expect(await post({ name })).toMatchObject({ status: 409, code: 'duplicate' })
  })

  test('has no next run while paused, and continues with the first future time', async () => {
    const schedule_id = await newSchedule(t)
    const due = await makeDue(schedule_id, '3 days')
    const paused = await t.make(`PATCH ${PATH}/${schedule_id}`, { body: { paused: true } })
    expect(paused).toMatchObject({ paused: true, next_run_at: null })
    expect(await handleDueTime(schedule_id)).toBeNull()
    const again = await t.make(`PATCH ${PATH}/${schedule_id}`, { body: { paused: false } })
    expect(Date.parse(again.next_run_at)).toBeGreaterThan(Date.parse(due) + 3 * 86_400_000)
    expect(await handleDueTime(schedule_id)).toBeNull()
    expect(await listRuns(schedule_id)).toEqual([])
  })

  test('is refused beyond the limit of the tenant', async () => {
    const full = await ExampleTenant.create(w)
    const body = await buildSchedule(full)
    await full.write((tx) =>
      tx.run(
        `insert into app.batch_schedule (tenant_id, schedule_id, name, family, definition_key, filter, cron, time_zone, paused, created_by, updated_by)
         select $1, gen_random_uuid(), 'n ' || n, 'matrix', 'any', '{}', '0 0 * * *', 'UTC', true, $2, $2 from generate_series(1, 99) n`,
        [tx.tenant_id, tx.actor],
      ),
    )
    await full.make(`POST ${PATH}`, { body })
    const refused = await w.call(`POST ${PATH}`, { token: await full.token(), body: { ...body, name: 'one more' } })
    expect([refused.status, refused.json.code]).toEqual([409, 'conflict'])
  })
})

describe('a due time', () => {
  test('starts one batch, however many workers run', async () => {
    const segment = `segment-${uuidv7()}`
    const body = { subject_type: 'person', name: 'Ada', segment, attributes: { country: 'IR' } }
    const { subject_id } = await t.make('POST /subjects', { body })
    const ids = await Promise.all([1, 2, 3].map(() => newSchedule(t, { filter: { segment }, note: segment })))
    const due = await Promise.all(ids.map((id) => makeDue(id)))
    for (const [n, id] of ids.entries()) {
      const runs = await runWorkers(id, 1, 3)
      expect(runs).toEqual([expect.objectContaining({ due_at: due[n], outcome: 'started', skipped: null })])
    }
    const batches = (await t.make('GET /batch-evaluations?limit=200')).items as { note: string; batch_id: string }[]
    const own = batches.filter(({ note }) => note === segment)
    expect(own).toHaveLength(3)
    for (const { batch_id } of own) {
      const batch = await t.make(`GET /batch-evaluations/${batch_id}`)
      expect(batch).toMatchObject({ state: 'succeeded', source: { kind: 'filter', filter: { segment } } })
      expect(batch.counts).toEqual({ total: 1, done: 1, failed: 0 })
    }
    expect((await t.make(`GET /subjects/${subject_id}/risk`)).rating).toMatchObject({ cause: 'batch', band: 'high' })
    const [first] = ids as [string]
    const after = await get(first)
    expect(after).toMatchObject({ last_run: { due_at: due[0] }, revision: 2 })
    expect(after.last_batch_id).toBe(after.last_run.batch_id)
    expect(Date.parse(after.next_run_at)).toBeGreaterThan(Date.parse(after.last_run.recorded_at))
    const woken = await t.write((tx) =>
      tx.find('select next_run_at from app.job_schedule where tenant_id = $1 and schedule_id = $2', [
        tx.tenant_id,
        first,
      ]),
    )
    expect(woken).toEqual({ next_run_at: after.next_run_at })
  })

  test('is handled once by concurrent workers', async () => {
    const schedule_id = await newSchedule(t)
    const due = await makeDue(schedule_id)
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => handleDueTime(schedule_id)))
    expect(outcomes.filter((outcome) => outcome !== null)).toEqual([expect.objectContaining({ due_at: due })])
    expect(await listRuns(schedule_id)).toHaveLength(1)
  })

  test('gets one run when several were missed', async () => {
    const schedule_id = await newSchedule(t, { cron: '0 0 1 1 *' })
    const due = await makeDue(schedule_id, '1000 days')
    expect(await runWorkers(schedule_id, 1)).toEqual([expect.objectContaining({ due_at: due, outcome: 'started' })])
    expect(await handleDueTime(schedule_id)).toBeNull()
    const { next_run_at, last_run } = await get(schedule_id)
    const wait_days = (Date.parse(next_run_at) - Date.parse(last_run.recorded_at)) / 86_400_000
    expect(wait_days > 0 && wait_days <= 366).toBe(true)
  })

  test('is handled once by another worker when the first one dies before its commit', async () => {
    const schedule_id = await newSchedule(t)
    const due = await makeDue(schedule_id)
    const scope = fullScope(t.tenant_id, `job:${uuidv7()}`)
    const died = w.kernel.transactions.write(scope, async (tx) => {
      await runIfDue(w.kernel, tx, schedule_id)
      throw new Error('killed')
    })
    await expect(died).rejects.toThrow('killed')
    expect(await get(schedule_id)).toMatchObject({ next_run_at: due, last_run: null, last_batch_id: null })
    expect(await runWorkers(schedule_id, 1)).toEqual([expect.objectContaining({ due_at: due, outcome: 'started' })])
  })

  test('is tried again within a minute when its job failed', async () => {
    const schedule_id = await newSchedule(t)
    const due = await makeDue(schedule_id)
    const setZone = (zone: string) =>
      t.write((tx) =>
        tx.run('update app.batch_schedule set time_zone = $3 where tenant_id = $1 and schedule_id = $2', [
          tx.tenant_id,
          schedule_id,
          zone,
        ]),
      )
    // As if a newer release than that of the worker had written it.
    await setZone('Europe/Atlantis')
    const job = await t.write((tx) => w.kernel.jobs.enqueue(tx, { kind: 'scheduled-batch', payload: { schedule_id } }))
    expect(await t.runToEnd(job)).toMatchObject({ state: 'failed', problem: { code: 'schedule_invalid' } })
    expect(await listRuns(schedule_id)).toEqual([])
    const { ahead_s } = (await t.write((tx) =>
      tx.find<{ ahead_s: number }>(
        `select extract(epoch from next_run_at - now())::float8 as ahead_s from app.job_schedule
          where tenant_id = $1 and schedule_id = $2 and enabled`,
        [tx.tenant_id, schedule_id],
      ),
    )) as { ahead_s: number }
    expect(ahead_s).toBeLessThanOrEqual(60)
    await setZone('UTC')
    expect(await handleDueTime(schedule_id)).toMatchObject({ due_at: due, skipped: null })
  })

  test('uses the versions in force at that time', async () => {
    const policy = await newPolicy(t)
    const schedule_id = await newSchedule(t, { matrix_key: policy.matrix_key })
    const decidingVersion = async () => {
      await makeDue(schedule_id)
      await handleDueTime(schedule_id)
      const { last_batch_id } = await get(schedule_id)
      await t.make(`POST /batch-evaluations/${last_batch_id}/cancel`)
      return (await t.make(`GET /batch-evaluations/${last_batch_id}`)).definition_version
    }
    expect(await decidingVersion()).toBe(1)
    const { triggers: _, ...definition } = buildMatrix(policy)
    await t.make(`POST /risk-matrices/${policy.matrix_key}/versions`, {
      body: { definition: { ...definition, triggers: [] } },
    })
    expect(await decidingVersion()).toBe(1)
    await publishMatrix(t, policy.matrix_key)
    expect(await decidingVersion()).toBe(2)
  })

  test('is handled although the tenant has reached its limit of unfinished jobs', async () => {
    const busy = await ExampleTenant.create(w)
    const schedule_id = await newSchedule(busy)
    await busy.write(async (tx) => {
      await tx.run(`update app.tenant_limit set burst = 1 where tenant_id = $1 and bucket = 'heavy'`, [tx.tenant_id])
      await tx.run(`update app.batch_schedule set next_run_at = now() where tenant_id = $1`, [tx.tenant_id])
      await w.kernel.jobs.enqueue(tx, { kind: 'batch-evaluation', payload: { batch_id: uuidv7() } })
    })
    const scope = fullScope(busy.tenant_id, `job:${uuidv7()}`)
    const outcome = await w.kernel.transactions.write(scope, (tx) => runIfDue(w.kernel, tx, schedule_id))
    expect(outcome).toMatchObject({ skipped: null, batch_id: expect.any(String) })
  })
})

describe('a run is skipped with a reason', () => {
  test('while the previous batch has not ended', async () => {
    const schedule_id = await newSchedule(t)
    await makeDue(schedule_id, '2 hours')
    const first = await handleDueTime(schedule_id)
    await makeDue(schedule_id, '1 hour')
    await handleDueTime(schedule_id)
    const [skipped, started] = (await listRuns(schedule_id)) as [Run, Run]
    expect(started).toMatchObject({ outcome: 'started', batch_id: first?.['batch_id'] })
    expect(skipped).toMatchObject({ outcome: 'skipped', batch_id: null, skipped: 'previous_running' })
    expect(skipped.detail).toContain('queued')
    expect(await get(schedule_id)).toMatchObject({
      last_run: { skipped: 'previous_running' },
      last_batch_id: started.batch_id,
    })
    await t.make(`POST /batch-evaluations/${started.batch_id}/cancel`)
    await makeDue(schedule_id)
    expect(await handleDueTime(schedule_id)).toMatchObject({ skipped: null })
  })

  test('when no version is in force', async () => {
    const matrix_key = `draft-${uuidv7()}`
    await t.make('POST /risk-matrices', { body: { matrix_key, title: 'Not yet', definition: {} } })
    const schedule_id = await newSchedule(t, { matrix_key })
    await makeDue(schedule_id)
    await handleDueTime(schedule_id)
    const [run] = await listRuns(schedule_id)
    expect(run).toMatchObject({ outcome: 'skipped', batch_id: null, skipped: 'nothing_in_force' })
    const { next_run_at, last_run } = await get(schedule_id)
    expect(Date.parse(next_run_at)).toBeGreaterThan(Date.parse(last_run.recorded_at))
  })
})

describe('starting a schedule now', () => {
  test('runs independent of its due times, unless its batch is running', async () => {
    const schedule_id = await newSchedule(t)
    const { next_run_at } = await get(schedule_id)
    const job = await t.make(`POST ${PATH}/${schedule_id}/run`)
    const again = await w.call(`POST ${PATH}/${schedule_id}/run`, { token: await t.token() })
    expect([again.status, again.json.code]).toEqual([409, 'transition_not_allowed'])
    await t.runToEnd(job)
    const [run] = await listRuns(schedule_id)
    expect(run).toMatchObject({ due_at: null, outcome: 'started', recorded_by: t.caller })
    expect(job.resource).toBe(`/api/batch-evaluations/${run?.batch_id}`)
    expect(await get(schedule_id)).toMatchObject({ next_run_at, last_batch_id: run?.batch_id })
    await t.runToEnd(await t.make(`POST ${PATH}/${schedule_id}/run`))
    expect(await listRuns(schedule_id)).toHaveLength(2)
  })
})

describe('approval', () => {
  test('is needed to create, change and delete; a run in between does not make a proposal void', async () => {
    const four = await ExampleTenant.create(w)
    const body = await buildSchedule(four)
    const schedule_id = await newSchedule(four)
    await four.setApprovalRules([{ action: 'batch-schedules', approvers: 1, role: 'compliance_officer' }])
    const author = await four.token(undefined, four.author)
    const propose = async (at: string, proposed?: object) => {
      const { status, json } = await w.call(at, { token: author, ...(proposed && { body: proposed }) })
      expect(status).toBe(202)
      return json.cr_id as string
    }
    const asked = [
      await propose(`POST ${PATH}`, body),
      await propose(`PATCH ${PATH}/${schedule_id}`, { note: 'approved' }),
    ]
    expect((await four.make(`GET ${PATH}`)).items).toHaveLength(1)
    await four.make(`POST ${PATH}/${schedule_id}/run`)
    for (const cr_id of asked) await four.make(`POST /change-requests/${cr_id}/approve`, { body: {} })
    const { items } = await four.make(`GET ${PATH}`)
    expect(items.map(({ note }: { note: string | null }) => note)).toEqual(['approved', null])

    const removal = await propose(`DELETE ${PATH}/${schedule_id}`)
    await four.make(`POST /change-requests/${removal}/approve`, { body: {} })
    expect((await four.make(`GET ${PATH}`)).items).toHaveLength(1)
  })
})
