/** Inserts one row into each table of plugins, for the isolation canary. */
import { hash } from 'node:crypto'
import type { Tx } from '#kernel/database/tx.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { datasetStore, staging, typeStore, versionStore } from '#modules/definitions/index.ts'
import { entryHash } from '#registry/content/hashes.ts'
import { PLUGIN_FAMILY } from './model.ts'
import {
  insertConfiguration,
  insertGrant,
  insertInvocation,
  insertValidation,
  upsertStatus,
  upsertSwitch,
} from './queries.ts'

const plugin_key = 'canary'
const zeros = '0'.repeat(64)

/** A plugin of which nothing is in force. */
export async function insertCanaryRows(tx: Tx): Promise<void> {
  const type = (await typeStore.findSharedType(tx, 'plugin-part')) ?? fail('internal')
  const dataset = assertFound(
    await datasetStore.insertDataset(tx, {
      ...{ dataset_id: uuidv7(), family: PLUGIN_FAMILY, list_key: plugin_key, role: 'base', title: plugin_key },
      ...{ type_tenant_id: type.tenant_id, type_key: type.type_key },
    }),
  )
  const text = '{"base64":"e30=","name":"package","part":"package","position":0}'
  const content = await staging.stageRows(tx, [{ key: 'package|package', text, hash: entryHash(text), row: 1 }])
  await versionStore.publishStaged(tx, { dataset, type, content, origin: 'inline', provenance: {}, guards: null })
  await insertValidation(
    tx,
    { tenant_id: tx.tenant_id, dataset_id: dataset.dataset_id, version: 1 },
    {
      ...{ sandbox_hash: zeros, content_hash: zeros, valid: false, fuel_max: null },
      reasons: [{ code: 'canary', message: 'canary' }],
    },
  )
  await insertGrant(tx, { plugin_key, revision: 1, lists: [plugin_key], hosts: [plugin_key], reason: 'canary' })
  const configuration = '{"canary":true}'
  await insertConfiguration(tx, {
    ...{ plugin_key, revision: 1, configuration, reason: 'canary' },
    configuration_hash: hash('sha256', configuration, 'hex'),
  })
  await upsertSwitch(tx, plugin_key, true, 'canary')
  await insertInvocation(tx, {
    ...{ plugin_key, origin: 'own', version: 1, content_hash: zeros, sandbox_hash: zeros, cause_kind: 'canary' },
    ...{ cause_id: null, items: 1, failed: 1, fuel_total: 0, fuel_max: 0 },
    failures: [{ item: 0, reason: 'canary', message: 'canary', line: null, stack: null, fuel: 0 }],
  })
  await upsertStatus(tx, { plugin_key, version: 1, state: 'disabled', reasons: ['canary'] })
}
