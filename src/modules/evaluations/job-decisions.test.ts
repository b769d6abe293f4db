/** A decision that the job of a case made stays when the case is restricted; the name of the job must not tell of the case. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { roles as allRoles } from '#kernel/auth/roles.ts'
import { ensurePolicy } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'

let w: JobTestApp
let superuser: pg.Client
beforeAll(async () => {
  w = await startJobTestApp()
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

/** Columns that name the job where the row does not carry the restriction of its case. */
async function listTraces(tenant_id: string, job_id: string, restriction_id: string): Promise<string[]> {
  const { rows: columns } = await superuser.query<{ name: string; column: string; restricted: boolean }>(
    `select c.relname::text as name, a.attname::text as column,
            exists (select 1 from pg_attribute r where r.attrelid = c.oid and r.attname = 'restriction_id') as restricted
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        and a.atttypid in ('text'::regtype, 'uuid'::regtype, 'jsonb'::regtype)
      where c.relnamespace = 'app'::regnamespace and c.relkind = 'r'
        and exists (select 1 from pg_attribute t where t.attrelid = c.oid and t.attname = 'tenant_id') order by 1, 2`,
  )
  const found: string[] = []
  for (const { name, column, restricted } of columns) {
    const outside = restricted ? `and restriction_id is distinct from '${restriction_id}'` : ''
    const { rows } = await superuser.query(
      `select 1 from app.${name} where tenant_id = $1 and "${column}"::text like '%' || $2 || '%' ${outside} limit 1`,
      [tenant_id, job_id],
    )
    if (rows.length > 0) found.push(`${name}.${column}`)
  }
  return found
}

test('a decision of a case that was restricted since names its job only to those who see it', async () => {
  const t = await ExampleTenant.create(w)
  const [owner, outsider] = [await w.person(t.tenant_id, allRoles), await w.person(t.tenant_id, allRoles)]
  const { matrix_key } = await ensurePolicy(t)
  const make = async (at: string, body: object) => {
    const { status, json } = await w.call(at, { token: owner.token, body })
    expect([at, status < 300, json]).toEqual([at, true, json])
    return json
  }
  const definition = {
    title: 'Rated',
    subject_types: ['person'],
    facts: [{ name: 'country', title: 'Country', type: 'string' }],
    steps: [{ key: 'rate', kind: 'evaluation', with: { matrix: matrix_key }, required: true }],
    outcomes: ['INV_NO_SUSPICION'],
  }
  await make('POST /playbooks', { playbook_key: 'rated', title: 'Rated', definition })
  await make('POST /playbooks/rated/versions/draft/publish', {})
  await make('POST /playbooks/rated/activations', { version: 1, reason: 'Reviewed' })
  const subject = { subject_type: 'person', name: 'Eva Luate', attributes: { country: 'DE' } }
  const { subject_id } = await make('POST /subjects', subject)
  const { investigation_id, job_id } = await make('POST /investigations', { subject_id, playbook_key: 'rated' })
  const runner = w.startRunner(1)
  expect(await w.ended(t.tenant_id, job_id)).toMatchObject({ state: 'succeeded' })
  await runner.stop(1000)

  const [decision] = (await w.call(`GET /evaluations?subject_id=${subject_id}`, { token: owner.token })).json.items
  const { receipt } = (await w.call(`GET /evaluations/${decision.evaluation_id}`, { token: owner.token })).json
  const paths = [
    `/evaluations?subject_id=${subject_id}`,
    `/evaluations/${decision.evaluation_id}`,
    `/evaluations/${decision.evaluation_id}/certificate`,
    `/subjects/${subject_id}/risk`,
    `/subjects/${subject_id}/timeline`,
    `/reference-data/receipts/${receipt.receipt_id}`,
  ]
  const read = async (who: typeof owner) => {
    const replies = await Promise.all(paths.map((path) => w.call(`GET ${path}`, { token: who.token })))
    expect(replies.map(({ status }) => status)).toEqual(paths.map(() => 200))
    return replies.map(({ text }, at) => `${paths[at]} ${text}`)
  }
  expect(decision.created_by).toBe(`job:${job_id}`)
  await w.call(`PUT /investigations/${investigation_id}/access`, {
    token: owner.token,
    body: { is_restricted: true, people: [], reason: 'A suspicion' },
  })
  expect((await w.call(`GET /jobs/${job_id}`, { token: outsider.token })).status).toBe(404)
  const seen = await read(outsider)
  expect(seen.filter((text) => text.includes(job_id))).toEqual([])
  expect(seen.filter((text) => !text.includes('job:service'))).toEqual([])
  // The certificate is the same for everybody.
  expect((await read(owner)).filter((text) => !text.includes(`job:${job_id}`))).toEqual([seen[2]])
  // Queries that show one of these columns do so by `shownActor`.
  const { rows } = await superuser.query(
    'select restriction_id from app.investigation where tenant_id = $1 and investigation_id = $2',
    [t.tenant_id, investigation_id],
  )
  expect(await listTraces(t.tenant_id, job_id, rows[0].restriction_id)).toEqual([
    ...['evaluation.created_by', 'rating.actor', 'resolution_receipt.created_by'],
  ])
})
