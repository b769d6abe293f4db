/**
 * The demonstration kinds of long work, with the table their effects go to, for the job suites and acceptance runs. Not
 * part of the product: tests that need it add the table and pass the kinds.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { everyone } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import { JobView } from '#kernel/job/schema.ts'
import type { Module } from '#kernel/module.ts'
import { fail } from '#kernel/problem.ts'
import { closed, integer, Type } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'

/** No key on (job, number): an effect that happens twice shall be seen, not refused. */
const effectTable = `
  create table app.demo_effect (
    tenant_id uuid not null,
    effect_id uuid not null,
    job_id    uuid not null,
    number    bigint not null,
    attempt   bigint not null,
    constraint demo_effect_pkey primary key (tenant_id, effect_id)
  );
  select app.wall('app.demo_effect', 'tenant')`

/** `migrator` is a connection of that role to the database that is to have the table. */
export async function createEffectTable(migrator: pg.ClientConfig): Promise<void> {
  const client = new pg.Client(migrator)
  await client.connect()
  try {
    await client.query(`begin; set local role app_owner; ${effectTable}; commit`)
  } finally {
    await client.end()
  }
}

export const insertEffect = (tx: Tx, job: Pick<JobContext, 'job_id' | 'attempt'>, number: number) =>
  tx.run('insert into app.demo_effect (tenant_id, effect_id, job_id, number, attempt) values ($1, $2, $3, $4, $5)', [
    tx.tenant_id,
    uuidv7(),
    job.job_id,
    number,
    job.attempt,
  ])

/** The numbers a job has written, in order; each is there once if every effect happened once. */
export async function listEffects(tx: Tx, job_id: string): Promise<number[]> {
  const rows = await tx.query<{ number: number }>(
    'select number from app.demo_effect where tenant_id = $1 and job_id = $2 order by number',
    [tx.tenant_id, job_id],
  )
  return rows.map(({ number }) => number)
}

const Pace = integer(0, 60_000, { description: 'Pause before each effect.' })

/** Writes the numbers 1 to `upto`, one in each step, and goes on where the last committed step left off. */
export const countJob = defineJob({
  kind: 'demo-count',
  summary: 'Counts, a number a step.',
  payload: closed({ upto: integer(0, 1000), pause_ms: Pace }),
  resumes: 'checkpoint',
  // Acceptance runs kill workers many times; five deaths of the same job must not fail it.
  max_attempts: 50,
  run: async (job: JobContext<{ upto: number; pause_ms: number }, { number: number }>) => {
    const { upto, pause_ms } = job.payload
    for (let number = (job.checkpoint?.number ?? 0) + 1; number <= upto; number++) {
      await sleep(pause_ms, undefined, { signal: job.signal })
      await job.step(async (tx) => {
        await insertEffect(tx, job, number)
        return { checkpoint: { number }, progress: { done: number, total: upto, unit: 'numbers' } }
      })
    }
    return { counted: upto }
  },
})

/** Writes the number 1 together with its end, and begins again when it is interrupted. */
export const singleEffectJob = defineJob({
  kind: 'demo-stamp',
  summary: 'One effect, at the very end.',
  payload: closed({ pause_ms: Pace }),
  resumes: 'restart',
  max_attempts: 50,
  run: async (job) => {
    await sleep(job.payload.pause_ms, undefined, { signal: job.signal })
    await job.finish(async (tx) => {
      await insertEffect(tx, job, 1)
      return { stamped: true }
    })
    return null
  },
})

export const demoJobs = [countJob, singleEffectJob]

/** A router that starts the demonstration, so that long work can be followed from its request on. */
export const demoModule: Module = {
  name: 'demos',
  segments: ['demos'],
  tier: 'views',
  summary: 'Starts demonstration jobs.',
  routes: [
    tenantRoute('POST /demos', {
      id: 'startDemo',
      summary: 'Count in the background',
      roles: everyone,
      tx: 'write',
      uses: ['jobs'],
      body: closed({ upto: integer(0, 1000), refuse: Type.Optional(Type.Boolean()) }),
      reply: [202, JobView],
      starts: 'demo-count',
      problems: ['conflict'],
    }).handle(async ({ tx, body, kernel }) => {
      const payload = { upto: body.upto, pause_ms: 0 }
      const job = await kernel.jobs.enqueue(tx, { kind: 'demo-count', payload, total: body.upto, unit: 'numbers' })
      return body.refuse ? fail('conflict', 'Refused after the job was put in the queue.') : job
    }),
  ],
  jobs: demoJobs,
  canary: async () => {},
}
