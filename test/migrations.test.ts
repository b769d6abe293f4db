/** What migrations do to data that is there already. */
import path from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { migrate, readMigrations } from '#kernel/database/migrations.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { projectRoot } from './support/database.ts'
import { createEmptyDatabase } from './support/empty-database.ts'

test('the migration cleans upload names and removes unused classes from retention policies', async () => {
  const database = await createEmptyDatabase('clean_upload_names_and_retention_policies')
  const client = new pg.Client(database.postgres)
  await client.connect()
  try {
    const ids = ['a', 'b'].map((letter) => `019a0000-0000-7000-8000-00000000000${letter}`)
    const kept = [{ record_class: 'jobs', keep_days: 7, basis: 'x' }]
    const policies = [
      [
        ...kept,
        { record_class: 'provider-payloads', keep_days: 1827, basis: 'x' },
        { record_class: 'audit', keep_days: 365, basis: 'x' },
      ],
      kept,
    ]
    await client.query(`set app.actor = 'operator:test'`)
    for (const [index, tenant_id] of ids.entries()) {
      await client.query(`insert into app.tenant (tenant_id, slug, name) values ($1, $2, 'T')`, [
        tenant_id,
        `t${index}`,
      ])
      await client.query(
        `insert into app.retention_policy (tenant_id, classes, updated_by) values ($1, $2, 'user:1')`,
        [tenant_id, JSON.stringify(policies[index])],
      )
      await client.query(
        `insert into app.upload (tenant_id, upload_id, state, file_name, media_type, created_by, expires_at)
         values ($1, $1, 'receiving', $2, 'application/octet-stream', 'user:1', now())`,
        [tenant_id, index === 0 ? '../x\u202efdp.exe' : 'good.csv'],
      )
    }
    await migrate(database.migrator, readMigrations(path.join(projectRoot, 'db/migrations')))
    const stored = await client.query(
      'select classes, revision::int, updated_by from app.retention_policy order by tenant_id',
    )
    expect(stored.rows).toEqual([
      {
        classes: [...kept, { record_class: 'audit', keep_days: null, basis: 'x' }],
        revision: 2,
        updated_by: 'operator:migrate',
      },
      { classes: kept, revision: 1, updated_by: 'user:1' },
    ])
    const names = await client.query('select file_name from app.upload order by tenant_id')
    expect(names.rows).toEqual([{ file_name: 'xfdp.exe' }, { file_name: 'good.csv' }])
    const forced = await client.query(
      `select relname from pg_class where oid = any (array['app.upload', 'app.retention_policy', 'app.dataset_import', 'app.subject_bulk']::regclass[])
         and not (relrowsecurity and relforcerowsecurity)`,
    )
    expect(forced.rows).toEqual([])
  } finally {
    await client.end()
    await database.drop()
  }
})

test('migrations end steps that a merge left running, and hide schedules of reports with their cases', async () => {
  const database = await createEmptyDatabase('end_every_case')
  const client = new pg.Client(database.postgres)
  await client.connect()
  try {
    const [tenant_id, restriction_id, subject_id] = [uuidv7(), uuidv7(), uuidv7()]
    // Only a state that the guards of today refuse: written without them.
    await client.query('set session_replication_role = replica')
    await client.query(`insert into app.tenant (tenant_id, slug, name) values ($1, 't', 'T')`, [tenant_id])
    const cases = { open: uuidv7(), merged: uuidv7() }
    for (const [state, id] of Object.entries(cases)) {
      const into = state === 'merged' ? { id: cases.open, by: 'user:1', at: new Date() } : null
      await client.query(
        `insert into app.investigation (tenant_id, investigation_id, reference, subject_id, playbook_key, playbook_origin, playbook_version, playbook_hash,
           title, priority, origin, state, gathering, merged_into, merged_by, merged_at, restriction_id, created_by, updated_by)
         values ($1, $2, $9, $4, $3, 'own', 1, repeat('a', 64), 'x', 'low', 'request', $3, 'running', $5, $6, $7, $8, 'user:1', 'user:1')`,
        [
          tenant_id,
          id,
          state,
          subject_id,
          into?.id ?? null,
          into?.by ?? null,
          into?.at ?? null,
          restriction_id,
          `INV-0000-000${state.length}`,
        ],
      )
      await client.query(
        `insert into app.investigation_step (tenant_id, investigation_id, step_key, position, kind, origin, is_required, definition, state, started_at, updated_by)
         values ($1, $2, 'ask', 1, 'task', 'playbook', true, '{}', 'running', now(), 'user:1')`,
        [tenant_id, id],
      )
    }
    await client.query(
      `insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, created_by) values ($1, $2, 'x', false, 'user:1')`,
      [tenant_id, restriction_id],
    )
    const schedules = [
      ['investigation-pack', { investigation_id: cases.open }],
      ['programme-overview', { days: 7 }],
    ] as const
    for (const [template, parameters] of schedules) {
      const id = uuidv7()
      const values = [tenant_id, id, template]
      await client.query(
        `insert into app.report_schedule (tenant_id, schedule_id, name, template_key, parameters, formats, locale, cron, time_zone, paused, created_by, updated_by)
         values ($1, $2, $3, $3, $4, '{json}', 'en-GB', '0 6 * * *', 'UTC', true, 'user:1', 'user:1')`,
        [...values, JSON.stringify(parameters)],
      )
      await client.query(
        `insert into app.job_schedule (tenant_id, schedule_id, name, kind, payload, every_s, next_run_at)
         values ($1, $2, $3, 'scheduled-report', '{}', 60, now())`,
        values,
      )
      await client.query(
        `insert into app.job (tenant_id, job_id, kind, state, payload, resource, finished_at, max_attempts, created_by)
         values ($1, $2, 'scheduled-report', 'succeeded', jsonb_build_object('schedule_id', $2::uuid), $3, now(), 5, 'job:1')`,
        values,
      )
    }
    await client.query('set session_replication_role = origin')
    await migrate(database.migrator, readMigrations(path.join(projectRoot, 'db/migrations')))
    const { rows } = await client.query(
      `select i.state as of, i.gathering, s.state, s.problem ->> 'code' as code, s.revision::int from app.investigation i
         join app.investigation_step s using (tenant_id, investigation_id) order by 1`,
    )
    expect(rows).toEqual([
      { of: 'merged', gathering: 'partial', state: 'failed', code: 'cancelled', revision: 2 },
      { of: 'open', gathering: 'running', state: 'running', code: null, revision: 1 },
    ])
    const restricted = await client.query(
      `select r.template_key, array[r.restriction_id, s.restriction_id, j.restriction_id]::text[] as all from app.report_schedule r
         join app.job_schedule s using (tenant_id, schedule_id) join app.job j on j.job_id = r.schedule_id order by 1`,
    )
    expect(restricted.rows).toEqual([
      { template_key: 'investigation-pack', all: [restriction_id, restriction_id, restriction_id] },
      { template_key: 'programme-overview', all: [null, null, null] },
    ])
  } finally {
    await client.end()
    await database.drop()
  }
})
