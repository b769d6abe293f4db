/** Guesses the options with which an adapter reads a sample: delimiter, encoding, sheet, header row, and the mapping of columns. */
import type { Adapter } from '../adapter.ts'
import { csv, tsv } from '../adapters/csv.ts'
import { json, ndjson } from '../adapters/json.ts'
import { xlsx } from '../adapters/xlsx.ts'
import { escapeStep } from '../content/json-pointer.ts'
import { buildColumnMapping } from '../export.ts'
import type { TypeDefinition } from '../types/type-definition.ts'
import type { DetectedColumn } from './detection.ts'
import { inferType, toRows } from './infer-type.ts'
import { KEY_MEMBER, VALUE_MEMBER } from './json-guess.ts'
import { type ColumnMatch, matchColumns } from './match-columns.ts'
import type { Sample } from './sample.ts'
import { keepColumns, MAX_ROWS, type TableGuess, withoutHeader } from './table-guess.ts'
import { noteSkipped, noteUnnamed, quoteRow } from './table-notes.ts'

/** One way to read the sample. */
export interface Guess {
  readonly adapter: Adapter
  readonly type: TypeDefinition
  readonly options: Record<string, unknown>
  /** The options with the mapping an import derives from the type. */
  readonly read_options?: Record<string, unknown>
  readonly bytes: Buffer
  /** What speaks for it, as the start of a sentence. */
  readonly fact: string
  readonly notes: readonly string[]
  /** 0 to 1: how much of the file it reads. */
  readonly fit: number
  readonly columns: readonly DetectedColumn[]
  readonly inferred: Omit<TypeDefinition, 'type_version'> | null
}

type OwnGuess = Pick<Guess, 'options' | 'bytes' | 'fact' | 'notes' | 'fit'> & Partial<Pick<Guess, 'columns'>>

const OWN_FIT = 0.9
const MAX_TYPES = 4

/** The guesses for an adapter with a type of its own. */
export function guessAdapterOptions(adapter: Adapter, { content, looks_like }: Sample): OwnGuess[] {
  if (adapter.target_type === null || content.family === 'other') return []
  const looks = `Looks like ${adapter.title}`
  if (content.family === 'workbook') {
    if (!adapter.file_extensions.includes('xlsx')) return []
    return content.sheets.map(({ name, bytes, table }, index) => ({
      bytes,
      options: {
        ...(index > 0 && { sheet: name }),
        ...(table.has_header && table.header_line > 1 && { skip_rows: table.header_line - 1 }),
      },
      fact: `${looks}: the columns of the sheet "${name}" fit`,
      notes: [],
      fit: OWN_FIT,
    }))
  }
  const base = { bytes: content.bytes, notes: [], fit: OWN_FIT }
  if (content.family === 'xml') return [{ ...base, options: {}, fact: `${looks}: root element ${content.root}` }]
  if (content.family === 'archive') return guessOfacSet(adapter, content.members, base, looks)
  if (content.family !== 'delimited') return [{ ...base, options: {}, fact: `${looks}: ${looks_like}` }]
  const { table, encoding } = content
  const shared = encoding === null ? {} : { encoding }
  if (adapter.key.startsWith('ofac-')) return guessOfacTable(adapter, table, { ...base, options: shared }, looks)
  if (adapter.key === 'country-scores') return guessScores(table, { ...base, options: shared }, looks)
  return [{ ...base, options: shared, fact: `${looks}: its columns fit` }]
}

const ofacDelimiters: Readonly<Record<string, string>> = { csv: ',', pip: '|', del: '@' }

function guessOfacSet(
  adapter: Adapter,
  members: readonly string[],
  base: Omit<OwnGuess, 'fact' | 'options'>,
  looks: string,
): OwnGuess[] {
  if (!adapter.key.startsWith('ofac-') || !adapter.key.endsWith('-csv')) return []
  const extension = /\.(csv|pip|del)$/i.exec(members.find((name) => /\.(csv|pip|del)$/i.test(name)) ?? '')?.[1]
  const delimiter = ofacDelimiters[extension?.toLowerCase() ?? 'csv']
  return [
    {
      ...base,
      options: delimiter === ',' ? {} : { delimiter },
      fact: `${looks}: the files of its set are in the archive`,
    },
  ]
}

/** The file of parties alone; the files beside it are declared absent, which the note says. */
function guessOfacTable(
  adapter: Adapter,
  { delimiter, has_header }: TableGuess,
  base: Omit<OwnGuess, 'fact'>,
  looks: string,
): OwnGuess[] {
  if (!adapter.key.endsWith('-csv') || has_header) return []
  const stems = adapter.key.startsWith('ofac-sdn')
    ? ['alt', 'add', 'sdn_comments']
    : ['cons_alt', 'cons_add', 'cons_comments']
  const note =
    'The file holds the parties only. For aliases, addresses and long remarks, upload all files of the list in one zip archive.'
  return [
    {
      ...base,
      options: { ...base.options, ...(delimiter !== ',' && { delimiter }), absent_files: stems },
      fact: `${looks}: twelve columns without a header`,
      notes: [note],
    },
  ]
}

const COUNTRY = /^(?:code|iso.?\d?|country(?:.?code)?|jurisdiction|territory)$/i
const SCORE = /^(?:.*score|.*index|cpi|value|points)$/i

/** Many lists have codes that are not of countries. */
function holdsCountries(column: string, header: readonly string[], rows: TableGuess['rows']): boolean {
  if (!/^code$/i.test(column)) return true
  const at = header.indexOf(column)
  const codes = rows.flatMap(({ cells }) => (cells[at] ? [cells[at]] : []))
  return codes.filter((code) => /^[A-Za-z]{2,3}$/.test(code)).length * 2 >= codes.length
}

function guessScores({ header, delimiter, rows }: TableGuess, base: Omit<OwnGuess, 'fact'>, looks: string): OwnGuess[] {
  const [country, score] = [header.find((name) => COUNTRY.test(name)), header.find((name) => SCORE.test(name))]
  if (country === undefined || score === undefined || !holdsCountries(country, header, rows)) return []
  const name = header.find((one) => /^(?:name|country.?name)$/i.test(one) && one !== country)
  const options = {
    ...base.options,
    ...(country !== 'code' && { country_column: country }),
    ...(score !== 'score' && { score_column: score }),
    ...(name && { name_column: name }),
    ...(delimiter !== ',' && delimiter !== null && { delimiter }),
  }
  const fit = Math.min(OWN_FIT, (name ? 3 : 2) / header.length)
  const pointers = new Map([
    [country, '/country'],
    [score, '/score'],
    ...(name === undefined ? [] : [[name, '/name'] as const]),
  ])
  const columns = header.map((column) => ({ column, pointer: pointers.get(column) ?? null }))
  const fact = `${looks}: one column of countries ("${country}") and one of scores ("${score}")`
  return [{ ...base, options, fit, columns, fact, notes: listUnread(columns) }]
}

function listUnread(columns: readonly DetectedColumn[]): string[] {
  const unread = columns.filter(({ pointer }) => pointer === null).map(({ column }) => column)
  return unread.length === 0 ? [] : [`Not read: ${unread.slice(0, 20).join(', ')}.`]
}

interface GeneralSource {
  readonly adapter: Adapter
  readonly bytes: Buffer
  readonly names: readonly string[]
  readonly values: readonly (readonly unknown[])[]
  readonly options: Record<string, unknown>
  /** The option that states the mapping, and the member of a mapping that names the source. */
  readonly mapping: 'columns' | 'members'
  readonly what: string
  readonly has_header: boolean
  /** Columns are named by their position, because there are no names or they cannot be used. */
  readonly is_by_position: boolean
  /** The positions of columns that are not read by their name, from 1. */
  readonly positions?: ReadonlyMap<string, number>
  readonly notes: readonly string[]
  /** Less than 1 where another way to read the same table is likelier. */
  readonly likelihood: number
  /** All records were looked at, so that what they have in common holds for the whole file. */
  readonly is_complete: boolean
}

/** The general adapters, with the types that fit best and with an inferred one. */
export function guessGeneral(sample: Sample, types: readonly TypeDefinition[], file_name: string | null): Guess[] {
  return listGeneralSources(sample).flatMap((source) => {
    const matches = types
      .flatMap((type) => {
        const match = source.has_header ? matchColumns(source.names, type) : null
        return match ? [{ type, match }] : []
      })
      .sort((a, b) => b.match.matched.length - a.match.matched.length)
      .slice(0, MAX_TYPES)
    const inferred = guessInferred(source, file_name)
    return [
      ...matches.map(({ type, match }) => guessMapped(source, type, match)),
      ...(inferred ? [noteKey(inferred, source)] : []),
    ]
  })
}

function listGeneralSources({ content, looks_like, is_whole }: Sample): GeneralSource[] {
  if (content.family === 'delimited') {
    const { table, encoding, bytes } = content
    if (table.header.length < 2 && !isCodeColumn(table)) return []
    const adapter = table.delimiter === '\t' ? tsv : csv
    const options = {
      ...(table.delimiter !== ',' && table.delimiter !== '\t' && { delimiter: table.delimiter }),
      ...(encoding !== null && { encoding }),
    }
    return toTableSources({ adapter, bytes, options, what: looks_like, is_complete: is_whole }, table, 'skip_lines')
  }
  if (content.family === 'workbook') {
    return content.sheets.flatMap(({ name, bytes, table }, index) => {
      const options = { ...(index > 0 && { sheet: name }) }
      const what = `the sheet "${name}" with ${table.header.length} columns`
      return toTableSources({ adapter: xlsx, bytes, options, what, is_complete: is_whole }, table, 'skip_rows')
    })
  }
  if ((content.family !== 'json' && content.family !== 'ndjson') || content.guess === null) return []
  const { pointer, shape, records } = content.guess
  const { encoding } = content
  const { columns, values } = toRows(records)
  const options = {
    ...(encoding !== null && { encoding }),
    ...(content.family === 'json' && pointer !== '' && { pointer }),
    ...(shape === 'members' && { key_member: KEY_MEMBER }),
    ...(shape === 'values' && { scalar_member: VALUE_MEMBER }),
  }
  const place = pointer === '' ? '' : ` at ${pointer}`
  const adapter = content.family === 'json' ? json : ndjson
  const what = `${content.family === 'json' ? 'JSON' : 'JSON lines'} with records${place}`
  const source = { adapter, bytes: content.bytes, names: columns, values, options, what, has_header: true }
  return [
    {
      ...source,
      mapping: 'members',
      is_by_position: false,
      notes: [],
      likelihood: 1,
      is_complete: is_whole && isEveryRow(values),
    },
  ]
}

/** Fewer rows than are kept for a guess. */
const isEveryRow = (values: readonly unknown[]): boolean => values.length < MAX_ROWS

type TableSource = Pick<GeneralSource, 'adapter' | 'bytes' | 'options' | 'what' | 'is_complete'>

/** Two ways where the first row may name the columns or be an entry, so that the user can choose; neither loses a row unnoticed. */
function toTableSources(source: TableSource, table: TableGuess, skip: 'skip_lines' | 'skip_rows'): GeneralSource[] {
  const named = toTableSource(source, table, skip)
  if (!table.is_doubtful && table.name_fault === null) return [named]
  const entry = toTableSource(source, withoutHeader(table), skip)
  const first = quoteRow(table.header_row)
  const asNames = `The first row (${first}) is taken as the names of the columns, not as an entry.`
  const asEntry = `The first row (${first}) is read as an entry, not as the names of the columns.`
  const choice = 'If that is wrong, choose the other way to read the file.'
  return [
    { ...named, notes: [...named.notes, `${asNames} ${choice}`], likelihood: table.is_likely_header ? 1 : 0.9 },
    {
      ...entry,
      notes: [...entry.notes, `${asEntry} ${choice}`],
      likelihood: table.is_likely_header ? 0.9 : 1,
    },
  ]
}

function toTableSource(source: TableSource, table: TableGuess, skip: 'skip_lines' | 'skip_rows'): GeneralSource {
  const { has_header, header_line, name_fault, rows } = table
  const is_by_position = !has_header || name_fault !== null
  // Names that cannot be used are skipped like the lines above them.
  const skipped = name_fault === null ? header_line - 1 : (rows[0]?.line ?? header_line + 1) - 1
  const kept = keepColumns(table, is_by_position)
  const names = kept.map((index) => table.header[index] as string)
  const unnamed = names.filter((name) => table.unnamed.has(name))
  const positions = kept.flatMap((index): [string, number][] => {
    const name = table.header[index] as string
    return is_by_position || table.unnamed.has(name) ? [[name, index + 1]] : []
  })
  const values = rows.map(({ cells }) => kept.map((index) => cells[index]))
  return {
    ...source,
    options: { ...source.options, ...(is_by_position && { header: false }), ...(skipped > 0 && { [skip]: skipped }) },
    mapping: 'columns',
    has_header,
    is_by_position,
    names,
    positions: new Map(positions),
    values,
    notes: [
      ...noteSkipped(table),
      ...(name_fault === null ? noteUnnamed(unnamed) : [`${name_fault} The columns are read by their position.`]),
    ],
    likelihood: 1,
    is_complete: source.is_complete && isEveryRow(values),
  }
}

/** Up to six words, which do not end as a sentence does. */
const CODE_OR_NAME = /^(?=.{1,100}$)[\p{L}\p{M}\p{N}._:/'’&()-]+( [\p{L}\p{M}\p{N}._:/'’&()-]+){0,5}(?<! .*\.)$/u

/** A single column is a list of codes, words or names, not prose. */
const isCodeColumn = ({ rows }: TableGuess): boolean =>
  rows.length > 0 && rows.every(({ cells }) => cells.length === 1 && CODE_OR_NAME.test(cells[0] as string))

function guessMapped(source: GeneralSource, type: TypeDefinition, match: ColumnMatch): Guess {
  const { adapter, bytes, names, options } = source
  const isComplete = source.mapping === 'columns' || match.unread.length === 0
  const isNamed = match.matched.every(({ column }) => !source.positions?.has(column))
  const isExact = match.is_exact && isNamed
  const stated = isExact && isComplete ? {} : toMapping(source, match.matched)
  const read = source.mapping === 'columns' && isExact ? { columns: buildColumnMapping(type) } : stated
  const pointers = new Map(match.matched.map(({ column, pointer }) => [column, pointer]))
  const count = `${match.matched.length} of ${names.length}`
  const columns = names.map((column) => ({ column, pointer: pointers.get(column) ?? null }))
  return {
    ...{ adapter, type, bytes, columns, inferred: null },
    notes: [...(source.is_by_position ? source.notes : []), ...listUnread(columns)],
    options: { ...options, ...stated },
    read_options: { ...options, ...read },
    fact: `Looks like ${source.what}: ${count} ${source.mapping} match the type ${type.title}`,
    fit: match.matched.length / Math.max(1, names.length),
  }
}

function toMapping(
  { mapping, positions }: Pick<GeneralSource, 'mapping' | 'positions'>,
  columns: readonly { column: string; pointer: string; kind: string; required: boolean }[],
): Record<string, unknown> {
  if (mapping === 'members') {
    return { members: columns.map(({ column, pointer }) => ({ from: `/${escapeStep(column)}`, pointer })) }
  }
  return {
    columns: columns.map(({ column, pointer, kind, required }) => ({
      ...{ column: positions?.get(column) ?? column, pointer },
      ...(kind !== 'text' && { kind }),
      ...(required && { required }),
    })),
  }
}

/** Below every existing type that reads as many rows. */
const INFERRED_FIT = 0.3

function guessInferred(source: GeneralSource, file_name: string | null): Guess | null {
  const { adapter, bytes, options, names, values } = source
  const name = (file_name ?? 'Own list').replace(/(?:\.[A-Za-z0-9]{1,6}){1,2}$/, '').replaceAll(/[_-]+/g, ' ')
  const { is_complete } = source
  const inferred = inferType(name, names, values, { is_table: source.mapping === 'columns', is_complete })
  if (inferred === null) return null
  const { definition } = inferred
  const columns = inferred.columns.map(({ column, member, kind }) => ({
    ...{ column, kind, pointer: `/${member}` },
    required: definition.key_pointers.includes(`/${member}`),
  }))
  const isSame =
    !source.is_by_position &&
    columns.length === names.length &&
    columns.every(
      ({ column, pointer, kind }) => pointer === `/${column}` && (kind === 'text' || source.mapping === 'members'),
    )
  const stated = isSame ? {} : toMapping(source, columns)
  return {
    ...{ adapter, bytes, inferred: definition },
    notes: [...source.notes, ...noteUnread(names, columns), ...noteIncomplete(source, columns)],
    type: { type_version: 1, ...definition },
    options: { ...options, ...stated },
    fact: `Looks like ${source.what} of a type of your own`,
    fit: INFERRED_FIT * source.likelihood,
    columns: names.map((column) => {
      const read = inferred.columns.find((one) => one.column === column)
      return { column, pointer: read ? `/${read.member}` : null }
    }),
  }
}

/** Values of several kinds, records and long texts have no place in an inferred type. */
function noteUnread(names: readonly string[], columns: readonly { readonly column: string }[]): string[] {
  const unread = names.filter((name) => !columns.some(({ column }) => column === name))
  if (unread.length === 0) return []
  const shown = unread.slice(0, 20).join(', ')
  return [
    `Not read: ${shown}. The values are of several kinds, records or longer than a member may be. Create a type to read them.`,
  ]
}

/** Says what identifies the entries where that costs some of them, or is more than one column. */
function noteKey(guess: Guess, { names, values }: GeneralSource): Guess {
  const keys = guess.columns.filter(({ pointer }) => guess.type.key_pointers.includes(pointer ?? ''))
  const indexes = keys.map(({ column }) => names.indexOf(column))
  const blank = values.filter((row) => indexes.some((index) => (row[index] ?? '') === '')).length
  const quoted = keys.map(({ column }) => `"${column}"`).join(', ')
  const notes = [
    ...(keys.length > 1 ? [`Entries are identified by several columns together: ${quoted}.`] : []),
    ...(blank > 0 ? [`Entries are identified by ${quoted}; rows without a value there are rejected.`] : []),
  ]
  return notes.length === 0 ? guess : { ...guess, notes: [...guess.notes, ...notes] }
}

/** Says which columns the type limits by what the beginning of the file holds. */
function noteIncomplete(
  { is_complete }: GeneralSource,
  columns: readonly { readonly column: string; readonly kind: string }[],
): string[] {
  if (is_complete) return []
  const limited = columns.filter(({ kind }) => kind !== 'text').map(({ column }) => column)
  const start = 'The type is inferred from the beginning of the file only.'
  if (limited.length === 0) return [start]
  const shown = limited.slice(0, 10).join(', ')
  return [
    `${start} These columns hold only numbers, lists or true and false there; rows with other values are rejected: ${shown}.`,
  ]
}
