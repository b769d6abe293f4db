/** Decision documents as the service stores and reads them, for tests. */
import type pg from 'pg'
import type { DecisionContent } from '#decision/document.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { readEvaluation } from '#modules/evaluations/records/read-record.ts'
import type { TestApp } from './test-app.ts'

interface Named {
  readonly tenant_id: string
  readonly evaluation_id: string
}

export const readDocument = (w: TestApp, { tenant_id, evaluation_id }: Named): Promise<string> =>
  w.runtime.database.read(fullScope(tenant_id, 'operator:test'), async (tx) => {
    const { row } = await readEvaluation(w.kernel, tx, evaluation_id)
    return row.document
  })

export const readDecision = async (w: TestApp, named: Named) =>
  JSON.parse(await readDocument(w, named)) as DecisionContent & Record<string, unknown>

/** Stores the decision as releases before encryption did. `client`: a superuser without triggers. */
export async function storePlain(w: TestApp, client: pg.Client, named: Named, document?: string): Promise<void> {
  await client.query('update app.evaluation set document = $2, document_encrypted = null where evaluation_id = $1', [
    named.evaluation_id,
    document ?? (await readDocument(w, named)),
  ])
}

/** SQL that changes one bit of the ciphertext. */
export const flippedBit = (column: string): string => `set_bit(${column}, 8 * octet_length(${column}) - 1,
  1 - get_bit(${column}, 8 * octet_length(${column}) - 1))`
