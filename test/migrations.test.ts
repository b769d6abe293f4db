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

test('the migration gives events of evidence that were recorded before the restriction of its object', async () => {
  const database = await createEmptyDatabase('add_second_restrictions')
  const client = new pg.Client(database.postgres)
  await client.connect()
  try {
    const tenant_id = uuidv7()
    const [of_case, of_document, of_call] = [uuidv7(), uuidv7(), uuidv7()]
    const [investigation_id, document_id, call_id] = [uuidv7(), uuidv7(), uuidv7()]
    await client.query('set session_replication_role = replica')
    await client.query(`insert into app.tenant (tenant_id, slug, name) values ($1, 't', 'T')`, [tenant_id])
    for (const id of [of_case, of_document, of_call])
      await client.query(
        `insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, created_by) values ($1, $2, 'x', false, 'user:1')`,
        [tenant_id, id],
      )
    await client.query(
      `insert into app.document (tenant_id, document_id, title, file_name, media_type, size_bytes, state, restriction_id, created_by, updated_by)
       values ($1, $2, 'x', 'x.txt', 'text/plain', 6, 'failed', $3, 'user:1', 'user:1')`,
      [tenant_id, document_id, of_document],
    )
    await client.query(
      `insert into app.provider_call (tenant_id, call_id, call_key, provider_key, provider_origin, provider_version, capability, promise, mode,
         environment, input, input_hash, idempotency_key, restriction_id, created_by)
       values ($1, $2, 'x', 'x', 'own', 1, 'x', 'free', 'fixtures', 'test', '\\x00', repeat('a', 64), $2, $3, 'user:1')`,
      [tenant_id, call_id, of_call],
    )
    const items = { document: uuidv7(), provider_call: uuidv7(), own: uuidv7() }
    const objects = [
      [items.document, 'document', document_id, of_case],
      [items.provider_call, 'provider_call', call_id, of_case],
      // It has taken the restriction of its object.
      [items.own, 'document', document_id, of_document],
    ]
    for (const [evidence_id, kind, object_id, restriction_id] of objects)
      await client.query(
        `insert into app.evidence_item (tenant_id, evidence_id, restriction_id, owner_kind, owner_id, kind, object_id, title, source,
           content_hash, obtained_at, added_by, detached_at, detached_by, detach_reason)
         values ($1, $2, $3, 'investigation', $4, $5, $6, 'x', 'x', repeat('a', 64), now(), 'user:1', now(), 'user:1', 'x')`,
        [tenant_id, evidence_id, restriction_id, investigation_id, kind, object_id],
      )
    await client.query(
      `insert into app.investigation_request (tenant_id, investigation_id, request_id, addressee, question, state, evidence_id, asked_by, ended_at, ended_by)
       values ($1, $2, $2, 'x', 'x', 'fulfilled', $3, 'user:1', now(), 'user:1')`,
      [tenant_id, investigation_id, items.document],
    )
    const record = async (
      operation: string,
      [type, id]: [string, string],
      restriction_id: string,
      detail: object = {},
    ) => {
      const event_id = uuidv7()
      await client.query(
        `insert into app.audit_event (tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, detail, mac, restriction_id)
         values ($1, $2, now(), 'user:1', $3, $4, $5, $6, 'x', $7)`,
        [tenant_id, event_id, operation, type, id, JSON.stringify(detail), restriction_id],
      )
    }
    const named = { diff: [{ member: 'evidence_id', before: null, after: items.document }] }
    await record('attachEvidence', ['evidence', items.document], of_case)
    await record('detachEvidence', ['evidence', items.provider_call], of_case)
    await record('createEvidence', ['evidence', items.own], of_document)
    await record('fulfilInformationRequest', ['investigations', investigation_id], of_case, named)
    await record('getInvestigation', ['investigations', investigation_id], of_case)
    await client.query('set session_replication_role = origin')
    await migrate(database.migrator, readMigrations(path.join(projectRoot, 'db/migrations')))
    const { rows } = await client.query(
      `select e.operation, e.also_restriction_id as also, r.restriction_id as logged
         from app.audit_event e left join app.restriction_event r using (tenant_id, event_id) order by e.event_id`,
    )
    expect(rows).toEqual([
      { operation: 'attachEvidence', also: of_document, logged: of_document },
      { operation: 'detachEvidence', also: of_call, logged: of_call },
      { operation: 'createEvidence', also: null, logged: null },
      { operation: 'fulfilInformationRequest', also: of_document, logged: of_document },
      { operation: 'getInvestigation', also: null, logged: null },
    ])
  } finally {
    await client.end()
    await database.drop()
  }
})

test('the migrations hide past links of alerts with the alert, and remove what plugins threw', async () => {
  const database = await createEmptyDatabase('remove_thrown_texts')
  const client = new pg.Client(database.postgres)
  await client.connect()
  try {
    const tenant_id = uuidv7()
    const [of_case, of_first, of_second] = [uuidv7(), uuidv7(), uuidv7()]
    const [investigation_id, first, second] = [uuidv7(), uuidv7(), uuidv7()]
    await client.query('set session_replication_role = replica')
    await client.query(`insert into app.tenant (tenant_id, slug, name) values ($1, 't', 'T')`, [tenant_id])
    for (const id of [of_case, of_first, of_second])
      await client.query(
        `insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, created_by) values ($1, $2, 'x', false, 'user:1')`,
        [tenant_id, id],
      )
    await client.query('insert into app.restriction_force (tenant_id, restriction_id) values ($1, $2)', [
      tenant_id,
      of_second,
    ])
    for (const [alert_id, restriction_id] of [
      [first, of_first],
      [second, of_second],
    ])
      await client.query(
        `insert into app.alert (tenant_id, alert_id, source, dedup_key, dedup_scope, round, title, facts, fingerprint, facts_salt, explanation,
           priority, state, restriction_id, created_by)
         values ($1, $2, 'x', $2::uuid::text, $3, 1, 'x', '{}', repeat('a', 64), repeat('a', 32), '{}', 'low', 'new', $3, 'user:1')`,
        [tenant_id, alert_id, restriction_id],
      )
    for (const linked of [[first], [first, second], []])
      await client.query(
        `insert into app.audit_event (tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, detail, mac, restriction_id)
         values ($1, $2, now(), 'user:1', 'linkInvestigationAlerts', 'investigations', $3, $4, 'x', $5)`,
        [
          tenant_id,
          uuidv7(),
          investigation_id,
          JSON.stringify({ diff: [{ member: 'linked', before: null, after: linked }] }),
          of_case,
        ],
      )
    const failure = { item: 0, reason: 'threw', message: 'unknown name Ada', line: 1, stack: null, fuel: 1 }
    for (const cause of ['evaluation', 'import'])
      await client.query(
        `insert into app.plugin_invocation (tenant_id, invocation_id, plugin_key, origin, version, content_hash, sandbox_hash, cause_kind, items,
           failed, fuel_total, fuel_max, failures, invoked_by)
         values ($1, $2, 'x', 'own', 1, repeat('a', 64), repeat('a', 64), $3, 2, 2, 2, 1, $4, 'user:1')`,
        [
          tenant_id,
          uuidv7(),
          cause,
          JSON.stringify([failure, { ...failure, item: 1, reason: 'fuel', message: 'It used too much' }]),
        ],
      )
    await client.query('set session_replication_role = origin')
    await migrate(database.migrator, readMigrations(path.join(projectRoot, 'db/migrations')))
    const { rows } = await client.query(
      `select e.also_restriction_id as also, r.restriction_id as logged
         from app.audit_event e left join app.restriction_event r using (tenant_id, event_id) order by e.event_id`,
    )
    expect(rows).toEqual([
      { also: of_first, logged: of_first },
      { also: of_second, logged: of_second },
      { also: null, logged: null },
    ])
    const kept = await client.query('select failures from app.plugin_invocation order by invocation_id')
    const messages = kept.rows.map(({ failures }) => failures.map(({ message }: { message: string }) => message))
    expect(messages).toEqual([
      [expect.stringMatching(/^It threw an error\./), 'It used too much'],
      ['unknown name Ada', 'It used too much'],
    ])
  } finally {
    await client.end()
    await database.drop()
  }
})

test('the migration returns open work that its assignee may not see, and hides merged cases with the last one', async () => {
  const database = await createEmptyDatabase('return_hidden_work')
  const client = new pg.Client(database.postgres)
  await client.connect()
  try {
    const [tenant_id, restriction_id] = [uuidv7(), uuidv7()]
    await client.query('set session_replication_role = replica')
    await client.query(`insert into app.tenant (tenant_id, slug, name) values ($1, 't', 'T')`, [tenant_id])
    const ids = [tenant_id, restriction_id]
    await client.query(
      `insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, imposed_at, imposed_by, created_by)
       values ($1, $2, 'x', true, now(), 'user:1', 'user:1')`,
      ids,
    )
    await client.query('insert into app.restriction_force (tenant_id, restriction_id) values ($1, $2)', ids)
    await client.query(
      `insert into app.restriction_person (tenant_id, restriction_id, principal, effect) values ($1, $2, 'user:1', 'grant')`,
      ids,
    )
    for (const [principal, restriction, state] of [
      ['user:1', restriction_id, 'open'],
      ['user:2', restriction_id, 'open'],
      ['user:2', null, 'open'],
      ['user:2', restriction_id, 'done'],
    ])
      await client.query(
        `insert into app.work_item (tenant_id, object_kind, object_id, queue_key, priority, state, assignee, assigned_at, assigned_by, restriction_id,
           done_at, done_by)
         values ($1, 'alert', $2, 'x', 'low', $5, $3, now(), $3, $4, case $5 when 'done' then now() end, case $5 when 'done' then $3 end)`,
        [tenant_id, uuidv7(), principal, restriction, state],
      )
    // A case that was merged into one that was merged into a third, each with its own restriction.
    const cases = [1, 2, 3].map((number) => ({ id: uuidv7(), restriction: uuidv7(), number }))
    for (const { id, restriction, number } of cases) {
      await client.query(
        `insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, created_by) values ($1, $2, 'x', false, 'user:1')`,
        [tenant_id, restriction],
      )
      const into = cases[number]?.id ?? null
      await client.query(
        `insert into app.investigation (tenant_id, investigation_id, reference, subject_id, playbook_key, playbook_origin, playbook_version, playbook_hash,
           title, priority, origin, state, gathering, merged_into, merged_by, merged_at, restriction_id, created_by, updated_by)
         values ($1, $2, $3, $1, 'x', 'own', 1, repeat('a', 64), 'x', 'low', 'request', case when $4::uuid is null then 'open' else 'merged' end, 'done', $4,
           case when $4::uuid is not null then 'user:1' end, case when $4::uuid is not null then now() end, $5, 'user:1', 'user:1')`,
        [tenant_id, id, `INV-0000-000${number}`, into, restriction],
      )
      await client.query(
        `insert into app.audit_event (tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, detail, mac, restriction_id)
         values ($1, $2, now(), 'user:1', $3, 'investigations', $4, '{}', 'x', $5)`,
        [tenant_id, uuidv7(), into ? 'mergeInvestigation' : 'openInvestigation', id, restriction],
      )
    }
    await client.query('set session_replication_role = origin')
    await migrate(database.migrator, readMigrations(path.join(projectRoot, 'db/migrations')))
    const { rows } = await client.query(
      'select assignee, assigned_at is not null as is_assigned from app.work_item order by object_id',
    )
    expect(rows.map(({ assignee, is_assigned }) => [assignee, is_assigned])).toEqual([
      ['user:1', true],
      [null, false],
      ['user:2', true],
      ['user:2', true],
    ])
    const [first, second, third] = cases.map(({ restriction }) => restriction)
    const belonging = await client.query(
      `select i.also_restriction_id as of_case, e.also_restriction_id as of_event, r.restriction_id as logged from app.investigation i
         join app.audit_event e on e.object_id = i.investigation_id::text left join app.restriction_event r using (event_id) order by i.reference`,
    )
    expect(belonging.rows).toEqual([
      { of_case: third, of_event: second, logged: second },
      { of_case: third, of_event: third, logged: third },
      { of_case: null, of_event: null, logged: null },
    ])
    const merged = await client.query('select from_id, into_id from app.restriction_merged order by 1, 2')
    expect(merged.rows).toEqual([
      { from_id: first, into_id: second },
      { from_id: first, into_id: third },
      { from_id: second, into_id: third },
    ])
    const forced = await client.query(
      `select relname from pg_class where relnamespace = 'app'::regnamespace and relname in ('tenant', 'investigation', 'audit_event', 'restriction_event',
          'restriction_merged', 'restriction_list', 'restriction_force')
          and not relforcerowsecurity`,
    )
    expect(forced.rows).toEqual([])
  } finally {
    await client.end()
    await database.drop()
  }
})

test('the migrations overwrite what earlier erasures left of documents, cases and reports, and nothing of others', async () => {
  const database = await createEmptyDatabase('let_erasures_overwrite_texts')
  const client = new pg.Client(database.postgres)
  await client.connect()
  try {
    const tenant_id = uuidv7()
    await client.query('set session_replication_role = replica')
    await client.query(`insert into app.tenant (tenant_id, slug, name) values ($1, 't', 'T')`, [tenant_id])
    for (const erased_at of ['2026-01-01', null]) {
      const [subject_id, investigation_id, report_id] = [uuidv7(), uuidv7(), uuidv7()]
      await client.query(
        `insert into app.subject (tenant_id, subject_id, subject_type, name, state, offboarded_at, erased_at, created_by, updated_by)
         values ($1, $2, 'person', 'x', 'offboarded', now(), $3, 'user:1', 'user:1')`,
        [tenant_id, subject_id, erased_at],
      )
      await client.query(
        `insert into app.investigation (tenant_id, investigation_id, reference, subject_id, playbook_key, playbook_origin, playbook_version,
           playbook_hash, title, priority, origin, restriction_id, created_by, updated_by)
         values ($1, $2, 'INV-0000-000' || case when $4::date is null then '1' else '2' end, $3, 'x', 'own', 1, repeat('a', 64), 'x', 'low',
           'request', $2, 'user:1', 'user:1')`,
        [tenant_id, investigation_id, subject_id, erased_at],
      )
      await client.query(
        `insert into app.report (tenant_id, report_id, subject_id, template_key, template_version, parameters, formats, readers, locale,
           time_zone, job_id, state, failure, created_by, updated_by)
         values ($1, $2, $3, 'x', 1, '{}', '{json}', '{auditor}', 'en', 'UTC', $2, 'failed', 'x', 'user:1', 'user:1')`,
        [tenant_id, report_id, subject_id],
      )
      await client.query(
        `insert into app.document (tenant_id, document_id, subject_id, category, media_type, size_bytes, state, ended_at, ended_by, end_reason,
           created_by, updated_by) values ($1, $2, $3, 'her-name', 'x/x', 1, 'deleted', now(), 'user:1', 'erased', 'user:1', 'user:1')`,
        [tenant_id, uuidv7(), subject_id],
      )
      for (const [object_kind, object_id] of [
        ['investigation', investigation_id],
        ['report', report_id],
      ])
        await client.query(
          `insert into app.hold (tenant_id, hold_id, object_kind, object_id, reason, authority_reference, placed_by, state, released_at,
             released_by, release_reason) values ($1, $2, $3, $4, 'She', 'Court', 'user:1', 'released', now(), 'user:2', 'paid')`,
          [tenant_id, uuidv7(), object_kind, object_id],
        )
      await client.query(
        `insert into app.work_item (tenant_id, object_kind, object_id, queue_key, priority, assign_reason)
         values ($1, 'investigation', $2, 'x', 'low', 'She')`,
        [tenant_id, investigation_id],
      )
    }
    await client.query('set session_replication_role = origin')
    await migrate(database.migrator, readMigrations(path.join(projectRoot, 'db/migrations')))
    const holds = await client.query(
      'select reason, authority_reference, release_reason from app.hold order by hold_id',
    )
    const gone = { reason: 'erased', authority_reference: null, release_reason: 'erased' }
    const kept = { reason: 'She', authority_reference: 'Court', release_reason: 'paid' }
    expect(holds.rows).toEqual([gone, gone, kept, kept])
    const documents = await client.query('select category from app.document order by document_id')
    expect(documents.rows).toEqual([{ category: null }, { category: 'her-name' }])
    const work = await client.query('select assign_reason from app.work_item order by object_id')
    expect(work.rows).toEqual([{ assign_reason: null }, { assign_reason: 'She' }])
  } finally {
    await client.end()
    await database.drop()
  }
})
