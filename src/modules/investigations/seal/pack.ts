/** The archive of a sealed case: what an examiner reads, and what can be verified without this service. */
import { hash } from 'node:crypto'
import { signManifest } from '#kernel/audit/signed-manifest.ts'
import { nameActors } from '#kernel/auth/actor-names.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { DOCUMENTS_FILE, PACK_FORMAT } from '#kernel/pack-formats.ts'
import { assertFound, fail, Problem } from '#kernel/problem.ts'
import { type PackFile, toJsonFile, toTextFile, zipFiles } from '#kernel/zip-files.ts'
import { listDocumentFiles } from '#modules/documents/index.ts'
import { readParagraphs } from '../narrative/narrative.ts'
import { findNarrative } from '../narrative/queries.ts'
import type { InvestigationRow } from '../queries.ts'
import { toSummary } from '../view.ts'
import { listChangedFiles, listLaterEvents, openCaseFiles, readCaseFiles, readTimeline } from './case-files.ts'
import { findHiddenContent, listSeals, type SealRow } from './queries.ts'

/** The newest seal or the one with this number, for people who may see all that it names; 409 where the case was never closed. */
export async function expectSeal(tx: Tx, { investigation_id }: InvestigationRow, seal_no?: number): Promise<SealRow> {
  const seals = await listSeals(tx, investigation_id)
  const [newest] = seals
  if (!newest) return fail('transition_not_allowed', 'The investigation was never closed, so it has no seal.')
  const seal = seal_no === undefined ? newest : assertFound(seals.find((each) => each.seal_no === seal_no))
  return (await findHiddenContent(tx, investigation_id)) ? refuseHidden() : seal
}

const refuseHidden = () => fail('transition_not_allowed', 'Part of what was sealed is not available to you.')

type PackKernel = Capabilities<'auditKeys' | 'caches' | 'encryption'>

export async function createPack(
  kernel: PackKernel,
  tx: Tx,
  row: InvestigationRow,
  seal_no: number | undefined,
): Promise<Buffer> {
  const { investigation_id } = row
  const seal = await expectSeal(tx, row, seal_no)
  const { files: content, ...stated } = await readContent(kernel, tx, row, seal)
  const files: PackFile[] = [
    toTextFile('README.txt', README),
    toJsonFile('seal.json', seal.manifest),
    toJsonFile('investigation.json', toSummary(row)),
    ...content,
    ...(await readNarrativeFile(kernel, tx, row, seal)),
  ]
  if (stated.shows !== 'erased') files.push(await readDocumentsFile(tx, seal), await readPeopleFile(tx, files))
  const contents = files.map(({ name, bytes }) => ({
    name,
    size_bytes: bytes.length,
    sha256: hash('sha256', bytes, 'hex'),
  }))
  const sealed = { seal_no: seal.seal_no, seal_hash: seal.manifest_hash }
  const facts = { tenant_id: tx.tenant_id, investigation_id, ...sealed, state: row.state }
  const manifest = signManifest(kernel.auditKeys, PACK_FORMAT, { ...facts, ...stated, files: contents })
  return zipFiles([...files, toJsonFile('manifest.json', manifest)])
}

/**
 * What was sealed, and whether the case is another one now. A seal of the first format has no copy: the archive shows the case as it is,
 * and whoever verifies it compares what that seal says of it.
 */
async function readContent(kernel: PackKernel, tx: Tx, row: InvestigationRow, seal: SealRow) {
  const current = await readCaseFiles(kernel, tx, row)
  const { content } = seal
  if (content === null) return { shows: 'current', changed: [], salt: null, files: current }
  const sealed = await openCaseFiles(kernel, tx, row, { ...seal, content })
  if (!sealed) return { shows: 'erased', changed: [], salt: null, files: [] }
  const later = listLaterEvents(sealed.files, await readTimeline(kernel, tx, row)) ?? refuseHidden()
  return {
    shows: 'sealed',
    changed: listChangedFiles(sealed.files, current),
    salt: sealed.salt,
    files: [...sealed.files, toJsonFile('since-seal.json', later)],
  }
}

interface SealedItem {
  readonly evidence_id: string
  readonly kind: string
  readonly object_id: string
  readonly content_hash: string
}

/**
 * Which files the sealed documents are, so that somebody who has one can tell which evidence it is. It is made for each archive:
 * the seal keeps no hash of plain bytes, which has to end with the document.
 */
async function readDocumentsFile(tx: Tx, { manifest }: SealRow): Promise<PackFile> {
  const sealed = (manifest['evidence'] as SealedItem[]).filter(({ kind }) => kind === 'document')
  const ids = sealed.map(({ object_id }) => object_id)
  const files = new Map((await listDocumentFiles(tx, ids)).map((file) => [file.document_id, file]))
  const documents = sealed.flatMap(({ evidence_id, object_id, content_hash }) => {
    const file = files.get(object_id)
    // The sealed hash is of the encrypted bytes: another one is of other bytes.
    if (!file || file.sha256 === null || file.encrypted_sha256 !== content_hash) return []
    const { document_id, media_type, size_bytes, sha256 } = file
    return [{ evidence_id, document_id, media_type, size_bytes, sha256 }]
  })
  return toJsonFile(DOCUMENTS_FILE, documents)
}

/** Who the ids of people and keys in the files are. */
async function readPeopleFile(tx: Tx, files: readonly PackFile[]): Promise<PackFile> {
  const actors = files.flatMap(({ bytes }) => `${bytes}`.match(/\b(user|key):[0-9a-f-]{36}\b/g) ?? [])
  return toJsonFile('people.json', await nameActors(tx, actors))
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

const README = `What this archive holds

seal.json                  what the case consisted of when it was closed: ids and hashes, signed
narrative.json             the narrative as it was sealed, exactly the bytes that were hashed
closing.json               who closed it with which outcome, and what they wrote
playbook.json              the version of the playbook that was followed
steps.json, tasks.json,
information-requests.json,
evidence.json              what was gathered and done; evidence names objects with the hash of their content; "entered": a person entered the
                           answer in place of the provider, and why
timeline.json              who did what and when, with what they wrote, up to the seal
documents.json             SHA-256, type and size of each file that the evidence names, while the service has it; it is not sealed
since-seal.json            what happened afterwards; it is not sealed
investigation.json         the case as it is now; it is not sealed
people.json                names of the people and keys in the other files, as they are called now; it is not sealed
manifest.json              every file with its SHA-256, and whether the case has changed since the seal, signed when the archive was made

What it does not hold: the documents themselves, the answers of providers and the decisions. An archive that has left the service
cannot be erased, so they stay there, and people with access read them there: each reading is recorded. The report of the case says
what each item of evidence is and says. Hashes in evidence.json are keyed, salted or of encrypted bytes, so they cannot be compared
with a file; those in documents.json can.

What was sealed is shown as it was, also where the case was opened again. An archive of a seal of the first format
(probity-investigation-seal/1) has no closing.json and no since-seal.json, and shows the case as it is now. After an erasure only
the ids and hashes of the seal are left.

How to verify it

  npx probity verify pack FILE.zip --key PUBLIC_KEY
  npx probity verify pack FILE.zip --key PUBLIC_KEY --document PASSPORT.pdf

needs no server and no database. It checks both signatures, every file against manifest.json and against the seal, that what was
closed is what was proposed, and says where the case has changed since; with --document also which evidence a file is. The public key is shown by GET /api/audit/checkpoints.
`
