/**
 * The examiner's pack: one archive with everything a decision used, which can be verified without this service. It holds the
 * entries that were read and their proofs, never whole lists.
 */
import { hash } from 'node:crypto'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound } from '#kernel/problem.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { type PackFile, toJsonFile, toTextFile, zipFiles } from '#kernel/zip-files.ts'
import { exportChainLines, listEvents } from '#modules/audit/index.ts'
import { findChangeRequest } from '#modules/change-requests/index.ts'
import { activationStore, resolver, treeStore, versionStore } from '#modules/definitions/index.ts'

import { binding } from '#modules/risk-matrices/index.ts'

import { buildOverlayTree } from '#registry/overlay.ts'
import { createCertificate } from '../certificate.ts'
import type { IntactEvaluation } from '../records/read-record.ts'
import { renderHtml, renderText } from './render-explanation.ts'

const FORMAT = 'probity-evaluation-pack/1'
const MAX_EVENTS = 200
const MAX_ACTIVATIONS = 1000

export async function createPack(
  kernel: binding.BindCapabilities & Capabilities<'auditKeys'>,
  tx: Tx,
  intact: IntactEvaluation,
): Promise<Buffer> {
  const { row, content, manifest } = intact
  const files: PackFile[] = [
    toTextFile('README.txt', README),
    // Exactly the hashed bytes: no newline at the end.
    toTextFile('document.json', row.document),
    toTextFile('explanation.txt', renderText(row, content)),
    toTextFile('explanation.html', renderHtml(row, content)),
    toJsonFile('receipt.json', { receipt_id: row.receipt_id, manifest_hash: row.receipt_hash, manifest }),
    toJsonFile('certificate.json', createCertificate(kernel, tx, intact)),
    toJsonFile('approvals.json', await listApprovals(tx, manifest, row.decided_at)),
  ]
  files.push(...(await buildDefinitionFiles(kernel, tx, intact)))
  for (const pin of manifest.filter(({ family }) => family === undefined)) {
    const read = content.used.filter(({ list_key }) => list_key === pin.list_key)
    files.push(...(await buildProofFiles(tx, `lists/${pin.list_key}`, pin, [...new Set(read.map(({ key }) => key))])))
  }
  files.push(...(await buildAuditFiles(kernel, tx, row.evaluation_id)))
  const contents = files.map(({ name, bytes }) => ({
    name,
    size_bytes: bytes.length,
    sha256: hash('sha256', bytes, 'hex'),
  }))
  const stated = { format: FORMAT, evaluation_id: row.evaluation_id, document_hash: row.document_hash, files: contents }
  return zipFiles([...files, toJsonFile('manifest.json', stated)])
}

/** The definition, and its parts with proofs. The number of parts is proved too, so that none can be left out. */
async function buildDefinitionFiles(
  kernel: binding.BindCapabilities,
  tx: Tx,
  { content, manifest }: IntactEvaluation,
): Promise<PackFile[]> {
  const { definition, compiled } = await binding.restoreResolution(kernel, tx, manifest, {
    engine: content.engine,
    plugins: 'pinned',
  })
  const parts = await resolver.loadList(kernel, tx, definition)
  const pin = assertFound(manifest.find(({ family }) => family === content.family))
  return [
    toJsonFile('definition.json', compiled.definition),
    ...(await buildProofFiles(tx, 'definition', pin, [...(parts?.entries.keys() ?? [])])),
  ]
}

/** Who activated each pinned version, as known at the time of the decision, with the change requests. */
async function listApprovals(tx: Tx, manifest: readonly resolver.PinnedVersion[], decided_at: string) {
  const approvals = []
  for (const pin of manifest) {
    const family = pin.family ?? 'list'
    const base = await listPinActivations(tx, pin.via === 'shared' ? SYSTEM_TENANT : tx.tenant_id, pin, 'base')
    const overlay = pin.overlay_version === null ? [] : await listPinActivations(tx, tx.tenant_id, pin, 'overlay')
    const activations = []
    for (const activation of [...base, ...overlay]) {
      if (activation.recorded_at > decided_at) continue
      const { dataset_tenant_id: _t, dataset_id: _d, ...said } = activation
      const request = said.cr_id === null ? null : ((await findChangeRequest(tx, said.cr_id)) ?? null)
      activations.push({ ...said, change_request: request })
    }
    approvals.push({
      family,
      key: pin.list_key,
      version: pin.version,
      overlay_version: pin.overlay_version,
      activations,
    })
  }
  return approvals
}

async function listPinActivations(tx: Tx, tenant_id: string, pin: resolver.PinnedVersion, layer: 'base' | 'overlay') {
  const of = { tenant_id, family: pin.family ?? ('list' as const), list_key: pin.list_key }
  const version = layer === 'base' ? pin.version : pin.overlay_version
  const dataset_id = layer === 'base' ? pin.dataset_id : pin.overlay_dataset_id
  const all = await activationStore.listActivations(tx, of, null, MAX_ACTIVATIONS)
  return all.filter((one) => one.layer === layer && one.version === version && one.dataset_id === dataset_id)
}

/** The version of a list, each entry that was read with its proof, and the effect of the tenant's overlay. */
async function buildProofFiles(
  tx: Tx,
  folder: string,
  pin: resolver.PinnedVersion,
  keys: readonly string[],
): Promise<PackFile[]> {
  const of = { tenant_id: pin.dataset_tenant_id, dataset_id: pin.dataset_id }
  const version = assertFound(await versionStore.findVersion(tx, of, pin.version))
  const files = [toJsonFile(`${folder}/version.json`, versionStore.toVersionView(pin.list_key, version))]
  const prove = treeStore.createProver((body) => body(tx), version)
  const rows = await versionStore.listEntriesByKey(tx, version, keys)
  const entries = new Map(rows.map((row) => [row.key, versionStore.parseEntry(row)]))
  for (const [index, key] of keys.entries()) {
    const entry = entries.get(key) ?? null
    const said = { list_key: pin.list_key, version: pin.version, key, present: entry !== null, entry }
    files.push(toJsonFile(`${folder}/proof-${index + 1}.json`, { ...said, proof: await prove(key) }))
  }
  if (pin.overlay_version !== null) files.push(...(await buildOverlayFiles(tx, folder, pin, keys)))
  return files
}

/** The overlay of each entry that was read, with a proof of presence or absence. */
async function buildOverlayFiles(
  tx: Tx,
  folder: string,
  pin: resolver.PinnedVersion,
  keys: readonly string[],
): Promise<PackFile[]> {
  const { list_key } = pin
  const version = pin.overlay_version as number
  const content_hash = pin.overlay_hash as string
  const changes = await resolver.readOverlay(tx, {
    dataset_id: pin.overlay_dataset_id as string,
    version,
    content_hash,
  })
  const tree = buildOverlayTree(changes)
  const read = changes.filter(({ key }) => keys.includes(key))
  return [
    toJsonFile(`${folder}/overlay.json`, { version, content_hash, changes: read }),
    ...keys.map((key, index) => {
      const { key: _, ...change } = read.find((one) => one.key === key) ?? { key }
      const present = 'op' in change
      const said = { list_key, version, key, present, change: present ? change : null }
      return toJsonFile(`${folder}/overlay-proof-${index + 1}.json`, { ...said, proof: tree.prove(key) })
    }),
  ]
}

/** Each audit event as a file for `verify audit`; events that are not chained yet are only listed. */
async function buildAuditFiles(kernel: Capabilities<'auditKeys'>, tx: Tx, evaluation_id: string): Promise<PackFile[]> {
  const about = { object_type: 'evaluations', object_id: evaluation_id }
  const filter = { actor: null, operation: null, from_at: null, until_at: null, ...about }
  const events = await listEvents(tx, filter, null, MAX_EVENTS)
  const files = [toJsonFile('audit/events.json', events)]
  for (const { seal } of events) {
    if (!seal) continue
    const lines: Buffer[] = []
    for await (const line of exportChainLines(tx, kernel.auditKeys, { first: seal.seq, last: seal.seq }))
      lines.push(line)
    files.push({ name: `audit/event-${seal.seq}.ndjson`, bytes: Buffer.concat(lines) })
  }
  return files
}

const README = `What this archive holds

explanation.html       the decision, for reading; explanation.txt is the same as plain text
document.json          the decision document, exactly the bytes that were hashed
certificate.json       the document again, with its hash, signed
receipt.json           the versions of the lists and of the definition it was decided with
definition.json        the matrix or rule as it was written
definition/            the same version part by part, each with its proof
approvals.json         who put each of those versions in force, when, why, and who approved it
lists/KEY/version.json where each list version came from, and its content hash
lists/KEY/proof-N.json each entry that was read, with the proof that it was in that version
lists/KEY/overlay.json what the tenant's own overlay said of those entries, where there is one
lists/KEY/overlay-proof-N.json
                       the same entry by entry, with the proof that the overlay says this of it, or nothing
audit/                 what was recorded about this decision, each event with its place in the chain
manifest.json          every file here with its size and sha256

How to verify it, on any machine, without the service

  npx probity verify certificate certificate.json --key PUBLIC_KEY
  npx probity verify proof lists/KEY/proof-1.json --hash CONTENT_HASH
  npx probity verify proof lists/KEY/overlay-proof-1.json --hash OVERLAY_HASH
  npx probity verify proof definition/proof-1.json --hash CONTENT_HASH
  npx probity verify audit audit/event-N.ndjson --key PUBLIC_KEY

PUBLIC_KEY is the one you hold from elsewhere; GET /api/audit/checkpoints shows it. CONTENT_HASH is in the certificate:
under document for the definition, under document and lists for a list; OVERLAY_HASH is next to the latter.
`
