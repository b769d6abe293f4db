/** Requests that provoke the problems of records that are kept or erased. */
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from './example-tenant.ts'
import type { ProblemReply, ProblemTriggers } from './registry-problem-triggers.ts'
import type { TestApp } from './test-app.ts'

export function createRecordTriggers(
  getApp: () => TestApp,
  call: (...request: Parameters<TestApp['call']>) => Promise<ProblemReply>,
): ProblemTriggers {
  const prepare = async () => {
    const t = await ExampleTenant.create(getApp())
    const { subject_id } = await t.make('POST /subjects', { body: { subject_type: 'person', name: 'Ada Lovelace' } })
    const erase = async () =>
      call(`POST /subjects/${subject_id}/erase`, {
        token: await t.token(),
        body: { reason: 'Request of the customer' },
      })
    return { t, subject_id, erase }
  }
  return {
    legal_hold: async () => {
      const { t, subject_id, erase } = await prepare()
      await t.make('POST /holds', { body: { object_kind: 'subject', object_id: subject_id, reason: 'Court order' } })
      return erase()
    },
    open_case: async () => {
      const { t, subject_id, erase } = await prepare()
      await t.make('POST /investigations', { body: { subject_id, playbook_key: 'edd-person' } })
      return erase()
    },
    retention: async () => {
      const { t, erase } = await prepare()
      await t.make('PATCH /tenant', { body: { jurisdictions: ['DE'] } })
      return erase()
    },
    erased: async () => {
      const { t, subject_id, erase } = await prepare()
      const body = { reason: 'Request of the customer' }
      const token = await t.token(undefined, `user:${uuidv7()}`)
      const { erasure_id } = await t.make(`POST /subjects/${subject_id}/erase`, { token, body })
      await t.runToEnd(await t.make(`POST /erasures/${erasure_id}/confirm`))
      return erase()
    },
  }
}
