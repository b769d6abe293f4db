/**
 * OFAC's text files, the SDN list and the consolidated list: parties, and in files of their own their aliases, addresses and the
 * remarks that did not fit. They come as one zip, or the parties' file alone. No header, `-0-` for nothing, 0x1A at the end.
 */
import { closed, oneOf, type Static, Type } from '../../kernel/schema.ts'
import type { Adapter, Batch, Source } from '../adapter.ts'
import { type Archive, type Member, openArchive } from '../formats/archive.ts'
import { decode, type Encoding, isZip, MAX_EXPANDED_BYTES, peek, readText } from '../formats/decode.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import { encodingOption, textOptions } from './csv.ts'
import { readRemarks } from './ofac-remarks.ts'
import { addParty } from './parties.ts'
import { Pending } from './pending.ts'
import { PartyDraft } from './sanctioned-party.ts'
import { readTable, type TableRow } from './table.ts'

const Options = closed({
  delimiter: Type.Optional(
    oneOf([',', '|', '@'], { default: ',', description: '"|" for .pip and "@" for .del files.' }),
  ),
  ...encodingOption('windows-1252'),
  ...textOptions,
})
type Options = Static<typeof Options>

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

/** Rows of the files beside the parties' one, by party. */
type Beside = ReadonlyMap<string, readonly (readonly string[])[]>
interface Set4 {
  readonly aliases: Beside
  readonly addresses: Beside
  readonly comments: Beside
}
const alone: Set4 = { aliases: new Map(), addresses: new Map(), comments: new Map() }

/** Far above the real files (50,000 rows together), far below what memory holds. */
const MAX_ROWS_BESIDE = 1_000_000

type ListSource = 'ofac-sdn' | 'ofac-consolidated'

async function* read(source: Source, options: Options, list: ListSource): AsyncGenerator<Batch, void, undefined> {
  const { head, bytes, close } = await peek(source)
  try {
    if (isZip(head)) yield* readSet(bytes, options, list)
    else yield* readParties(readText(bytes, withDefault(options)), alone, options, list)
  } finally {
    await close()
  }
}

const withDefault = (options: Options): Options & { encoding: Encoding } => ({
  ...options,
  encoding: options.encoding ?? 'windows-1252',
})

async function* readSet(bytes: Source, options: Options, list: ListSource): AsyncGenerator<Batch, void, undefined> {
  const archive = await openArchive(bytes, options.max_expanded_bytes ?? MAX_EXPANDED_BYTES)
  try {
    const out = new Pending()
    const parties = memberOf(archive, /^(sdn|cons_prim)\.(csv|pip|del)$/i)
    if (!parties) refuseSource('archive_members', 'The archive holds neither sdn.csv nor cons_prim.csv.')
    const beside = async (pattern: RegExp, columns: readonly string[]): Promise<Beside> => {
      const member = memberOf(archive, pattern)
      return member ? groupByParty(member, columns, options, out) : new Map()
    }
    const set = {
      aliases: await beside(/^(cons_)?alt\.(csv|pip|del)$/i, aliasColumns),
      addresses: await beside(/^(cons_)?add\.(csv|pip|del)$/i, addressColumns),
      comments: await beside(/^(sdn|cons)_comments\.(csv|pip|del)$/i, commentColumns),
    }
    yield* out.rest()
    yield* readParties(decode(parties.read(), withDefault(options).encoding), set, options, list, parties.name)
  } finally {
    await archive.close()
  }
}

const memberOf = (archive: Archive, pattern: RegExp): Member | undefined =>
  archive.members.find(({ name }) => pattern.test(name.slice(name.lastIndexOf('/') + 1)))

const tableOptions = (options: Options, header: readonly string[], file: string | undefined) => ({
  delimiter: options.delimiter ?? ',',
  header,
  file,
})

async function groupByParty(
  member: Member,
  columns: readonly string[],
  options: Options,
  out: Pending,
): Promise<Beside> {
  const groups = new Map<string, (readonly string[])[]>()
  let rows = 0
  const text = decode(member.read(), withDefault(options).encoding)
  for await (const group of readTable(text, tableOptions(options, columns, member.name), out)) {
    rows += group.length
    if (rows > MAX_ROWS_BESIDE) {
      refuseSource('source_too_large', `"${member.name}" has more than ${MAX_ROWS_BESIDE} rows.`)
    }
    for (const { fields } of group) {
      const values = fields.map(given)
      const known = groups.get(values[0] as string)
      if (known) known.push(values)
      else groups.set(values[0] as string, [values])
    }
  }
  return groups
}

/** `-0-`, with or without the space behind it, is nothing; a file cut by another tool ends in `-0`. */
function given(field: string): string {
  const value = field.trim()
  return value === '-0-' || value === '-0' ? '' : value
}

async function* readParties(
  text: AsyncIterable<string>,
  set: Set4,
  options: Options,
  list: ListSource,
  file?: string,
): AsyncGenerator<Batch, void, undefined> {
  const out = new Pending()
  for await (const group of readTable(text, tableOptions(options, partyColumns, file), out)) {
    for (const row of group) {
      readParty(row, set, list, out)
      if (out.full) yield out.take()
    }
  }
  yield* out.rest()
}

function readParty({ fields, at }: TableRow, set: Set4, list: ListSource, out: Pending): void {
  const values = fields.map(given)
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
  const draft = new PartyDraft(list, number, kindOf(type)).name(name, 'primary').list('titles', title)
  for (const programme of programmes.split('] [')) draft.list('programmes', programme.replace(/[[\]]/g, ''))
  for (const [, , kind, alias] of set.aliases.get(number) ?? []) draft.name(alias, kind === 'fka' ? 'former' : 'alias')
  for (const [, , street, city, country, note] of set.addresses.get(number) ?? []) {
    draft.address([street, city, country, note], { city, country })
  }
  draft.vessel({ call_sign, type: vessel_type, flag, owner, tonnage, gross_registered_tonnage: grt })
  // A comment goes on where the remarks were cut, in the middle of a word.
  const whole = remarks + (set.comments.get(number) ?? []).map(([, more]) => more).join('')
  readRemarks(whole, draft)
  addParty(out, draft.remark(whole), at)
}

function kindOf(type: string | undefined) {
  if (type === 'individual') return 'person'
  if (type === 'vessel' || type === 'aircraft') return type
  return 'organisation'
}

const sample = [
  '36,"AEROCARIBBEAN AIRLINES",-0- ,"CUBA",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ',
  '29813,"JALALI, Maysam","individual","IRAN-HR",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"DOB 22 Mar 1987; POB Qorveh, Iran; Gender Male; Passport K45469660 (Iran)."',
  '\u001a',
].join('\r\n')

const shared = {
  version: 1,
  publisher: 'US Department of the Treasury, Office of Foreign Assets Control',
  media_types: ['text/csv', 'application/zip', 'application/gzip'],
  file_extensions: ['csv', 'zip', 'pip', 'del'],
  options: Options,
  target_type: 'sanctioned-party',
  sample: { encoding: 'utf8', text: sample },
} as const

export const ofacSdnCsv: Adapter = {
  ...shared,
  key: 'ofac-sdn-csv',
  title: 'OFAC SDN list (CSV)',
  description: 'sdn.csv alone, or a zip with sdn.csv, alt.csv, add.csv and sdn_comments.csv, joined by party.',
  read: (source, options) => read(source, options as Options, 'ofac-sdn'),
}

export const ofacConsolidatedCsv: Adapter = {
  ...shared,
  key: 'ofac-consolidated-csv',
  title: 'OFAC consolidated list (CSV)',
  description: 'cons_prim.csv alone, or a zip with cons_prim.csv, cons_alt.csv, cons_add.csv and cons_comments.csv.',
  read: (source, options) => read(source, options as Options, 'ofac-consolidated'),
}
