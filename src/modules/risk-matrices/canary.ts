/** Inserts one row of a tenant into each table of definitions, for the isolation tests. */
import type { Tx } from '#kernel/database/tx.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { datasetStore, documentStore, staging, typeStore, versionStore } from '#modules/definitions/index.ts'

import { entryHash } from '#registry/content/hashes.ts'
import { insertCase } from './cases/queries.ts'
import { matrixKind } from './matrix-kind.ts'

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const type = (await typeStore.findSharedType(tx, matrixKind.type_key)) ?? fail('internal')
  const dataset = assertFound(
    await datasetStore.insertDataset(tx, {
      dataset_id: uuidv7(),
      family: 'matrix',
      list_key: 'canary',
      role: 'base',
      type_tenant_id: type.tenant_id,
      type_key: type.type_key,
      title: 'canary',
    }),
  )
  const text = '{"name":"canary","part":"settings"}'
  const content = await staging.stageRows(tx, [{ key: 'settings|canary', text, hash: entryHash(text), row: 1 }])
  await versionStore.publishStaged(tx, { dataset, type, content, origin: 'inline', provenance: {}, guards: null })
  await documentStore.insertReferences(tx, dataset, 1, ['canary'])
  await documentStore.insertDraft(tx, dataset, { canary: true }, 1)
  await documentStore.upsertProfile(tx, dataset, {
    subject_types: ['canary'],
    products: ['canary'],
    typologies: ['canary'],
  })
  const golden = { name: 'canary', inputs: { canary: true }, expected: { band: 'canary' }, note: 'canary' }
  await insertCase(tx, dataset, { case_id: uuidv7(), ...golden })
}
