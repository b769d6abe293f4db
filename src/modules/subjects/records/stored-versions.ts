/** Earlier versions of subjects as they are stored: encrypted for the subject, except those that an earlier release wrote. */
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { decryptCopies, encryptCopies } from '#kernel/encryption/copies.ts'
import { OwnerKeyDestroyed } from '#kernel/encryption/failures.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import {
  listRevisions,
  type NewSubject,
  type StoredEventRow,
  type StoredVersionRow,
  type SubjectEventRow,
  type SubjectRow,
  type SubjectVersionRow,
} from './queries.ts'

const contentMembers = ['external_id', 'name', 'segment', 'attributes', 'offboard_reason'] as const
type VersionContent = Pick<SubjectVersionRow, (typeof contentMembers)[number]>
type Version = VersionContent & { readonly subject_id: string; readonly revision: number }

export const toVersionPlace = ({ subject_id, revision }: Pick<Version, 'subject_id' | 'revision'>) => ({
  owner: { kind: 'subject', id: subject_id } as const,
  at: { table: 'subject_version', row_id: `${subject_id}/${revision}`, column: 'content' },
})

export const toVersionText = ({ external_id, name, segment, attributes, offboard_reason }: VersionContent): string =>
  JSON.stringify({ external_id, name, segment, attributes, offboard_reason } satisfies VersionContent)

/** The versions that changes end, encrypted; 410 where one of the subjects was erased. */
export async function encryptVersions(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  subjects: readonly SubjectRow[],
): Promise<Buffer[]> {
  const copies = subjects.map((subject) => ({ ...toVersionPlace(subject), text: toVersionText(subject) }))
  const encrypted = await encryptCopies(kernel, tx, copies)
  return encrypted.map((bytes) => {
    if (bytes === null) throw new OwnerKeyDestroyed()
    return bytes
  })
}

/** Changes together with the versions that they end. */
export async function withEarlierVersions<T extends NewSubject>(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  changes: readonly { readonly before: SubjectRow; readonly after: T }[],
): Promise<(T & { readonly earlier_content: Buffer })[]> {
  const encrypted = await encryptVersions(
    kernel,
    tx,
    changes.map(({ before }) => before),
  )
  return changes.map(({ after }, index) => ({ ...after, earlier_content: encrypted[index] as Buffer }))
}

const NO_CONTENT = { external_id: null, name: null, segment: null, attributes: {}, offboard_reason: null } as const

export async function openVersions(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  subject_id: string,
  rows: readonly StoredVersionRow[],
): Promise<SubjectVersionRow[]> {
  const encrypted = rows.flatMap(({ revision, content: stored }) =>
    stored === null ? [] : [{ ...toVersionPlace({ subject_id, revision }), stored }],
  )
  const texts = (await decryptCopies(kernel, tx, encrypted)).values()
  return rows.map(({ content, ...row }): SubjectVersionRow => {
    if (content === null) return { ...row, is_erased: false }
    const text = texts.next().value ?? null
    return text === null
      ? { ...row, ...NO_CONTENT, is_erased: true }
      : { ...row, ...(JSON.parse(text) as VersionContent), is_erased: false }
  })
}

/** Fails with `erased` where the subject was erased. */
export async function readVersion(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  subject_id: string,
  revision: number,
): Promise<SubjectVersionRow | undefined> {
  const rows = await listRevisions(tx, subject_id, [revision])
  const [version] = await openVersions(kernel, tx, subject_id, rows)
  if (version?.is_erased) throw new OwnerKeyDestroyed()
  return version
}

const comparedMembers = ['subject_type', 'external_id', 'name', 'segment', 'attributes', 'state'] as const

/** Versions of earlier releases do not say what the next one changed: the two are compared. */
export async function withChangedMembers(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  subject_id: string,
  events: readonly StoredEventRow[],
): Promise<SubjectEventRow[]> {
  const unknown = events.flatMap(({ revision, members }) =>
    members === null && revision !== null ? [revision - 1, revision] : [],
  )
  const versions =
    unknown.length === 0 ? [] : await openVersions(kernel, tx, subject_id, await listRevisions(tx, subject_id, unknown))
  const byRevision = new Map(versions.map((version) => [version.revision, version]))
  return events.map((event): SubjectEventRow => {
    const { members, revision } = event
    if (members !== null) return { ...event, members }
    const before = byRevision.get((revision ?? 0) - 1)
    const after = byRevision.get(revision ?? 0)
    if (!before || !after || before.is_erased || after.is_erased) return { ...event, members: [] }
    const changed = comparedMembers.filter((name) => canonicalJson(before[name]) !== canonicalJson(after[name]))
    return { ...event, members: [...changed] }
  })
}
