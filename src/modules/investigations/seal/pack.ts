/** The archive of a sealed case: what an examiner reads, and what can be verified without this service. */
import { hash } from 'node:crypto'
import { signManifest } from '#kernel/audit/signed-manifest.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { PACK_FORMAT } from '#kernel/pack-formats.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { type PackFile, toJsonFile, toTextFile, zipFiles } from '#kernel/zip-files.ts'
import { openNotes } from '../case-notes.ts'
import { loadPinned } from '../lifecycle/outcomes.ts'
import { listCaseEvidence, readParagraphs } from '../narrative/narrative.ts'
import { findNarrative } from '../narrative/queries.ts'
import { type InvestigationRow, listSteps, listTimeline } from '../queries.ts'
import { listRequests, listTasks } from '../tasks/queries.ts'
import { toStep, toSummary } from '../view.ts'
import { listSeals, type SealRow } from './queries.ts'

const MAX_EVENTS = 10_000

/** The newest seal; 409 where the case was never closed. */
export async function expectSeal(tx: Tx, { investigation_id }: InvestigationRow): Promise<SealRow> {
  const [seal] = await listSeals(tx, investigation_id)
  return seal ?? fail('transition_not_allowed', 'The investigation was never closed, so it has no seal.')
}

type PackKernel = Capabilities<'auditKeys' | 'caches' | 'encryption'>

export async function createPack(kernel: PackKernel, tx: Tx, row: InvestigationRow): Promise<Buffer> {
  const { investigation_id } = row
  const seal = await expectSeal(tx, row)
  const files: PackFile[] = [
    toTextFile('README.txt', README),
    toJsonFile('seal.json', seal.manifest),
    toJsonFile('investigation.json', toSummary(row)),
    toJsonFile('playbook.json', (await loadPinned({ kernel, tx }, row)).content),
    toJsonFile('steps.json', (await listSteps(tx, investigation_id)).map(toStep)),
    toJsonFile('tasks.json', await listTasks(tx, investigation_id)),
    toJsonFile('information-requests.json', await listRequests(tx, investigation_id)),
    toJsonFile('evidence.json', await listCaseEvidence(tx, investigation_id)),
    toJsonFile('timeline.json', await readTimeline(kernel, tx, row)),
    ...(await readNarrativeFile(kernel, tx, row, seal)),
  ]
  const contents = files.map(({ name, bytes }) => ({
    name,
    size_bytes: bytes.length,
    sha256: hash('sha256', bytes, 'hex'),
  }))
  const { seal_no, manifest_hash } = seal
  const stated = { tenant_id: tx.tenant_id, investigation_id, seal_no, seal_hash: manifest_hash, files: contents }
  return zipFiles([...files, toJsonFile('manifest.json', signManifest(kernel.auditKeys, PACK_FORMAT, stated))])
}

/** Exactly the hashed bytes of the sealed version; none where the subject was erased. */
async function readNarrativeFile(
  kernel: PackKernel,
  tx: Tx,
  row: InvestigationRow,
  seal: SealRow,
): Promise<PackFile[]> {
  const sealed = seal.manifest['narrative'] as { readonly version: number } | null
  const stored = sealed && (await findNarrative(tx, row.investigation_id, sealed.version))
  if (!stored) return []
  try {
    return [toTextFile('narrative.json', (await readParagraphs(kernel, tx, row, stored)).text)]
  } catch (error) {
    if (error instanceof Problem && error.code === 'erased') return []
    throw error
  }
}

async function readTimeline(kernel: PackKernel, tx: Tx, row: InvestigationRow) {
  const events = await listTimeline(tx, { ...row, category: null }, null, MAX_EVENTS)
  const notes = await openNotes(kernel, tx, row, events)
  return events
    .map(({ event_id, kind, category, data, recorded_at, recorded_by }, at) => ({
      ...{ event_id, kind, category, data, recorded_at, recorded_by },
      note: notes[at]?.note ?? null,
    }))
    .toReversed()
}

const README = `What this archive holds

seal.json                  what the case consisted of when it was closed: ids and hashes, signed
narrative.json             the narrative as it was sealed, exactly the bytes that were hashed
playbook.json              the version of the playbook that was followed
steps.json, tasks.json,
information-requests.json,
evidence.json              what was gathered and done; evidence names objects with the hash of their content
timeline.json              who did what and when, with what they wrote
investigation.json         the case as it is now
manifest.json              every file with its SHA-256, signed when the archive was made

How to verify it

  npx probity verify pack FILE.zip --key PUBLIC_KEY

needs no server and no database. It checks both signatures, every file against manifest.json, the narrative and the evidence
against the seal, and that what was closed is what was proposed. The public key is shown by GET /api/audit/checkpoints.
`
