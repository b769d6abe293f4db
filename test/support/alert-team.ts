/** People of one tenant who work on alerts. */
import { type AlertReport, raiseAlert } from '#modules/alerts/index.ts'
import { ExampleTenant } from './example-tenant.ts'
import type { TestApp } from './test-app.ts'

export type Person = Awaited<ReturnType<TestApp['person']>>

const DAY_MS = 86_400_000
export const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

/** Two analysts and two officers of a new tenant, and what they do with alerts. */
export async function createAlertTeam(w: TestApp) {
  const t = await ExampleTenant.create(w)
  const [analyst, other, officer, second] = (await Promise.all([
    w.person(t.tenant_id, ['analyst']),
    w.person(t.tenant_id, ['analyst']),
    w.person(t.tenant_id, ['compliance_officer', 'auditor']),
    w.person(t.tenant_id, ['compliance_officer']),
  ])) as [Person, Person, Person, Person]
  const send = (who: Person, at: string, body?: unknown) =>
    w.call(at, { token: who.token, ...(body === undefined ? {} : { body }) })
  const report = (dedup_key: string, facts: Record<string, string> = {}, more: object = {}) =>
    send(analyst, 'POST /alerts', {
      source: 'feed',
      dedup_key,
      title: 'A listed name',
      priority: 'medium',
      facts: Object.entries(facts).map(([name, value]) => ({ name, value })),
      ...more,
    })
  const read = async (alert_id: string) => (await send(officer, `GET /alerts/${alert_id}`)).json
  const history = async (alert_id: string): Promise<string[]> =>
    (await send(officer, `GET /alerts/${alert_id}/history`)).json.items.map(({ event }: { event: string }) => event)
  /** In one transaction. */
  const raiseMany = (name: string, count: number) =>
    t.write(async (tx) => {
      const alert_ids: string[] = []
      for (let index = 0; index < count; index++)
        alert_ids.push((await raiseAlert(w.kernel, tx, toReport(`${name} ${index}`))).alert_id as string)
      return alert_ids
    })
  return { t, analyst, other, officer, second, send, report, read, history, raiseMany }
}

export const toReport = (dedup_key: string, facts: AlertReport['facts'] = {}): AlertReport => ({
  source: 'feed',
  dedup_key,
  title: 'A listed name',
  facts,
  explanation: { sentence: 'A listed name', fields: [], references: [] },
  priority: 'medium',
})
