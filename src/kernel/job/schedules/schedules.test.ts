import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type JobTestApp, latch, startJobTestApp, waitUntil } from '#test/support/job-test-app.ts'
import { closed, text } from '../../schema.ts'
import { uuidv7 } from '../../uuid.ts'
import { defineJob } from '../define-job.ts'
import { insertSchedule } from './queries.ts'

let ran: string[] = []
let hold: Promise<void> = Promise.resolve()
const testJob = defineJob({
  kind: 'test-job',
  summary: 'Notes that it ran.',
  payload: closed({ name: text(50) }),
  resumes: 'restart',
  run: async (job) => {
    ran.push(job.payload.name)
    await hold
    return null
  },
})

let w: JobTestApp
let tenant: string
beforeAll(async () => {
  w = await startJobTestApp({ jobs: [testJob] })
})
beforeEach(async () => {
  ran = []
  hold = Promise.resolve()
  tenant = await w.makeTenant()
})
afterEach(() => w.clear())
afterAll(() => w.close())

const plan = (name: string, every_s: number, first_in_s = 0, kind = 'test-job', payload: unknown = { name }) =>
  w.inTenant(tenant, (tx) => insertSchedule(tx, { schedule_id: uuidv7(), name, kind, payload, every_s, first_in_s }))

interface Schedule {
  readonly last_job_id: string | null
  readonly is_future: boolean
  readonly steps: number
}
const lookAt = async (name: string, first_at: string): Promise<Schedule> => {
  const row = await w.inTenant(tenant, (tx) =>
    tx.find<Schedule>(
      `select last_job_id, next_run_at > now() as is_future,
              (extract(epoch from next_run_at - $3::timestamptz) / every_s)::float8 as steps
         from app.job_schedule where tenant_id = $1 and name = $2`,
      [tenant, name, first_at],
    ),
  )
  return row as Schedule
}

/** Sets when it was due, and gives that time. */
const dueAgo = async (name: string, ago: string): Promise<string> => {
  const row = await w.inTenant(tenant, (tx) =>
    tx.find<{ next_run_at: string }>(
      `update app.job_schedule set next_run_at = now() - interval '${ago}' where tenant_id = $1 and name = $2 returning next_run_at`,
      [tenant, name],
    ),
  )
  return row?.next_run_at ?? ''
}

describe('schedules', () => {
  test('fire once each, whatever the number of workers', async () => {
    const names = Array.from({ length: 25 }, (_, i) => `s-${i}`)
    for (const name of names) await plan(name, 3600)
    for (let i = 0; i < 3; i++) w.startRunner(3)
    await waitUntil('all have run', () => ran.length >= names.length)
    // A schedule that was started twice would have two jobs, whether or not both have run.
    const jobs = await w.inTenant(tenant, (tx) =>
      tx.query<{ count: number }>(
        `select count(*) as count from app.job where tenant_id = $1 and kind = 'test-job' group by payload`,
        [tenant],
      ),
    )
    expect(jobs.map(({ count }) => count)).toEqual(names.map(() => 1))
    expect(ran.toSorted()).toEqual(names.toSorted())
  })

  test('fire once after a long pause, and keep their interval', async () => {
    await plan('hourly', 3600)
    const first_at = await dueAgo('hourly', '10 hours 20 minutes')
    w.startRunner(1)
    await waitUntil('it has run', () => ran.includes('hourly'))
    expect(await lookAt('hourly', first_at)).toMatchObject({ is_future: true, steps: 11 })
    expect(ran).toEqual(['hourly'])
  })

  test('that are due right now advance by one interval', async () => {
    await plan('secondly', 86_400)
    const first_at = await dueAgo('secondly', '0 s')
    w.startRunner(1)
    await waitUntil('it has run', () => ran.includes('secondly'))
    expect(await lookAt('secondly', first_at)).toMatchObject({ is_future: true, steps: 1 })
  })

  test('start jobs that belong to their restriction', async () => {
    await plan('hidden', 86_400, 3600)
    const restriction_id = uuidv7()
    await w.inTenant(tenant, async (tx) => {
      await tx.run(
        `insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, imposed_at, imposed_by, created_by)
         values ($1, $2, 'x', true, now(), $3, $3)`,
        [tenant, restriction_id, tx.actor],
      )
      await tx.run(
        'update app.job_schedule set restriction_id = $2, next_run_at = now() where tenant_id = $1 and name = $3',
        [tenant, restriction_id, 'hidden'],
      )
    })
    w.startRunner(1)
    await waitUntil('it has run', () => ran.includes('hidden'))
    const jobs = await w.inTenant(tenant, (tx) =>
      tx.query("select restriction_id from app.job where tenant_id = $1 and kind = 'test-job'", [tenant]),
    )
    expect(jobs).toEqual([{ restriction_id }])
  })

  test('do not enqueue another job while their last one is unfinished', async () => {
    const goOn = latch()
    hold = goOn.opened
    await plan('slow', 3600)
    w.startRunner(3)
    await waitUntil('it has started', () => ran.includes('slow'))
    const first_at = await dueAgo('slow', '1 s')
    const before = await lookAt('slow', first_at)
    await waitUntil('it has been looked at again', async () => (await lookAt('slow', first_at)).is_future)
    expect(await lookAt('slow', first_at)).toMatchObject({ last_job_id: before.last_job_id })
    goOn.open()
    await w.ended(tenant, before.last_job_id as string)
    await dueAgo('slow', '1 s')
    await waitUntil('it has run again', () => ran.length === 2)
  })

  test('wait while their tenant is suspended, and then fire once', async () => {
    await plan('waiting', 60)
    await w.setTenantState(tenant, 'suspended')
    const first_at = await dueAgo('waiting', '1 hour')
    const other = tenant
    tenant = await w.makeTenant()
    await plan('elsewhere', 3600)
    w.startRunner(1)
    await waitUntil('the other tenant has been served', () => ran.includes('elsewhere'))
    tenant = other
    expect(ran).not.toContain('waiting')
    expect(await lookAt('waiting', first_at)).toMatchObject({ steps: 0, last_job_id: null })
    await w.setTenantState(tenant, 'active')
    await waitUntil('it has run', () => ran.includes('waiting'))
    expect(ran.filter((name) => name === 'waiting')).toHaveLength(1)
  })

  test('that cannot be started, or are of an unknown kind, do not block others', async () => {
    await plan('unknown', 3600, 0, 'test-from-a-newer-release')
    await plan('broken', 3600, 0, 'test-job', { nonsense: true })
    await dueAgo('broken', '1 hour')
    await plan('sound', 3600)
    const job_id = await w.enqueue(tenant, 'test-job', { name: 'queued' })
    w.startRunner(1)
    await w.ended(tenant, job_id)
    await waitUntil('the sound one has run', () => ran.includes('sound'))
    expect(ran.toSorted()).toEqual(['queued', 'sound'])
  })

  test('are started for a tenant at its limit of unfinished jobs', async () => {
    await w.inTenant(tenant, (tx) =>
      tx.run(`insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ($1, 'heavy', 1, 1)`, [
        tenant,
      ]),
    )
    const goOn = latch()
    hold = goOn.opened
    await w.enqueue(tenant, 'test-job', { name: 'queued' })
    await plan('scheduled', 3600)
    w.startRunner(3)
    await waitUntil('both run at once', () => ran.includes('queued') && ran.includes('scheduled'))
    goOn.open()
  })

  test('that are inserted again keep their time and whether they are enabled', async () => {
    await plan('nightly', 3600, 1800)
    const first_at = await dueAgo('nightly', '-30 minutes')
    await plan('nightly', 7200, 0)
    expect(await lookAt('nightly', first_at)).toMatchObject({ steps: 0, is_future: true })
  })
})
