/** Where alerts come from: decisions, items of batches and source contracts, each by the list alert-rules. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Tx } from '#kernel/database/tx.ts'
import { raiseDecisionAlerts } from '#modules/alerts/index.ts'
import { fixtures as contractFixtures } from '#modules/source-contracts/fixtures.ts'
import { ExampleTenant } from './support/example-tenant.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'

let w: TestApp
let t: ExampleTenant

beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

const DORMANT = { segment: 'retail', days_inactive: 500, amount: '8000.00' }
const listAlerts = async (source: string) => (await t.make(`GET /alerts?source=${source}`)).items
const newSubject = async (): Promise<string> =>
  (await t.make('POST /subjects', { body: { subject_type: 'person', name: 'Ada Lovelace', attributes: {} } }))
    .subject_id

test('a rule that asks for an alert raises one for each subject, in the transaction of the decision', async () => {
  const subject_id = await newSubject()
  const evaluate = (inputs: object) =>
    t.make('POST /evaluations', { body: { rule_key: 'dormant-account', subject_id, inputs } })
  await evaluate({ ...DORMANT, days_inactive: 30 })
  expect(await listAlerts('rule')).toEqual([])
  const { evaluation_id } = await evaluate(DORMANT)
  await evaluate(DORMANT)
  // A decision as of another time says nothing about now.
  await t.make('POST /evaluations', {
    body: { rule_key: 'dormant-account', subject_id, inputs: DORMANT, valid_at: '2026-01-01T00:00:00Z' },
  })
  const [alert, ...others] = await listAlerts('rule')
  expect(others).toEqual([])
  expect(alert).toMatchObject({ rule_code: 'open-alert', subject_id, occurrences: 2, priority: 'medium', state: 'new' })
  expect(alert.facts).toContainEqual({ name: 'reason_codes', value: 'TM_DORMANT' })
  expect(alert.explanation.references[0]).toEqual({ kind: 'evaluation', id: evaluation_id, version: null })
  const { items } = await t.make(`GET /alerts/${alert.alert_id}/occurrences`)
  expect(items.at(-1)).toMatchObject({ outcome: 'opened', reference: `evaluation:${evaluation_id}` })
})

test('a batch raises alerts with its items', async () => {
  const subject_id = await newSubject()
  const items = [
    { subject_id, inputs: DORMANT },
    { subject_id: await newSubject(), inputs: { ...DORMANT, days_inactive: 30 } },
  ]
  const job = await t.make('POST /batch-evaluations', {
    body: { rule_key: 'dormant-account', items },
  })
  expect((await t.runToEnd(job)).state).toBe('succeeded')
  const raised = (await listAlerts('rule')).filter((alert: { subject_id: string }) => alert.subject_id === subject_id)
  expect(raised).toHaveLength(1)
  expect(raised[0].explanation.references[0]).toMatchObject({ kind: 'batch' })
})

test('refused payloads of one contract are occurrences of one alert', async () => {
  const createQuarantined = contractFixtures['getQuarantinedPayload']
  await createQuarantined?.(t, 'analyst')
  await createQuarantined?.(t, 'analyst')
  const [alert, ...others] = await listAlerts('contract')
  expect(others).toEqual([])
  expect(alert).toMatchObject({ rule_code: 'contract-refusal', priority: 'low' })
  expect(alert.occurrences).toBeGreaterThanOrEqual(1)
})

test('a decision that raises nothing sends no statement once the rules are known', async () => {
  const outcome = { family: 'rule', band: null, hit: false, required_actions: [], reason_codes: [] } as const
  const statements: string[] = []
  const raise = (epochs: { own_epoch: number; shared_epoch: number; now: string }) =>
    t.write((tx) => {
      const counted = new Proxy(tx, {
        get: (target, name, receiver) => {
          const member = Reflect.get(target, name, receiver)
          if (typeof member !== 'function') return member
          return (...values: unknown[]) => {
            statements.push(String(values[0]))
            return member.apply(target, values)
          }
        },
      })
      return raiseDecisionAlerts(w.kernel, counted as Tx, { key: 'dormant-account', version: 1, epochs }, [
        { ...outcome, subject_id: null, reference: 'evaluation:x' },
      ])
    })
  const current = await t.write((tx) =>
    tx.find<{ own_epoch: number; shared_epoch: number; now: string }>(
      `select coalesce(max(epoch) filter (where tenant_id = $1), 0) as own_epoch,
              coalesce(max(epoch) filter (where tenant_id <> $1), 0) as shared_epoch, statement_timestamp() as now
         from app.activation_epoch where tenant_id in ($1, app.system_tenant())`,
      [tx.tenant_id],
    ),
  )
  if (!current) throw new Error('there are no epochs')
  await raise(current)
  statements.length = 0
  expect(await raise(current)).toBe(0)
  expect(statements).toEqual([])
})
