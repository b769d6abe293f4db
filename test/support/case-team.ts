/** People of one tenant who work on cases. */
import { ExampleTenant } from './example-tenant.ts'
import type { JobTestApp } from './job-test-app.ts'

export type Someone = Awaited<ReturnType<JobTestApp['person']>>

/** Two analysts and two officers of a new tenant. */
export async function createCaseTeam(w: JobTestApp) {
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

/** As the job that gathers leaves it when everything was answered. */
export const settleSteps = (t: ExampleTenant, investigation_id: string) =>
  t.write(async (tx) => {
    const where = 'where tenant_id = $1 and investigation_id = $2'
    for (const set of [`state = 'running', started_at = now()`, `state = 'succeeded', ended_at = now()`])
      await tx.run(`update app.investigation_step set ${set}, revision = revision + 1 ${where}`, [
        tx.tenant_id,
        investigation_id,
      ])
    await tx.run(`update app.investigation set gathering = 'done' ${where}`, [tx.tenant_id, investigation_id])
  })

export const codesOf = (reply: { json: { errors?: { keyword: string }[] } }) =>
  reply.json.errors?.map(({ keyword }) => keyword)
