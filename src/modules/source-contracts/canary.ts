/** Inserts one row into each table of source contracts, for the isolation canary. */
import type { Tx } from '#kernel/database/tx.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { datasetStore, staging, typeStore, versionStore } from '#modules/definitions/index.ts'
import { entryHash } from '#registry/content/hashes.ts'
import {
  insertDriftAcknowledgement,
  insertDriftFindings,
  insertWindow,
  listDriftFindings,
  upsertViolationGroups,
} from './drift/queries.ts'
import {
  deferPayloadContent,
  insertAdmission,
  insertEvidence,
  insertFactReaders,
  insertPayload,
  type NewAdmission,
  upsertQuarantineItem,
} from './queries.ts'

const CONTRACT_TYPE = 'source-contract-part'
const received_at = '2020-01-01T00:00:00.000Z'
const sealed = Buffer.from('canary')

/** One admitted payload, which is evidence, and one in quarantine. */
export async function insertCanaryRows(tx: Tx): Promise<void> {
  await insertReader(tx)
  const admitted = await insertCanaryAdmission(tx, { result: 'admitted', facts: sealed, violations: [] })
  await insertEvidence(tx, {
    consumer_kind: 'canary',
    consumer_id: uuidv7(),
    admission_id: admitted.admission_id,
  })
  const refused = await insertCanaryAdmission(tx, {
    result: 'quarantined',
    facts: null,
    violations: [{ code: 'canary', pointer: '', keyword: 'canary', expected: 'canary', record_index: null }],
  })
  const { payload_id, admission_id } = refused
  await upsertQuarantineItem(tx, { payload_id, admission_id, contract_key: 'canary' })
  await upsertViolationGroups(tx, { contract_key: 'canary', contract_version: 1, payload_id }, [
    { pointer: '', keyword: 'canary' },
  ])
  const window_id = uuidv7()
  await insertWindow(tx, {
    ...{ window_id, contract_key: 'canary', contract_version: 1, payload_count: 1, record_count: 1 },
    ...{ sketch: sealed, last_admission_id: admission_id, opened_at: received_at },
  })
  await insertDriftFindings(tx, { window_id, contract_key: 'canary', contract_version: 1 }, [
    { kind: 'new_member', pointer: '/canary', item: '', facts: {}, first_payload_id: payload_id },
  ])
  const [finding] = await listDriftFindings(tx, { contract_key: 'canary', acknowledged: null }, null, 1)
  await insertDriftAcknowledgement(tx, assertFound(finding).finding_id, 'canary')
}

async function insertCanaryAdmission(tx: Tx, given: Pick<NewAdmission, 'result' | 'facts' | 'violations'>) {
  const payload_id = uuidv7()
  await insertPayload(tx, {
    ...{ payload_id, contract_key: 'canary', owner_kind: 'object', owner_id: payload_id, media_type: 'text/plain' },
    ...{ byte_size: 6, payload_hash: '0'.repeat(64), source_kind: 'canary', source_id: uuidv7() },
    ...{ restriction_id: null, received_at },
  })
  deferPayloadContent(tx, payload_id, sealed, received_at)
  const admission = await insertAdmission(tx, {
    ...{ admission_id: uuidv7(), payload_id, contract_key: 'canary', contract_origin: 'own', contract_version: 1 },
    ...{ contract_hash: '0'.repeat(64), incomplete: false, record_count: 1, more_violations: 0, notes: [] },
    ...{ provenance: { source: null, as_of: null }, list_receipt: [], replaces_admission_id: null },
    ...given,
  })
  return assertFound(admission)
}

/** A version that reads a fact. */
async function insertReader(tx: Tx): Promise<void> {
  const type = (await typeStore.findSharedType(tx, CONTRACT_TYPE)) ?? fail('internal')
  const dataset = assertFound(
    await datasetStore.insertDataset(tx, {
      dataset_id: uuidv7(),
      family: 'contract',
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
  await insertFactReaders(tx, { dataset_id: dataset.dataset_id, version: 1 }, [
    { contract_key: 'canary', fact: 'canary', input: 'canary' },
  ])
}
