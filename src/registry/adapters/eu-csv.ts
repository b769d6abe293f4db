/**
 * The consolidated financial sanctions list of the European Union in CSV, in the layout of 2018 and in 1.1. Every row holds one
 * name, address, birth or document of a party. A copy re-saved with every line as one quoted cell is unwrapped.
 */
import { closed, type Static } from '#kernel/schema.ts'
import type { Adapter, Batch, Source } from '../adapter.ts'
import { readCsv } from '../formats/csv.ts'
import { reject } from '../formats/fault.ts'
import { BatchBuilder } from './batch-builder.ts'
import { parseDate } from './dates.ts'
import { PartyCollector } from './parties.ts'
import { birthDate, PartyDraft } from './sanctioned-party.ts'
import { detectedEncodingOption, readDetected, textOptions } from './source-text.ts'
import { Columns, readTable } from './table.ts'

const Options = closed({ ...detectedEncodingOption, ...textOptions })

async function* read(source: Source, options: Static<typeof Options>): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const parties = new PartyCollector()
  let columns: Columns | undefined
  const begin = (header: readonly string[]) => {
    const isOld = header.includes('Naal_wholename')
    columns = new Columns(
      header,
      isOld ? ['Entity_logical_id', 'Subject_type'] : ['Entity_LogicalId', 'NameAlias_WholeName'],
    )
  }
  const text = unwrapLines(readDetected(source, options, out), () =>
    out.warn('lines_wrapped', 'Every line of the file is one quoted cell: it was re-saved by another program.'),
  )
  for await (const rows of readTable(text, { delimiter: ';', header: true }, out, begin)) {
    for (const { fields, at } of rows) {
      const field: Field = (...names) => columns?.get(fields, ...names)
      const id = field('Entity_LogicalId', 'Entity_logical_id')
      if (id === undefined) {
        out.reject(
          reject('value_missing', 'The logical id of the entity is empty.', at, fields.join(';'), '/source_id'),
        )
        continue
      }
      const kind = toPartyKind(field('Entity_SubjectType', 'Subject_type'))
      readRow(
        field,
        parties.party(id, at, () => new PartyDraft('eu-fsf', id, kind)),
      )
    }
    if (out.isFull) yield out.take()
  }
  yield* parties.batches(out)
}

/** Keeps line numbers, so that faults are reported at the line of the file. */
async function* unwrapLines(text: AsyncIterable<string>, noticed: () => void): AsyncGenerator<string, void, undefined> {
  const iterator = text[Symbol.asyncIterator]()
  try {
    const first = await iterator.next()
    if (first.done) return
    const all = startingWith(first.value, iterator)
    if (!/^"[^"\n]*;[^"\n]*"\r?\n/.test(first.value)) return yield* all
    noticed()
    let line = 1
    for await (const records of readCsv(all, { delimiter: '\t' })) {
      let inner = ''
      for (const record of records) {
        inner += `${'\n'.repeat(record.line - line)}${(record.fields[0] as string).trimEnd()}\n`
        line = record.line + 1
      }
      yield inner
    }
  } finally {
    await iterator.return?.()
  }
}

async function* startingWith(first: string, rest: AsyncIterator<string>): AsyncGenerator<string, void, undefined> {
  yield first
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

type Field = (...names: string[]) => string | undefined

function readRow(field: Field, draft: PartyDraft): void {
  const parts = [
    field('NameAlias_FirstName', 'Naal_firstname'),
    field('NameAlias_MiddleName', 'Naal_middlename'),
    field('NameAlias_LastName', 'Naal_lastname'),
  ]
  draft
    .addName(field('NameAlias_WholeName', 'Naal_wholename') ?? parts.filter(Boolean).join(' '), 'primary', {
      language: field('NameAlias_NameLanguage', 'Naal_language'),
    })
    .set({ gender: field('NameAlias_Gender', 'Naal_gender'), listed_on: getDesignationDate(field) })
    .addValue('titles', field('NameAlias_Title', 'Naal_title'))
    .addValue('positions', field('NameAlias_Function', 'Naal_function'))
    .addValue('programmes', field('Entity_Regulation_Programme', 'Programme'))
    .addValue('references', field('Entity_EU_ReferenceNumber', 'EU_ref_num'))
    .addValue('references', field('Entity_UnitedNationId'))
    .addValue('references', field('Entity_Regulation_NumberTitle', 'Leba_numtitle'))
    .addRemark(field('Entity_Remark', 'Entity_remark')?.replaceAll('\\n', '\n'))
    .addBirthDate(
      birthDate(field('BirthDate_BirthDate', 'Birt_date', 'BirthDate_Year'), ['YYYY-MM-DD', 'YYYY-MM', 'YYYY']),
    )
    .addValue('birth_places', joinBirthPlace(field))
    .addValue('nationalities', toKnownCountry(field('Citizenship_CountryIso2Code', 'Citi_country')))
  readAddress(field, draft)
  draft.addIdentifier(
    field('Identification_TypeDescription', 'Identification_TypeCode') ?? 'document',
    field('Identification_Number', 'Iden_number'),
    { country: toKnownCountry(field('Identification_CountryIso2Code', 'Iden_country')) },
  )
}

function readAddress(field: Field, draft: PartyDraft): void {
  const city = field('Address_City', 'Addr_city')
  const postal_code = field('Address_ZipCode', 'Addr_zipcode')
  const country = toKnownCountry(field('Address_CountryIso2Code', 'Addr_country'))
  const parts = [
    field('Addr_number'),
    field('Address_Street', 'Addr_street'),
    field('Address_PoBox'),
    city,
    postal_code,
  ]
  draft.addAddress([...parts, field('Address_Region'), country, field('Addr_other')], { city, postal_code, country })
}

const joinBirthPlace = (field: Field): string =>
  [
    field('BirthDate_Place', 'Birt_place'),
    field('BirthDate_City'),
    toKnownCountry(field('BirthDate_CountryIso2Code', 'Birt_country')),
  ]
    .filter(Boolean)
    .join(', ')

/** The list writes 00 for an unknown country. */
const toKnownCountry = (country: string | undefined): string | undefined => (country === '00' ? undefined : country)

const getDesignationDate = (field: Field): string | undefined =>
  parseDate(field('Entity_DesignationDate') ?? '', ['YYYY-MM-DD', 'DD/MM/YYYY'])

function toPartyKind(type: string | undefined) {
  if (type === 'P' || type === 'person') return 'person'
  return type === 'E' || type === 'enterprise' ? 'organisation' : 'other'
}

export const euCsv: Adapter = {
  key: 'eu-consolidated-csv',
  version: 2,
  title: 'EU consolidated financial sanctions list (CSV)',
  description:
    'The list of the European Commission in CSV: the layout of 2018 and version 1.1; rows are joined by entity.',
  publisher: 'European Commission',
  media_types: ['text/csv', 'application/zip', 'application/gzip'],
  file_extensions: ['csv', 'zip'],
  options: Options,
  target_type: 'sanctioned-party',
  sample: {
    encoding: 'utf8',
    text: `fileGenerationDate;Entity_LogicalId;Entity_EU_ReferenceNumber;Entity_Remark;Entity_SubjectType;Entity_Regulation_NumberTitle;Entity_Regulation_Programme;NameAlias_LastName;NameAlias_FirstName;NameAlias_WholeName;BirthDate_BirthDate;Citizenship_CountryIso2Code
22/09/2026;13;EU.27.28;;P;1210/2003 (OJ L169);IRQ;Hussein Al-Tikriti;Saddam;Saddam Hussein Al-Tikriti;;
22/09/2026;13;EU.27.28;;P;1210/2003 (OJ L169);IRQ;;;;1937-04-28;IQ
`,
  },
  read: (source, options) => read(source, options as Static<typeof Options>),
}
