/** Requests that provoke the problems of records that are refused, kept, or gone. */
import { newUpload } from '#modules/documents/fixtures.ts'
import { newReport } from '#modules/reports/fixtures.ts'
import { ExampleTenant } from './example-tenant.ts'
import type { ProblemReply, ProblemTriggers } from './registry-problem-triggers.ts'
import type { TestApp } from './test-app.ts'

export function createDocumentTriggers(
  getApp: () => TestApp,
  call: (...request: Parameters<TestApp['call']>) => Promise<ProblemReply>,
): ProblemTriggers {
  const upload = async (text: string) => {
    const t = await ExampleTenant.create(getApp())
    const body = { upload_id: await newUpload(t, 'statement.txt', text), title: 'Statement' }
    return { t, token: await t.token(), body }
  }
  const store = async () => {
    const { t, token, body } = await upload('Statement')
    const { document_id } = await t.make('POST /documents', { body })
    return { t, token, document_id, remove: () => call(`DELETE /documents/${document_id}?reason=Old`, { token }) }
  }
  return {
    document_refused: async () => {
      const { token, body } = await upload('')
      return call('POST /documents', { token, body })
    },
    retention: async () => (await store()).remove(),
    legal_hold: async () => {
      const { t, document_id, remove } = await store()
      await t.make('POST /holds', {
        body: { object_kind: 'document', object_id: document_id, reason: 'Order of the court' },
      })
      // Its period has passed at once.
      const classes = [{ record_class: 'documents', keep_days: 0, basis: 'Test' }]
      await t.write((tx) =>
        tx.run('update app.retention_policy set classes = $2::jsonb where tenant_id = $1', [
          tx.tenant_id,
          JSON.stringify(classes),
        ]),
      )
      return remove()
    },
    report_invalid: async () => {
      const t = await ExampleTenant.create(getApp())
      return call('POST /reports', { token: await t.token(), body: { template: 'subject-dossier', parameters: {} } })
    },
    format_unavailable: async () => {
      const t = await ExampleTenant.create(getApp())
      const report_id = await newReport(t)
      return call(`GET /reports/${report_id}/content?format=pdf`, { token: await t.token() })
    },
    erased: async () => {
      const { t, token, document_id } = await store()
      await t.write((tx) => getApp().kernel.encryption.destroyOwner(tx, { kind: 'object', id: document_id }))
      return call(`GET /documents/${document_id}/content`, { token })
    },
  }
}
