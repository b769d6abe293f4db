/**
 * OFAC's text files of the SDN list and the consolidated list: parties, and in separate files their aliases, addresses and long
 * remarks. They come as one zip, or as the file of parties alone when the others are declared absent. They have no header, `-0-` for
 * an empty value, and 0x1A at the end.
 */
import { closed, listOf, oneOf, type Static, Type } from '#kernel/schema.ts'
import type { Adapter, Batch, Source, SourceLocation } from '../adapter.ts'
import { type ArchiveMember, openArchive } from '../formats/archive.ts'
import {
  baseName,
  type ExpectedFile,
  type FileSet,
  findFiles,
  quoteNames,
  refuseMissing,
} from '../formats/archive-files.ts'
import { decode, type Encoding, isZip, MAX_EXPANDED_BYTES, peek } from '../formats/decode.ts'
import { requireEndMark } from '../formats/end-mark.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import { BatchBuilder } from './batch-builder.ts'
import { assertFileName, ListIdentity, type OfacList } from './ofac-list.ts'
import { readRemarks } from './ofac-remarks.ts'
import { addParty } from './parties.ts'
import { PartyDraft } from './sanctioned-party.ts'
import { detectedEncodingOption, noteEncoding, readDetected, textOptions } from './source-text.ts'
import { readTable, type TableRow } from './table.ts'

type Role = 'parties' | 'aliases' | 'addresses' | 'comments'

/** The four files of each list. */
const stems: Readonly<Record<OfacList, Readonly<Record<Role, string>>>> = {
  'ofac-sdn': { parties: 'sdn', aliases: 'alt', addresses: 'add', comments: 'sdn_comments' },
  'ofac-consolidated': {
    parties: 'cons_prim',
    aliases: 'cons_alt',
    addresses: 'cons_add',
    comments: 'cons_comments',
  },
}
const extensions = { ',': 'csv', '|': 'pip', '@': 'del' } as const

const buildOptions = (list: OfacList) => {
  const { parties, ...beside } = stems[list]
  return closed({
    delimiter: Type.Optional(
      oneOf([',', '|', '@'], { default: ',', description: '"|" for .pip and "@" for .del files.' }),
    ),
    absent_files: Type.Optional(
      listOf(oneOf(Object.values(beside)), 3, {
        uniqueItems: true,
        description: 'Files of the set that are deliberately absent. What they hold is then missing in every entry.',
      }),
    ),
    files_without_end_mark: Type.Optional(
      listOf(oneOf([parties, ...Object.values(beside)]), 4, {
        uniqueItems: true,
        description: 'Files that are complete although OFAC’s end mark (0x1A) is missing, as in some copies.',
      }),
    ),
    ...detectedEncodingOption,
    ...textOptions,
  })
}
type Options = Static<ReturnType<typeof buildOptions>>

const partyColumns = [
  'ent_num',
  'SDN_Name',
  'SDN_Type',
  'Program',
  'Title',
  'Call_Sign',
  'Vess_type',
  'Tonnage',
  'GRT',
  'Vess_flag',
  'Vess_owner',
  'Remarks',
]
const aliasColumns = ['ent_num', 'alt_num', 'alt_type', 'alt_name', 'alt_remarks']
const addressColumns = ['ent_num', 'add_num', 'address', 'city', 'country', 'add_remarks']
const commentColumns = ['ent_num', 'remarks']

/** Rows of aliases, addresses or comments of one party. */
interface Group {
  readonly rows: (readonly string[])[]
  readonly first: SourceLocation
  is_taken: boolean
}
class CompanionFile {
  readonly groups = new Map<string, Group>()
  readonly file: string

  constructor(file: string) {
    this.file = file
  }

  take(party: string): readonly (readonly string[])[] {
    const group = this.groups.get(party)
    if (group) group.is_taken = true
    return group?.rows ?? []
  }
}
type CompanionFiles = Partial<Record<Exclude<Role, 'parties'>, CompanionFile>>

/** Far above the real files (50,000 rows together), far below what memory holds. */
const MAX_ROWS_BESIDE = 1_000_000

interface Reading {
  readonly list: OfacList
  readonly options: Options
  readonly out: BatchBuilder
}

async function* read(
  source: Source,
  options: Options,
  list: OfacList,
  file_name?: string | null,
): AsyncGenerator<Batch, void, undefined> {
  const reading = { list, options, out: new BatchBuilder() }
  const { head, bytes, close } = await peek(source)
  try {
    if (isZip(head)) yield* readSet(bytes, reading)
    else {
      assertFileName(file_name, list)
      yield* readAlone(bytes, reading)
    }
  } finally {
    await close()
  }
}

const fileSet = ({ list, options }: Reading): FileSet => {
  const holds: Readonly<Record<Role, string>> = {
    parties: 'the parties',
    aliases: 'aliases',
    addresses: 'addresses',
    comments: 'the ends of long remarks',
  }
  return {
    files: Object.entries(stems[list]).map(([role, stem]): ExpectedFile => ({ stem, holds: holds[role as Role] })),
    extension: extensions[options.delimiter ?? ','],
    absent: options.absent_files ?? [],
    option: 'absent_files',
  }
}

/** Reads the file of parties alone, when the others are declared absent. */
async function* readAlone(bytes: Source, reading: Reading): AsyncGenerator<Batch, void, undefined> {
  const set = fileSet(reading)
  const { parties } = stems[reading.list]
  const missing = set.files.filter(({ stem }) => stem !== parties && !set.absent.includes(stem))
  if (missing.length > 0) refuseMissing(missing, set, null)
  for (const { stem, holds } of set.files) {
    if (set.absent.includes(stem)) reading.out.addFile({ file: `${stem}.${set.extension}`, state: 'absent', holds })
  }
  yield* readParties(readMarkedText(readDetected(bytes, reading.options, reading.out), parties, reading), {}, reading)
}

async function* readSet(bytes: Source, reading: Reading): AsyncGenerator<Batch, void, undefined> {
  const { list, options, out } = reading
  const archive = await openArchive(bytes, options.max_expanded_bytes ?? MAX_EXPANDED_BYTES)
  try {
    const { parties, aliases, addresses, comments } = stems[list]
    const set = fileSet(reading)
    const names = archive.members.map(({ name }) => baseName(name))
    // The other list is reported as such, not as an incomplete set.
    if (!names.some((name) => name.toLowerCase() === `${parties}.${set.extension}`)) {
      for (const name of names) assertFileName(name, list)
    }
    const { members, others, unread } = findFiles(archive, set)
    for (const file of others) out.addFile(file)
    if (unread.length > 0) {
      const message = `Files of the archive that are not part of the list were not read (${unread.length}): ${quoteNames(unread)}.`
      out.warn('files_unread', message, { row: 0, file: unread[0] as string })
    }
    const readText = (member: ArchiveMember, stem: string) => {
      const encoding: Encoding | 'detect' = options.encoding ?? 'detect'
      return readMarkedText(decode(member.read(), encoding, noteEncoding(out, member.name)), stem, reading, member.name)
    }
    const beside: CompanionFiles = {}
    for (const [role, stem, columns] of [
      ['aliases', aliases, aliasColumns],
      ['addresses', addresses, addressColumns],
      ['comments', comments, commentColumns],
    ] as const) {
      const member = members.get(stem)
      if (member) beside[role] = await groupByParty(readText(member, stem), member.name, columns, reading)
    }
    yield* out.takeRest()
    const main = members.get(parties) as ArchiveMember
    yield* readParties(readText(main, parties), beside, reading, main.name)
  } finally {
    await archive.close()
  }
}

function readMarkedText(
  text: AsyncGenerator<string>,
  stem: string,
  { options }: Reading,
  file?: string,
): AsyncGenerator<string> {
  if (options.files_without_end_mark?.includes(stem)) return text
  // Files that the option already names stay in it, so that the advice can be copied.
  const complete = JSON.stringify([...(options.files_without_end_mark ?? []), stem])
  const advice = `, or set the option {"files_without_end_mark": ${complete}} if it is complete`
  return requireEndMark(text, { file, advice })
}

const tableOptions = ({ options }: Reading, header: readonly string[], file: string | undefined) => ({
  delimiter: options.delimiter ?? ',',
  header,
  file,
})

async function groupByParty(
  text: AsyncIterable<string>,
  file: string,
  columns: readonly string[],
  reading: Reading,
): Promise<CompanionFile> {
  const beside = new CompanionFile(file)
  let rows = 0
  for await (const group of readTable(text, tableOptions(reading, columns, file), reading.out)) {
    rows += group.length
    if (rows > MAX_ROWS_BESIDE) {
      refuseSource('source_too_large', `"${file}" has more than ${MAX_ROWS_BESIDE} rows.`)
    }
    for (const { fields, at } of group) {
      const values = fields.map(toValue)
      const known = beside.groups.get(values[0] as string)
      if (known) known.rows.push(values)
      else beside.groups.set(values[0] as string, { rows: [values], first: at, is_taken: false })
    }
  }
  return beside
}

/** Reports rows without a party: most likely the file of parties is incomplete. */
function reportOrphans(beside: CompanionFiles, parties: string, out: BatchBuilder): void {
  for (const { file, groups } of Object.values(beside)) {
    const orphans = [...groups].filter(([, { is_taken }]) => !is_taken)
    const [first] = orphans
    if (first === undefined) continue
    const count = orphans.reduce((sum, [, { rows }]) => sum + rows.length, 0)
    const [number, { first: at }] = first
    const message = `"${file}" has rows (${count}) of parties (${orphans.length}) that "${parties}" does not have; the first is party ${number} in line ${at.line}.`
    out.warnIncomplete('rows_orphaned', message, count, at)
  }
}

/** `-0-`, with or without a trailing space, is an empty value; a file truncated by another tool ends in `-0`. */
function toValue(field: string): string {
  const value = field.trim()
  return value === '-0-' || value === '-0' ? '' : value
}

async function* readParties(
  text: AsyncIterable<string>,
  beside: CompanionFiles,
  reading: Reading,
  file?: string,
): AsyncGenerator<Batch, void, undefined> {
  const { list, out } = reading
  const identity = new ListIdentity(list)
  for await (const group of readTable(text, tableOptions(reading, partyColumns, file), out)) {
    for (const row of group) {
      readParty(row, beside, identity, reading)
      if (out.isFull) yield out.take()
    }
  }
  identity.assertList(file)
  reportOrphans(beside, file ?? 'the list', out)
  yield* out.takeRest()
}

function readParty(
  { fields, at }: TableRow,
  beside: CompanionFiles,
  identity: ListIdentity,
  { list, out }: Reading,
): void {
  const values = fields.map(toValue)
  const [
    number = '',
    name,
    type,
    programmes = '',
    title,
    call_sign,
    vessel_type,
    tonnage,
    grt,
    flag,
    owner,
    remarks = '',
  ] = values
  if (!/^\d+$/.test(number)) {
    const message = 'The record does not begin with the number of a party. Is this the right file?'
    out.reject(reject('value_unreadable', message, { ...at, column: 'ent_num' }, number, '/source_id'))
    return
  }
  const draft = new PartyDraft(list, number, toPartyKind(type)).addName(name, 'primary').addValue('titles', title)
  const named = programmes.split('] [').map((programme) => programme.replace(/[[\]]/g, '').trim())
  for (const programme of named) draft.addValue('programmes', programme)
  identity.add(named)
  for (const [, , kind, alias] of beside.aliases?.take(number) ?? [])
    draft.addName(alias, kind === 'fka' ? 'former' : 'alias')
  for (const [, , street, city, country, note] of beside.addresses?.take(number) ?? []) {
    draft.addAddress([street, city, country, note], { city, country })
  }
  draft.setVessel({ call_sign, type: vessel_type, flag, owner, tonnage, gross_registered_tonnage: grt })
  // A comment continues the remarks, possibly in the middle of a word.
  const whole = remarks + (beside.comments?.take(number) ?? []).map(([, more]) => more).join('')
  readRemarks(whole, draft)
  addParty(out, draft.addRemark(whole), at)
}

function toPartyKind(type: string | undefined) {
  if (type === 'individual') return 'person'
  if (type === 'vessel' || type === 'aircraft') return type
  return 'organisation'
}

const createSample = (list: OfacList, lines: readonly string[]): Adapter['sample'] => {
  const { parties: _, ...beside } = stems[list]
  return {
    encoding: 'utf8',
    text: [...lines, '\u001a'].join('\r\n'),
    options: { absent_files: Object.values(beside) },
  }
}

const shared = {
  version: 2,
  publisher: 'US Department of the Treasury, Office of Foreign Assets Control',
  media_types: ['text/csv', 'application/zip', 'application/gzip'],
  file_extensions: ['csv', 'zip', 'pip', 'del'],
  target_type: 'sanctioned-party',
} as const

const describeFiles = ([parties, aliases, addresses, comments]: readonly string[]): string =>
  `A zip with ${parties}, ${aliases}, ${addresses} and ${comments}, joined by party. All four are expected, each with OFAC's end ` +
  `mark; ${parties} may come alone when the option absent_files names the others.`

export const ofacSdnCsv: Adapter = {
  ...shared,
  key: 'ofac-sdn-csv',
  title: 'OFAC SDN list (CSV)',
  description: describeFiles(['sdn.csv', 'alt.csv', 'add.csv', 'sdn_comments.csv']),
  options: buildOptions('ofac-sdn'),
  sample: createSample('ofac-sdn', [
    '36,"AEROCARIBBEAN AIRLINES",-0- ,"CUBA",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ',
    '29813,"JALALI, Maysam","individual","IRAN-HR",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"DOB 22 Mar 1987; POB Qorveh, Iran; Gender Male; Passport K45469660 (Iran)."',
  ]),
  read: (source, options, file_name) => read(source, options as Options, 'ofac-sdn', file_name),
}

export const ofacConsolidatedCsv: Adapter = {
  ...shared,
  key: 'ofac-consolidated-csv',
  title: 'OFAC consolidated list (CSV)',
  description: describeFiles(['cons_prim.csv', 'cons_alt.csv', 'cons_add.csv', 'cons_comments.csv']),
  options: buildOptions('ofac-consolidated'),
  sample: createSample('ofac-consolidated', [
    '9640,"DOE, Example","individual","NS-PLC",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"DOB 1972; POB Gaza."',
    '17016,"BANK EXAMPLE OAO",-0- ,"UKRAINE-EO13662",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"SWIFT/BIC EXAMRUMM; Tax ID No. 7702000001."',
  ]),
  read: (source, options, file_name) => read(source, options as Options, 'ofac-consolidated', file_name),
}
