/** Attaches an object to an owner with the hash of its content, and compares that hash later. */
import type { Static } from 'typebox'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { EvidenceKind, EvidenceObject, EvidenceOwner, Module } from '#kernel/module.ts'
import { assertFound, assertReferenced, fail, Problem } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { findRestriction, prepareRestriction } from '#modules/restrictions/index.ts'
import { compareAttachment, recordAttachment } from './attached-record.ts'
import { hashContent } from './evidence-kinds.ts'
import { type EvidenceRow, insertEvidence, type NewEvidence } from './queries.ts'
import type { EvidenceRequest } from './schema.ts'

type Request = Static<typeof EvidenceRequest>
type EvidenceKernel = Capabilities<'auditKeys' | 'encryption' | 'integrity' | 'modules'>

const EXTERNAL = 'external_reference'

const listKinds = (modules: readonly Module[]): readonly EvidenceKind[] =>
  modules.flatMap(({ evidence_kinds = [] }) => evidence_kinds)

const listOwners = (modules: readonly Module[]): readonly EvidenceOwner[] =>
  modules.flatMap(({ evidence_owners = [] }) => evidence_owners)

function findKind({ modules }: EvidenceKernel, name: string): EvidenceKind {
  const kinds = listKinds(modules)
  const names = [...kinds.map(({ kind }) => kind), EXTERNAL].join(', ')
  return (
    kinds.find(({ kind }) => kind === name) ??
    fail('conflict', `Evidence of the kind ${name} cannot be attached yet. These kinds can: ${names}.`)
  )
}

async function findOwner({ modules }: EvidenceKernel, tx: Tx, { owner_kind, owner_id }: Request) {
  const owner = listOwners(modules).find(({ kind }) => kind === owner_kind)
  if (!owner) return fail('conflict', `Evidence cannot be attached to an object of the kind ${owner_kind} yet.`)
  return assertReferenced(await owner.find(tx, owner_id), `${owner_kind} with this id`)
}

interface Reference {
  readonly title: string | null
  readonly reference: string | null
  readonly source: string | null
  readonly obtained_at: string
}

/** An instant is written differently in a request and by the database. */
const hashReference = (kernel: EvidenceKernel, tx: Tx, { obtained_at, ...texts }: Reference): Promise<string> =>
  hashContent(kernel, tx, { ...texts, obtained_ms: Date.parse(obtained_at) })

/** What the request says about something outside; its hash is that of the reference itself. */
async function describeReference(kernel: EvidenceKernel, tx: Tx, request: Request): Promise<EvidenceObject> {
  const { title, reference, source, obtained_at, object_id, object_version } = request
  if (reference === undefined || source === undefined || obtained_at === undefined)
    return fail('conflict', 'A reference to something outside needs reference, source and obtained_at.')
  if (object_id !== undefined || object_version !== undefined)
    return fail('conflict', 'A reference to something outside names no object.')
  const content_hash = await hashReference(kernel, tx, { title, reference, source, obtained_at })
  return { content_hash, source, obtained_at, restriction_id: null }
}

async function describeObject(kernel: EvidenceKernel, tx: Tx, request: Request): Promise<EvidenceObject> {
  const { kind, object_id, object_version = null, reference } = request
  const { resolve } = findKind(kernel, kind)
  if (object_id === undefined) return fail('conflict', `Evidence of the kind ${kind} needs object_id.`)
  if (reference !== undefined) return fail('conflict', 'Only a reference to something outside has reference.')
  if (object_version !== null && kind !== 'subject_version')
    return fail('conflict', 'Only a subject_version has object_version.')
  const found = assertReferenced(await resolve(kernel, tx, { object_id, object_version }), `${kind} with this id`)
  return { ...found, source: request.source ?? found.source, obtained_at: request.obtained_at ?? found.obtained_at }
}

/** That of the owner, otherwise of the request, otherwise of the object, otherwise a new one that is not in force. */
async function chooseRestriction(
  tx: Tx,
  evidence_id: string,
  given: { readonly owner: string | null; readonly requested: string | null; readonly object: string | null },
): Promise<string> {
  const { owner, requested, object } = given
  if (owner !== null && requested !== null && owner !== requested)
    fail('conflict', 'What it is attached to has a restriction of its own, which the evidence takes.')
  if (requested !== null) assertReferenced(await findRestriction(tx, requested), 'restriction with this id')
  const chosen = owner ?? requested ?? object
  // Whoever may see the item, and not the object, would learn of it.
  if (object !== null && chosen !== object && (await findRestriction(tx, object))?.is_in_force)
    fail('conflict', 'The object belongs to another restriction in force, so it cannot be shown here.')
  return chosen ?? prepareRestriction(tx, `Evidence ${evidence_id}`, 'evidence')
}

/** The caller records it. */
export async function createEvidence(kernel: EvidenceKernel, tx: Tx, request: Request): Promise<EvidenceRow> {
  const { owner_kind, owner_id, kind, object_id = null, object_version = null, title, reference = null } = request
  const owner = await findOwner(kernel, tx, request)
  const object = await (kind === EXTERNAL ? describeReference : describeObject)(kernel, tx, request)
  if (Date.parse(object.obtained_at) > Date.now()) fail('conflict', 'It cannot have been obtained in the future.')
  const evidence_id = uuidv7()
  const restriction_id = await chooseRestriction(tx, evidence_id, {
    owner: owner.restriction_id,
    requested: request.restriction_id ?? null,
    object: object.restriction_id,
  })
  const { content_hash, source, obtained_at } = object
  const item = { evidence_id, restriction_id, owner_kind, owner_id, kind, object_id, object_version, title, reference }
  const attached = assertFound(await insertEvidence(tx, { ...item, source, content_hash, obtained_at }))
  await noteOwnerChange(kernel, tx, attached)
  return attached
}

/** For objects of other modules: `request_id` of the request about something else, null in a job. */
export async function attachEvidence(
  kernel: EvidenceKernel,
  tx: Tx,
  request: Request,
  request_id: string | null,
): Promise<EvidenceRow> {
  const attached = await createEvidence(kernel, tx, request)
  await recordAttachment(kernel, tx, attached, request_id)
  return attached
}

/** As attachEvidence, of an object whose hash the caller knows. The change of its owner is noted by the caller. */
export async function attachKnown(
  kernel: Capabilities<'auditKeys'>,
  tx: Tx,
  item: NewEvidence,
  request_id: string | null,
): Promise<EvidenceRow> {
  const attached = assertFound(await insertEvidence(tx, item))
  await recordAttachment(kernel, tx, attached, request_id)
  return attached
}

/** After evidence was attached or detached. */
export const noteOwnerChange = async (
  { modules }: Pick<EvidenceKernel, 'modules'>,
  tx: Tx,
  { owner_kind, owner_id }: Pick<EvidenceRow, 'owner_kind' | 'owner_id'>,
): Promise<void> =>
  listOwners(modules)
    .find(({ kind }) => kind === owner_kind)
    ?.noteChange?.(tx, owner_id)

const isGone = (error: unknown): boolean => error instanceof Problem && error.code === 'erased'

const isCorrupt = (error: unknown): boolean => error instanceof Problem && error.code === 'content_corrupt'

type Comparison = 'unchanged' | 'changed' | 'gone'

/** Compares the object with its hash, and the item with what was recorded when it was attached. */
export async function compareEvidence(kernel: EvidenceKernel, tx: Tx, item: EvidenceRow) {
  const { record, altered } = await compareAttachment(kernel, tx, item)
  const isAltered = record === 'damaged' || altered.length > 0
  const result: Comparison = isAltered ? 'changed' : await compareObject(kernel, tx, item)
  return { result, record, altered: [...altered] }
}

/** Computes the hash of the object again. */
async function compareObject(kernel: EvidenceKernel, tx: Tx, item: EvidenceRow): Promise<Comparison> {
  const { kind, object_id, object_version, title, reference, source, obtained_at, content_hash } = item
  if (item.erased_at !== null) return 'gone'
  try {
    const current =
      object_id === null
        ? await hashReference(kernel, tx, { title, reference, source, obtained_at })
        : (await findKind(kernel, kind).resolve(kernel, tx, { object_id, object_version }))?.content_hash
    if (current === undefined) return 'gone'
    return current === content_hash ? 'unchanged' : 'changed'
  } catch (error) {
    if (isGone(error)) return 'gone'
    if (isCorrupt(error)) return 'changed'
    throw error
  }
}
