/**
 * Every column that keeps a hash, with why nobody can try out what it was made of. A new one needs a reason here and in
 * docs/adr/0032-salted-decision-documents.md.
 */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { projectRoot } from './support/database.ts'

type Reason =
  /** The salt goes with the content. */
  | 'salted'
  /** Made with a key that is only stored encrypted. */
  | 'keyed'
  /** Of values nobody can guess. */
  | 'random'
  /** Of versions, definitions and other configuration. */
  | 'not personal'
  /** Is in the same row as its input, and is deleted with it. */
  | 'beside its content'

const reasons: Readonly<Record<string, Reason>> = {
  'activation.hash': 'beside its content',
  'activation.prev_hash': 'beside its content',
  'alert.fingerprint': 'salted',
  'alert_occurrence.fingerprint': 'salted',
  'api_key.previous_secret_hash': 'random',
  'api_key.secret_hash': 'random',
  'audit_checkpoint.hash': 'beside its content',
  'audit_checkpoint.signature': 'keyed',
  'audit_event.mac': 'keyed',
  'audit_head.hash': 'beside its content',
  'audit_head.mac': 'keyed',
  'audit_link.event_hash': 'beside its content',
  'audit_link.hash': 'beside its content',
  'audit_link.prev_hash': 'beside its content',
  'batch_evaluation.receipt_hash': 'not personal',
  'batch_item.document_hash': 'salted',
  'batch_item.external_id_hash': 'keyed',
  'change_request.content_hash': 'beside its content',
  'dataset_entry.base_hash': 'beside its content',
  'dataset_entry.hash': 'beside its content',
  'dataset_type.definition_hash': 'not personal',
  'dataset_version.content_hash': 'beside its content',
  'document.encrypted_sha256': 'random',
  'document.sha256': 'beside its content',
  'erasure.ledger_hash': 'not personal',
  'evaluation.document_hash': 'salted',
  'evaluation.mac': 'keyed',
  'evaluation.receipt_hash': 'not personal',
  'evidence_item.content_hash': 'keyed',
  'idempotency.fingerprint': 'keyed',
  'impact_run.content_hash': 'not personal',
  'impact_run.manifest_hash': 'not personal',
  'investigation.playbook_hash': 'not personal',
  'investigation.proposal_hash': 'salted',
  'investigation_narrative.content_hash': 'salted',
  'investigation_seal.manifest_hash': 'salted',
  'investigation_seal.signature': 'keyed',
  'mcp_approval.arguments_hash': 'keyed',
  'mcp_call.arguments_hash': 'keyed',
  'mcp_call.result_hash': 'keyed',
  'migration.checksum': 'not personal',
  'migration_run.checksum': 'not personal',
  'report.snapshot_sha256': 'salted',
  'report_format.sha256': 'salted',
  'operator_event.hash': 'beside its content',
  'operator_event.prev_hash': 'beside its content',
  'payload_admission.contract_hash': 'not personal',
  'plugin_configuration.configuration_hash': 'beside its content',
  'plugin_invocation.content_hash': 'not personal',
  'plugin_invocation.sandbox_hash': 'not personal',
  'plugin_validation.content_hash': 'not personal',
  'plugin_validation.sandbox_hash': 'not personal',
  'provider_call.input_hash': 'keyed',
  'provider_credential_version.fingerprint': 'keyed',
  'resolution_receipt.manifest_hash': 'not personal',
  'seed_ledger.seed_hash': 'not personal',
  'source_payload.payload_hash': 'keyed',
  'tenant_deletion.audit_hash': 'random',
  'tool_pin.definition_hash': 'beside its content',
  'tool_server_tool.offered_hash': 'beside its content',
  'tool_server_tool.pinned_hash': 'beside its content',
  'upload.sha256': 'beside its content',
}

function keptHashes(): string[] {
  const schema = fs.readFileSync(path.join(projectRoot, 'docs/schema.sql'), 'utf8')
  let table = ''
  return schema.split('\n').flatMap((line) => {
    table = /^create table app\.(\w+)/i.exec(line)?.[1] ?? table
    const column = /^ {2}(\w*(?:hash|sha256|fingerprint|mac|digest|checksum|signature)\w*) (?:text|bytea)/.exec(
      line,
    )?.[1]
    return column === undefined ? [] : [`${table}.${column}`]
  })
}

test('every column that keeps a hash is listed with the reason why it may', () => {
  const kept = keptHashes()
  expect(kept.length).toBeGreaterThan(20)
  expect(kept.sort()).toEqual(Object.keys(reasons).sort())
})
