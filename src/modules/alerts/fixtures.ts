/** Test fixtures of the alerts router: one valid call per operation. */
import { roles as allRoles } from '#kernel/auth/roles.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixture, type Fixtures } from '#test/support/operation-fixture.ts'
import { insertSecondLook } from './second-looks/queries.ts'

const oncePerTenant = createOncePerTenant()
const DAY_MS = 86_400_000
/** With a fraction of a second: documented examples show such times relative to a fixed one. */
const inDays = (days: number): string =>
  new Date(Math.floor(Date.now() / 1000) * 1000 + days * DAY_MS + 1).toISOString()

const toReport = (priority = 'medium') => ({
  source: 'payment-monitor',
  dedup_key: `watchlist:4711:account:${uuidv7()}`,
  title: 'Name resembles a listed party',
  priority,
  facts: [
    { name: 'list_entry', value: 'entry 4711, version 3' },
    { name: 'score_band', value: 'high' },
  ],
})

const newAlert = async (t: ExampleTenant, priority = 'medium'): Promise<string> =>
  (await t.make('POST /alerts', { body: toReport(priority) })).alert_id

const ensureAlert = (t: ExampleTenant): Promise<string> => oncePerTenant(t, 'alert', () => newAlert(t))
const existing: Fixture = async (t) => ({ params: { alert_id: await ensureAlert(t) } })
const fresh = async (t: ExampleTenant) => ({ alert_id: await newAlert(t) })

const claimed = async (t: ExampleTenant): Promise<{ alert_id: string }> => {
  const alert_id = await newAlert(t)
  const user_id = await t.newUser(['analyst'])
  await t.make(`POST /alerts/${alert_id}/assign`, { body: { user_id } })
  return { alert_id }
}

/** Proposed by `author`, so that the caller may confirm it. */
const proposed = async (t: ExampleTenant): Promise<{ alert_id: string }> => {
  const alert_id = await newAlert(t, 'critical')
  const token = await t.token(allRoles, t.author)
  await t.make(`POST /alerts/${alert_id}/dismiss`, { token, body: { reason_code: 'ALR_FALSE_MATCH' } })
  return { alert_id }
}

const SUPPRESSION = {
  source: 'payment-monitor',
  up_to_priority: 'low',
  reason_code: 'ALR_DATA_FAULT',
  reason: 'The feed repeats old payments until it is repaired',
}
const newSuppression = async (t: ExampleTenant): Promise<{ suppression_id: string }> => {
  const body = { ...SUPPRESSION, dedup_key: `feed ${uuidv7()}`, expires_at: inDays(30) }
  const token = await t.token(allRoles, t.author)
  return { suppression_id: (await t.make('POST /alerts/suppressions', { token, body })).suppression_id }
}

/** Whether a dismissal is sampled depends on its id, so one is made directly. */
const newLook = async (t: ExampleTenant): Promise<{ look_id: string }> => {
  const alert_id = await newAlert(t)
  const token = await t.token(allRoles, t.author)
  const { revision } = await t.make(`POST /alerts/${alert_id}/dismiss`, { token, body: { reason_code: 'ALR_TEST' } })
  const look_id = uuidv7()
  await t.write(async (tx) => {
    const [known] = await tx.query<{ look_id: string }>(
      'select look_id from app.alert_second_look where tenant_id = $1 and alert_id = $2',
      [tx.tenant_id, alert_id],
    )
    if (known) return
    const sample = { sample_code: 'all', sample_version: 1, seed: 'quality-1', rate_bps: 10_000, bucket: 17 }
    await insertSecondLook(tx, {
      look_id,
      alert_id,
      revision,
      dismissed_by: t.author,
      reason_code: 'ALR_TEST',
      ...sample,
    })
  })
  const found = await t.write((tx) =>
    tx.find<{ look_id: string }>('select look_id from app.alert_second_look where tenant_id = $1 and alert_id = $2', [
      tx.tenant_id,
      alert_id,
    ]),
  )
  return { look_id: found?.look_id ?? look_id }
}

export const fixtures: Fixtures = {
  listAlerts: async (t) => {
    await ensureAlert(t)
    return {}
  },
  createAlert: () => ({ body: toReport() }),
  getAlert: existing,
  listAlertHistory: existing,
  listAlertOccurrences: existing,
  claimAlert: async (t) => {
    await newAlert(t)
    return { body: {} }
  },
  updateAlert: async (t) => ({ params: await fresh(t), body: { priority: 'high', note: 'The amount is large' } }),
  assignAlert: async (t) => ({ params: await fresh(t), body: { user_id: await t.newUser(['analyst']) } }),
  releaseAlert: async (t, role) => {
    if (role === 'compliance_officer') return { params: await claimed(t), body: { note: 'On leave from tomorrow' } }
    // An analyst releases what they have themselves.
    const claim = await t.make('POST /alerts', { body: toReport() })
    await t.write((tx) =>
      tx.run(
        `update app.work_item set assignee = $3, assigned_at = now(), assigned_by = $3 where tenant_id = $1 and object_id = $2`,
        [tx.tenant_id, claim.alert_id, t.caller],
      ),
    )
    return { params: { alert_id: claim.alert_id }, body: { note: 'On leave from tomorrow' } }
  },
  wakeAlert: async (t) => {
    const { alert_id } = await fresh(t)
    await t.make(`POST /alerts/${alert_id}/snooze`, { body: { until: inDays(3) } })
    return { params: { alert_id }, body: { note: 'The documents have arrived' } }
  },
  snoozeAlert: async (t) => ({ params: await fresh(t), body: { until: inDays(3), note: 'Waiting for documents' } }),
  dismissAlert: async (t) => ({
    params: await fresh(t),
    body: { reason_code: 'ALR_FALSE_MATCH', note: 'Another date of birth' },
  }),
  confirmAlertDismissal: async (t) => ({ params: await proposed(t), body: { note: 'Agreed' } }),
  returnAlertDismissal: async (t) => ({ params: await proposed(t), body: { note: 'The address fits after all' } }),
  escalateAlert: async (t) => ({ params: await fresh(t), body: { note: 'Payments to the listed party' } }),
  createAlertComment: async (t) => ({ params: await fresh(t), body: { text: 'Asked the branch for the contract' } }),
  updateAlerts: async (t) => ({
    body: { alert_ids: [await newAlert(t), await newAlert(t)], action: 'prioritise', priority: 'low' },
  }),
  listAlertSuppressions: async (t) => {
    await newSuppression(t)
    return {}
  },
  createAlertSuppression: () => ({
    body: { ...SUPPRESSION, dedup_key: 'feed 12, payments before 2026', expires_at: inDays(30) },
  }),
  confirmAlertSuppression: async (t) => ({ params: await newSuppression(t) }),
  endAlertSuppression: async (t) => ({ params: await newSuppression(t), body: { reason: 'The feed was repaired' } }),
  listAlertSecondLooks: async (t) => {
    await newLook(t)
    return {}
  },
  getAlertAgreement: () => ({}),
  getAlertSecondLook: async (t) => ({ params: await newLook(t) }),
  decideAlertSecondLook: async (t) => ({ params: await newLook(t), body: { agrees: true, note: 'Right' } }),
}
