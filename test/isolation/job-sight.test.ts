/**
 * Jobs that see every row publish nothing of what is hidden: result, progress, revision and events of a run equal those in a tenant
 * without the hidden rows.
 */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { uuidv7 } from '#kernel/uuid.ts'
import { recordClasses } from '#modules/tenant/retention.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { type JobTestApp, startJobTestApp } from '../support/job-test-app.ts'
import { connect } from './support.ts'

/**
 * Kinds whose answers differ, and why. Besides, housekeeping counts no row that a hidden hold keeps although the row itself is not hidden:
 * it was not removed, and `held` names only holds that everybody sees.
 */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'audit-verification': 'The chain has a link for every event, hidden or not, and whoever verifies it counts them.',
}

let w: JobTestApp
let superuser: pg.Client

beforeAll(async () => {
  w = await startJobTestApp()
  superuser = await connect(w.clone.postgres)
  await superuser.query('set session_replication_role = replica')
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

type Variant = 'hidden' | 'absent' | 'visible'

async function listTables(): Promise<string[]> {
  const { rows } = await superuser.query<{ name: string }>(
    `select c.relname::text as name from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'app'::regnamespace and c.relkind = 'r' and a.attname = 'restriction_id'
        and c.relname not like 'restriction%' order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** One old row of each table; those of tables with restrictions are hidden, absent or visible. */
async function createVariant(variant: Variant) {
  const t = await ExampleTenant.create(w)
  await t.write((tx) => tx.run('delete from app.job_schedule where tenant_id = $1', [t.tenant_id]))
  const reader = await w.person(t.tenant_id, ['tenant_admin', 'auditor'])
  await t.insertCanaryRows()
  const rewrite = (text: string, ...values: unknown[]) => superuser.query(text, [t.tenant_id, ...values])
  await rewrite(`update app.job set finished_at = now() - interval '90 days', state = 'succeeded' where tenant_id = $1`)
  await rewrite(`update app.provider_page set received_at = now() - interval '90 days' where tenant_id = $1`)
  await rewrite(`update app.idempotency set expires_at = now() - interval '1 day' where tenant_id = $1`)
  await rewrite(
    `update app.event set occurred_at = now() - interval '90 days', seq = coalesce(seq, 1000000) where tenant_id = $1`,
  )
  // Retention skips held rows whether or not the hold is visible: one hold is on a hidden object, one keeps a hidden payload.
  const held = await rewrite(
    `insert into app.hold_in_force (tenant_id, object_id, hold_id)
     select $1, (select min(payload_id::text)::uuid from app.source_payload_content where tenant_id = $1), hold_id from app.hold where tenant_id = $1
     returning hold_id, object_id`,
  )
  for (const { hold_id, object_id } of held.rows)
    await rewrite('update app.hold set object_id = $3 where tenant_id = $1 and hold_id = $2', hold_id, object_id)
  const restriction = await rewrite('select restriction_id from app.restriction_force where tenant_id = $1 limit 1')
  const { restriction_id } = restriction.rows[0]
  if (variant !== 'visible')
    await rewrite(`update app.idempotency set object_restriction_id = $2 where tenant_id = $1`, restriction_id)
  for (const table of await listTables())
    if (variant === 'hidden')
      await rewrite(`update app.${table} set restriction_id = $2 where tenant_id = $1`, restriction_id)
    else if (variant === 'absent') await rewrite(`delete from app.${table} where tenant_id = $1`)
  if (variant === 'absent') {
    await rewrite('delete from app.hold_in_force where tenant_id = $1')
    await rewrite('delete from app.idempotency where tenant_id = $1')
  }
  // Rows that everybody sees.
  const { subject_id } = await t.make('POST /subjects', { body: { subject_type: 'person', name: 'Erik Sample' } })
  await rewrite('update app.document set subject_id = $2 where tenant_id = $1', subject_id)
  const headers = { 'content-type': 'application/octet-stream' }
  const { upload_id } = await t.make('POST /uploads?file_name=note.txt', { payload: 'A note.', headers })
  await t.make('POST /documents', { body: { upload_id, title: 'Passport' } })
  const classes = recordClasses.flatMap((one) =>
    'executors' in one ? [{ record_class: one.record_class, keep_days: 30, basis: 'Decided.' }] : [],
  )
  await t.make('PUT /tenant/retention-policy', { body: { classes } })
  return { t, reader, subject_id }
}

/** What a reader of the job can see of a run, without ids and times. */
async function runAs({ t, reader, subject_id }: Awaited<ReturnType<typeof createVariant>>, kind: string) {
  const { tenant_id } = t
  const payload: Record<string, unknown> = {}
  if (kind === 'subject-erasure') {
    const erasure_id = uuidv7()
    payload['erasure_id'] = erasure_id
    await superuser.query(
      `insert into app.erasure (tenant_id, erasure_id, subject_id, state, reason, requested_by, confirmed_by, confirmed_at, decision)
       values ($1, $2, $3, 'executing', 'x', 'user:a', 'user:b', now(), '{}')`,
      [tenant_id, erasure_id, subject_id],
    )
  }
  const job_id = await w.enqueue(tenant_id, kind, payload)
  await w.ended(tenant_id, job_id)
  const { json } = await w.call(`GET /jobs/${job_id}`, { token: reader.token })
  const { items } = (await w.call('GET /audit/events?limit=200', { token: reader.token })).json
  const events = items.filter(({ object_id }: { object_id: string }) => object_id === job_id)
  const details = []
  for (const { event_id } of events)
    details.push((await w.call(`GET /audit/events/${event_id}`, { token: reader.token })).json)
  const text = JSON.stringify({ job: json, events: details }, (name, value) =>
    name.endsWith('_at') || name.endsWith('_hash') ? undefined : value,
  )
  return text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '~')
}

describe('a job that sees every row', () => {
  test('publishes what it would in a tenant without the hidden rows', async () => {
    const kinds = [...w.kernel.jobs.kinds.values()].filter(({ sees }) => sees === 'all').map(({ kind }) => kind)
    expect(kinds).toEqual(expect.arrayContaining(['housekeeping', 'document-check', 'subject-erasure']))
    const [hidden, absent, visible] = [
      await createVariant('hidden'),
      await createVariant('absent'),
      await createVariant('visible'),
    ]
    // Not before: what a tenant has scheduled would remove rows first.
    w.startRunner(1)
    const differing: string[] = []
    const noticing: string[] = []
    // An erasure leaves nothing to look at.
    for (const kind of kinds.toSorted()) {
      const [with_rows, without, seen] = [
        await runAs(hidden, kind),
        await runAs(absent, kind),
        await runAs(visible, kind),
      ]
      expect(JSON.parse(without).job.state).toBe('succeeded')
      if (!(kind in EXCEPTIONS)) expect(with_rows).toBe(without)
      if (with_rows !== without) differing.push(kind)
      if (seen !== without) noticing.push(kind)
    }
    expect(differing).toEqual(Object.keys(EXCEPTIONS))
    // The comparison is not of nothing with nothing.
    expect(noticing).toEqual(expect.arrayContaining(['housekeeping', 'document-check']))
  })
})
