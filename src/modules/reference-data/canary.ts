/** Inserts one row of a tenant into each table of the registry, for the isolation tests. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  activationStore,
  datasetStore,
  differenceStore,
  resolver,
  staging,
  treeStore,
  typeStore,
  versionStore,
} from '#modules/definitions/index.ts'
import { entryHash } from '#registry/content/hashes.ts'

import { insertExport } from './exports/queries.ts'
import { insertImport, insertRejects } from './imports/queries.ts'

import { insertKeyBlocks, insertSegment, insertWordBlocks } from './search/queries.ts'

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const definition = typeStore.toTypeContent({
    title: 'canary',
    description: 'canary',
    schema: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
    key_pointers: ['/code'],
    examples: [{ code: 'canary' }],
  })
  const type = (await typeStore.insertType(tx, {
    type_key: 'canary',
    type_version: 1,
    definition,
    definition_hash: typeStore.hashTypeContent(definition),
    compatibility: 'backward',
  })) as typeStore.TypeRow
  const dataset = (await datasetStore.insertDataset(tx, {
    dataset_id: uuidv7(),
    family: 'list',
    list_key: 'canary',
    role: 'base',
    type_tenant_id: tx.tenant_id,
    type_key: 'canary',
    title: 'canary',
    description: 'canary',
    owner: 'canary',
  })) as datasetStore.DatasetRow
  const text = '{"code":"canary"}'
  const content = await staging.stageRows(tx, [{ key: 'canary', text, hash: entryHash(text), row: 1 }])
  await versionStore.publishStaged(tx, {
    dataset,
    type,
    content,
    origin: 'inline',
    provenance: {},
    note: 'canary',
    guards: null,
  })
  // Short lists have no stored tree.
  const { dataset_id } = dataset
  await treeStore.insertTree(tx, {
    dataset_id,
    version: 1,
    base_version: 1,
    block_bits: 0,
    delta_pairs: 0,
    nodes: Buffer.alloc(32),
  })
  await treeStore.insertBlock(tx, { dataset_id, version: 1, block: 0, pairs: Buffer.alloc(64) })
  const segment = { version: 1, part: 0, entry_count: 1, last_key: 'canary', is_last: true }
  await insertSegment(tx, dataset_id, segment)
  await insertKeyBlocks(tx, { dataset_id, ...segment }, 0, [['canary']])
  await insertWordBlocks(tx, { dataset_id, ...segment }, 0, [{ first_word: 'canary', bytes: Buffer.from('canary') }])
  const nothing = { added: 0, removed: 0, changed: 0, fields: [] }
  await differenceStore.insertSummary(tx, dataset, { from: 1, to: 1 }, nothing)
  await activationStore.activateVersion(tx, { list_key: 'canary', version: 1, reason: 'canary' })
  await resolver.createReceipt(tx, 'canary', await resolver.resolveVersions(tx, ['canary'], {}), {})
  const import_id = uuidv7()
  await insertImport(tx, {
    import_id,
    dataset_id: dataset.dataset_id,
    list_key: 'canary',
    job_id: null,
    upload_id: null,
    adapter_key: 'canary',
    adapter_version: 1,
    options: {},
    order_text: {},
    source: { file_name: 'canary', size_bytes: 0, sha256: null },
  })
  await insertRejects(tx, import_id, 1, [
    { code: 'canary', pointer: '', at: { row: 1 }, excerpt: 'canary', message: 'canary' },
  ])
  await insertExport(tx, { export_id: uuidv7(), job_id: uuidv7(), parameters: { note: 'canary' } })
}
