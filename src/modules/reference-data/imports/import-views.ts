/** What clients see of an import, and what it keeps of its file. */
import { readStoredJson } from '#kernel/database/stored-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { Static } from '#kernel/schema.ts'
import type { UploadRow } from '#modules/system/index.ts'
import { toPluginMember } from './plugin-adapters.ts'
import type { ImportRow, ImportSource } from './queries.ts'
import type { ImportView } from './schema.ts'

/** `has_secrets`: members of the file are dropped or hashed, so its plain hash must not be stored. */
export function toImportSource(
  kernel: Capabilities<'auditKeys'>,
  tx: Tx,
  upload: UploadRow,
  has_secrets: boolean,
): ImportSource {
  const { file_name, size_bytes, sha256 } = upload
  if (!has_secrets) return { file_name, size_bytes, sha256 }
  return { file_name, size_bytes, sha256: null, fingerprint: kernel.auditKeys.fingerprint(`${tx.tenant_id}:${sha256}`) }
}

/** The counts of a delta are stored together with those of the file. */
const toCountsView = ({ delta = null, ...counts }: ImportRow['counts']) => ({
  counts: Object.keys(counts).length === 0 ? null : readStoredJson<Static<typeof ImportView>['counts']>(counts),
  delta: readStoredJson<Static<typeof ImportView>['delta']>(delta),
})

export const toImportView = (row: ImportRow): Static<typeof ImportView> => ({
  import_id: row.import_id,
  list_key: row.list_key,
  state: row.state as Static<typeof ImportView>['state'],
  job_id: row.job_id,
  adapter_key: row.adapter_key,
  adapter_version: row.adapter_version,
  upload_id: row.upload_id,
  // Canary rows have no settings.
  order:
    'strict' in row.order_text
      ? readStoredJson({ options: row.options, delta: null, ...row.order_text, ...toPluginMember(row.order_text) })
      : null,
  source: row.source,
  progress: { done: row.progress_done ?? 0, total: row.progress_total, unit: row.progress_unit },
  ...toCountsView(row.counts),
  rejects: readStoredJson(row.rejects),
  gates: readStoredJson(row.gates),
  warnings: readStoredJson(row.warnings),
  files: readStoredJson(row.files),
  version: row.version,
  problem: row.problem,
  created_at: row.created_at,
  created_by: row.created_by,
  finished_at: row.finished_at,
})
