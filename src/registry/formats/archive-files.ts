/**
 * Finds the files of a set in an archive. All are required: a missing, renamed or duplicate file refuses the source, since entries
 * would lose its content. Files that belong to no set are reported, not read.
 */
import type { SourceFile, SourceLocation } from '../adapter.ts'
import type { Archive, ArchiveMember } from './archive.ts'
import { refuseSource } from './fault.ts'

export interface ExpectedFile {
  /** Without its extension; how options name it. */
  readonly stem: string
  /** What it holds, in the plural. */
  readonly holds: string
}

export interface FileSet {
  readonly files: readonly ExpectedFile[]
  readonly extension: string
  /** Stems of files that are declared absent. */
  readonly absent: readonly string[]
  /** The option that declares them. */
  readonly option: string
}

export interface FileSetResult {
  readonly members: ReadonlyMap<string, ArchiveMember>
  /** Absent and unread files, for the report. */
  readonly others: readonly SourceFile[]
  /** Names of the unread ones. */
  readonly unread: readonly string[]
}

const MAX_NAMED = 5
export const baseName = (name: string): string => name.slice(name.lastIndexOf('/') + 1)
const toFileLocation = (file: string): SourceLocation => ({ row: 0, file })

export function findFiles(archive: Archive, set: FileSet): FileSetResult {
  const getFileName = ({ stem }: ExpectedFile) => `${stem}.${set.extension}`
  const members = new Map<string, ArchiveMember>()
  const missing: ExpectedFile[] = []
  for (const file of set.files) {
    const name = getFileName(file)
    const [member, ...others] = archive.members.filter((one) => baseName(one.name).toLowerCase() === name)
    if (member && others.length > 0) {
      const names = quoteNames([member, ...others].map((one) => one.name))
      refuseSource(
        'archive_members',
        `"${name}" is in the archive more than once: ${names}.`,
        toFileLocation(member.name),
      )
    }
    const is_absent = set.absent.includes(file.stem)
    if (member && is_absent) {
      const said = `although the option ${set.option} says that it is absent`
      refuseSource('archive_members', `The archive holds "${member.name}", ${said}.`, toFileLocation(member.name))
    }
    if (member) members.set(file.stem, member)
    else if (!is_absent) missing.push(file)
  }
  const used = new Set(members.values())
  const unread = archive.members.filter((member) => !used.has(member)).map(({ name }) => name)
  if (missing.length > 0) refuseMissing(missing, set, unread)
  return {
    members,
    unread,
    others: [
      ...set.files
        .filter(({ stem }) => set.absent.includes(stem))
        .map((file): SourceFile => ({ file: getFileName(file), state: 'absent', holds: file.holds })),
      ...unread.map((file): SourceFile => ({ file, state: 'unread' })),
    ],
  }
}

/** Also used for a single file where a set is required. */
export function refuseMissing(missing: readonly ExpectedFile[], set: FileSet, unread: readonly string[] | null): never {
  const named = missing.map(({ stem, holds }) => `${stem}.${set.extension} (${holds})`).join(', ')
  const lacks = unread === null ? `This is one file of a set, without ${named}.` : `The archive lacks ${named}.`
  const holds = unread && unread.length > 0 ? ` It holds ${quoteNames(unread)}, which is not read under that name.` : ''
  const stems = JSON.stringify(missing.map(({ stem }) => stem))
  const advice = `Send all files of one publication in one zip, named as the publisher names them, or say {"${set.option}": ${stems}}.`
  const [first] = missing as readonly [ExpectedFile]
  refuseSource('archive_members', `${lacks}${holds} ${advice}`, toFileLocation(`${first.stem}.${set.extension}`))
}

export function quoteNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).map((name) => `"${name}"`)
  return [...shown, ...(names.length > MAX_NAMED ? [`${names.length - MAX_NAMED} more`] : [])].join(', ')
}
