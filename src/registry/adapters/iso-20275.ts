/**
 * The list of legal forms of ISO 20275 as GLEIF publishes it. It has a row for each language of a form, and one language may have
 * several names. The rows of a code are joined and must agree on the form itself.
 */
import { closed, type Static } from '#kernel/schema.ts'
import type { Adapter, Batch, Entry, Source, SourceLocation } from '../adapter.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import { BatchBuilder } from './batch-builder.ts'
import { codeTableMedia, codeTableOptions, readCodeTable, reportUnreadColumns } from './code-table.ts'
import { parseDate } from './dates.ts'
import type { EntityLegalForm } from './entity-legal-form.ts'
import { collapseSpaces } from './sanctioned-party.ts'
import { Columns, type TableRow } from './table.ts'

const Options = closed(codeTableOptions)
type Options = Static<typeof Options>

const columnNames = {
  code: 'ELF Code',
  country_name: 'Country of formation',
  country: 'Country Code (ISO 3166-1)',
  jurisdiction: 'Jurisdiction of formation',
  subdivision: 'Country sub-division code (ISO 3166-2)',
  name: 'Entity Legal Form name Local name',
  language_name: 'Language',
  language: 'Language Code (ISO 639-1)',
  transliterated: 'Entity Legal Form name Transliterated name (per ISO 01-140-10)',
  abbreviations: 'Abbreviations Local language',
  transliterated_abbreviations: 'Abbreviations transliterated',
  created_on: 'Date created YYYY-MM-DD (ISO 8601)',
  status: 'ELF Status ACTV/INAC',
  what: 'Modification',
  modified_on: 'Modification date YYYY-MM-DD (ISO 8601)',
  reason: 'Reason',
} as const
type Column = keyof typeof columnNames
const known = Object.values(columnNames)

/** Far above the published number. */
const MAX_FORMS = 100_000

type Form = { -readonly [K in keyof EntityLegalForm]: EntityLegalForm[K] }
interface CollectedForm {
  readonly form: Form
  readonly at: SourceLocation
  readonly seen: Set<string>
}

const statuses: Readonly<Record<string, Form['status']>> = { ACTV: 'active', INAC: 'inactive' }
/** Members that are equal in every row of a form. */
const repeated = ['country', 'country_name', 'jurisdiction', 'subdivision', 'created_on', 'status'] as const

class Forms {
  readonly found = new Map<string, CollectedForm>()
  repeated_rows = 0
  private readonly out: BatchBuilder
  private columns: Columns | undefined

  constructor(out: BatchBuilder) {
    this.out = out
  }

  begin(header: readonly string[]): void {
    this.columns = new Columns(header, [columnNames.code, columnNames.name, columnNames.status])
    reportUnreadColumns(header, known, this.out)
  }

  add({ fields, at }: TableRow): void {
    const field: Field = (name) => collapseSpaces(this.columns?.get(fields, columnNames[name])) || undefined
    const fault = findRowFault(field)
    const code = field('code') as string
    const row = { ...getCommonMembers(field), status: statuses[field('status') ?? ''] as Form['status'] }
    const earlier = this.found.get(code)
    const other = earlier && repeated.find((name) => row[name] !== earlier.form[name])
    if (fault) this.refuse(fault, field, at)
    else if (other) {
      const message = `ELF code ${code} has another value in line ${earlier.at.line ?? earlier.at.row}.`
      this.refuse({ code: 'value_ambiguous', column: other, message }, field, at)
    } else this.take(earlier ?? this.begun(code, row, at), field, fields)
  }

  private refuse({ code, column, message }: RowFault, field: Field, at: SourceLocation): void {
    const pointer = column === 'name' ? '/names' : `/${column}`
    this.out.reject(reject(code, message, { ...at, column: columnNames[column] }, field(column) ?? null, pointer))
  }

  private begun(code: string, row: Omit<Form, 'code' | 'names' | 'modifications'>, at: SourceLocation): CollectedForm {
    if (this.found.size === MAX_FORMS) refuseSource('source_too_large', 'There are more legal forms than can be.', at)
    const begun: CollectedForm = { form: { code, ...row, names: [], modifications: [] }, at, seen: new Set() }
    this.found.set(code, begun)
    return begun
  }

  /** Adds the name of a row, which two reserved codes do not have, and its modification. */
  private take({ form, seen }: CollectedForm, field: Field, fields: readonly string[]): void {
    const text = JSON.stringify(known.map((name) => this.columns?.get(fields, name)))
    if (seen.has(text)) this.repeated_rows++
    seen.add(text)
    const name = toName(field)
    if (name) form.names.push(name)
    const modification = toModification(field)
    if (modification) form.modifications.push(modification)
  }
}

interface RowFault {
  readonly code: 'value_missing' | 'value_unreadable' | 'value_ambiguous'
  readonly column: Column
  readonly message: string
}

const named = ['language', 'transliterated', 'abbreviations', 'transliterated_abbreviations'] as const

function findRowFault(field: Field): RowFault | undefined {
  if (!field('code')) return { code: 'value_missing', column: 'code', message: 'The row has no ELF code.' }
  if (statuses[field('status') ?? ''] === undefined) {
    return { code: 'value_unreadable', column: 'status', message: 'The status is neither ACTV nor INAC.' }
  }
  const isDate = (text: string | undefined) => text === undefined || parseDate(text, ['YYYY-MM-DD'])
  for (const column of ['created_on', 'modified_on'] as const) {
    if (isDate(field(column))) continue
    return { code: 'value_unreadable', column, message: 'The date is not in the form YYYY-MM-DD.' }
  }
  if (field('name') === undefined && named.some(field)) {
    const message = 'The row has a language, transliteration or abbreviation, but no name.'
    return { code: 'value_missing', column: 'name', message }
  }
  return undefined
}

type Field = (name: Column) => string | undefined

const omitEmpty = <T extends Record<string, string | undefined>>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: string
  }

const getCommonMembers = (field: Field) =>
  omitEmpty({
    country: field('country'),
    country_name: field('country_name'),
    jurisdiction: field('jurisdiction'),
    subdivision: field('subdivision'),
    created_on: field('created_on'),
  })

const splitParts = (text: string | undefined): string[] => [
  ...new Set(
    (text ?? '')
      .split(';')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ),
]

function toName(field: Field): Form['names'][number] | undefined {
  const name = field('name')
  if (name === undefined) return undefined
  const { language, language_name, transliterated } = omitEmpty({
    language: field('language'),
    language_name: field('language_name'),
    transliterated: field('transliterated'),
  })
  return {
    name,
    ...(language && { language }),
    ...(language_name && { language_name }),
    ...(transliterated && { transliterated }),
    abbreviations: splitParts(field('abbreviations')),
    transliterated_abbreviations: splitParts(field('transliterated_abbreviations')),
  }
}

function toModification(field: Field): Form['modifications'][number] | undefined {
  const found = omitEmpty({ what: field('what'), modified_on: field('modified_on'), reason: field('reason') })
  if (Object.keys(found).length === 0) return undefined
  return { ...omitEmpty({ language: field('language') }), ...found }
}

async function* read(source: Source, options: Options): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const forms = new Forms(out)
  yield* readCodeTable(source, options, out, {
    begin: (header) => forms.begin(header),
    use: async function* (tables) {
      for await (const rows of tables) {
        for (const row of rows) forms.add(row)
        if (out.isFull) yield out.take()
      }
    },
  })
  if (forms.repeated_rows > 0) {
    out.warn('rows_repeated', `${forms.repeated_rows} rows are on the list more than once; they were joined.`)
  }
  for (const { form, at } of forms.found.values()) {
    out.add(form as unknown as Entry, at)
    if (out.isFull) yield out.take()
  }
  yield* out.takeRest()
}

export const iso20275: Adapter = {
  key: 'iso-20275',
  version: 1,
  title: 'ISO 20275 entity legal forms',
  description:
    'The code list of entity legal forms (ELF) as CSV or workbook. Rows of one ELF code, one for each language or name, become one ' +
    'entry; what they say of country, subdivision, day of creation and status must agree. A row without an ELF code is rejected; ' +
    'one without a language gives a name without a language.',
  publisher: 'Global Legal Entity Identifier Foundation (GLEIF)',
  media_types: codeTableMedia,
  file_extensions: ['csv', 'xlsx', 'zip'],
  options: Options,
  target_type: 'entity-legal-form',
  sample: {
    encoding: 'utf8',
    text: `${known.map((name) => `"${name}"`).join(',')}
"8888","","","","","","","","","","","2017-11-30","ACTV","","","to be used for a new form"
"CRL9","Aruba","AW","","","Stichting","Dutch","nl","Stichting","","","2017-11-30","ACTV","","",""
"1TX8","Belgium","BE","","","Association","French","fr","Association","AS;A.S.","","2017-11-30","ACTV","","",""
"1TX8","Belgium","BE","","","Vereniging","Dutch","nl","Vereniging","","","2017-11-30","ACTV","","",""
`,
  },
  read: (source, options) => read(source, options as Options),
}
