/** What the archive of a case shows, as files. Sealing stores them encrypted for the subject, and the seal has their salted hashes. */
import { hash, randomBytes } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { encryptCopy, openCopies } from '#kernel/encryption/copies.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { hashSealedFile } from '#kernel/pack-formats.ts'
import { fail } from '#kernel/problem.ts'
import { type PackFile, toJsonFile, toTextFile } from '#kernel/zip-files.ts'
import { openNotes } from '../case-notes.ts'
import { loadPinned } from '../lifecycle/outcomes.ts'
import { listCaseEvidence } from '../narrative/narrative.ts'
import { type InvestigationRow, listSteps, listTimeline, type StepRow } from '../queries.ts'
import { listRequests, listTasks } from '../tasks/queries.ts'
import { getStepInput, toStep } from '../view.ts'
import type { SealRow } from './queries.ts'

type FileKernel = Capabilities<'caches' | 'encryption'>
export type TimelineEntry = Awaited<ReturnType<typeof readTimeline>>[number]

const MAX_EVENTS = 10_000
const TIMELINE = 'timeline.json'

/** As the case is now. */
export async function readCaseFiles(kernel: FileKernel, tx: Tx, row: InvestigationRow): Promise<PackFile[]> {
  const { investigation_id } = row
  return [
    toJsonFile('playbook.json', (await loadPinned({ kernel, tx }, row)).content),
    toJsonFile('steps.json', (await listSteps(tx, investigation_id)).map(toStepEntry)),
    toJsonFile('tasks.json', await listTasks(tx, investigation_id)),
    toJsonFile('information-requests.json', await listRequests(tx, investigation_id)),
    toJsonFile('evidence.json', await listCaseEvidence(tx, investigation_id)),
    toJsonFile(TIMELINE, await readTimeline(kernel, tx, row)),
  ]
}

/** What a person gave a provider is in no version of a playbook. */
const toStepEntry = (step: StepRow) => ({
  ...toStep(step),
  ...(step.origin === 'person' && { input: getStepInput(step) }),
})

/** Oldest first, with what people wrote. */
export async function readTimeline(kernel: Capabilities<'encryption'>, tx: Tx, row: InvestigationRow) {
  const events = await listTimeline(tx, { ...row, category: null }, null, MAX_EVENTS)
  const notes = await openNotes(kernel, tx, row, events)
  return events
    .map(({ event_id, kind, category, data, recorded_at, recorded_by }, at) => ({
      ...{ event_id, kind, category, data, recorded_at, recorded_by },
      note: notes[at]?.note ?? null,
    }))
    .toReversed()
}

const toLocation = ({ investigation_id }: InvestigationRow, seal_no: number) => ({
  table: 'investigation_seal',
  row_id: `${investigation_id}/${seal_no}`,
  column: 'content',
})
const toOwner = ({ subject_id }: InvestigationRow) => ({ kind: 'subject' as const, id: subject_id })

interface SealedContent {
  readonly salt: string
  readonly files: Readonly<Record<string, string>>
}

/** The files of a case that is being closed: encrypted, and as the seal names them. */
export async function encryptCaseFiles(
  kernel: FileKernel,
  tx: Tx,
  row: InvestigationRow,
  { seal_no, closing }: { readonly seal_no: number; readonly closing: object },
) {
  const salt = randomBytes(16).toString('hex')
  const files = [...(await readCaseFiles(kernel, tx, row)), toJsonFile('closing.json', closing)]
  const named = files.map(({ name, bytes }) => ({ name, salted_sha256: hashSealedFile(salt, name, bytes) }))
  const stored: SealedContent = { salt, files: Object.fromEntries(files.map((file) => [file.name, `${file.bytes}`])) }
  const copy = { owner: toOwner(row), at: toLocation(row, seal_no), text: canonicalJson(stored) }
  return { content: await encryptCopy(kernel, tx, copy), files: named }
}

export interface OpenedFiles {
  readonly salt: string
  readonly files: readonly PackFile[]
}

/** Exactly the files that were sealed; null where the subject was erased. */
export async function openCaseFiles(
  kernel: FileKernel,
  tx: Tx,
  row: InvestigationRow,
  { seal_no, content }: SealRow & { readonly content: Buffer },
): Promise<OpenedFiles | null> {
  const copy = { owner: toOwner(row), at: toLocation(row, seal_no), stored: content }
  const [opened] = await openCopies(kernel, tx, [copy])
  if (opened === 'erased') return null
  if (opened === undefined || opened === 'altered') return fail('content_corrupt')
  const { salt, files } = JSON.parse(opened.text) as SealedContent
  return { salt, files: Object.entries(files).map(([name, text]) => toTextFile(name, text)) }
}

/**
 * Whether an item is restricted may change after it was sealed; the input of a step and who entered an answer never change, and earlier
 * seals do not have them.
 */
const incomparable: readonly string[] = ['restriction_id', 'input', 'entered']
const toComparable = (bytes: Buffer): string => {
  const value: unknown = JSON.parse(`${bytes}`, (key, member) => (incomparable.includes(key) ? undefined : member))
  return hash('sha256', canonicalJson(value), 'hex')
}

/** Names of files whose content is another one now. The timeline goes on, so it is compared by its events. */
export function listChangedFiles(sealed: readonly PackFile[], current: readonly PackFile[]): string[] {
  const now = new Map(current.map(({ name, bytes }) => [name, bytes]))
  return sealed.flatMap(({ name, bytes }) => {
    const other = now.get(name)
    if (!other || name === TIMELINE) return []
    return toComparable(bytes) === toComparable(other) ? [] : [name]
  })
}

/** Events that came after the sealed ones; undefined where the reader may not see all that was sealed. */
export function listLaterEvents(
  sealed: readonly PackFile[],
  current: readonly TimelineEntry[],
): readonly TimelineEntry[] | undefined {
  const file = sealed.find(({ name }) => name === TIMELINE)
  const known = new Set((JSON.parse(`${file?.bytes ?? '[]'}`) as TimelineEntry[]).map(({ event_id }) => event_id))
  const later = current.filter(({ event_id }) => !known.has(event_id))
  return current.length - later.length === known.size ? later : undefined
}
