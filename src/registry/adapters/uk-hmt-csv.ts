/**
 * The consolidated list of HM Treasury (ConList.csv), in its layouts of 2018 and 2022. One party has a row for each
 * combination of its names, dates and addresses, not next to each other, so all rows are joined by Group ID.
 */
import { closed, type Static } from '#kernel/schema.ts'
import type { Adapter, Batch, Source } from '../adapter.ts'
import { reject } from '../formats/fault.ts'
import { BatchBuilder } from './batch-builder.ts'
import { parseDate } from './dates.ts'
import { PartyCollector } from './parties.ts'
import { birthDate, PartyDraft, type SanctionedParty } from './sanctioned-party.ts'
import { detectedEncodingOption, readDetected, textOptions } from './source-text.ts'
import { Columns, readTable } from './table.ts'

const Options = closed({ ...detectedEncodingOption, ...textOptions })

const NEEDED = ['Name 6', 'Name 1', 'DOB', 'Group Type', 'Alias Type', 'Regime', 'Group ID']

async function* read(source: Source, options: Static<typeof Options>): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const parties = new PartyCollector()
  let columns: Columns | undefined
  const isPreamble = (fields: readonly string[]) => fields[0]?.trim() === 'Last Updated'
  const begin = (header: readonly string[]) => {
    columns = new Columns(header, NEEDED)
  }
  for await (const rows of readTable(readDetected(source, options, out), { header: true, isPreamble }, out, begin)) {
    for (const { fields, at } of rows) {
      const field: Field = (...names) => columns?.get(fields, ...names)
      const id = field('Group ID')
      if (id === undefined) {
        out.reject(reject('value_missing', '"Group ID" is empty.', { ...at, column: 'Group ID' }, null, '/source_id'))
      } else
        readRow(
          field,
          parties.party(id, at, () => new PartyDraft('uk-hmt', id, toPartyKind(field('Group Type')))),
        )
    }
    if (out.isFull) yield out.take()
  }
  yield* parties.batches(out)
}

type Field = (...names: string[]) => string | undefined

function readRow(field: Field, draft: PartyDraft): void {
  const given = ['Name 1', 'Name 2', 'Name 3', 'Name 4', 'Name 5', 'Name 6'].map((name) => field(name))
  draft
    .addName(given.filter(Boolean).join(' '), toNameKind(field))
    .addName(field('Name Non-Latin Script'), 'original-script', {
      script: field('Non-Latin Script Type'),
      language: field('Non-Latin Script Language'),
    })
    .addValue('titles', field('Title'))
    .addBirthDate(toBirthDate(field('DOB')))
    .addValue('birth_places', [field('Town of Birth'), field('Country of Birth')].filter(Boolean).join(', '))
    .addValue('programmes', field('Regime'))
    .addRemark(field('Other Information'))
    .set({ listed_on: toDate(field('Listed On')), updated_on: toDate(field('Last Updated')) })
  for (const nationality of splitNumbered(field('Nationality'))) draft.addValue('nationalities', nationality)
  for (const position of splitNumbered(field('Position'))) draft.addValue('positions', position)
  readDocuments(field, draft)
  const lines = [1, 2, 3, 4, 5, 6].map((line) => field(`Address ${line}`))
  const [postal_code, country] = [field('Post/Zip Code'), field('Country')]
  draft.addAddress([...lines, postal_code, country], { postal_code, country })
}

function readDocuments(field: Field, draft: PartyDraft): void {
  const [passport, passport_note] = [field('Passport Number'), field('Passport Details')]
  draft.addIdentifier('passport', passport ?? passport_note, passport ? { note: passport_note } : {})
  const [national, national_note] = [field('National Identification Number', 'NI Number'), field('NI Details')]
  draft.addIdentifier('national identification', national ?? national_note, national ? { note: national_note } : {})
}

/** `1) Saudi Arabia 2) Qatar` are two. */
function splitNumbered(value: string | undefined): string[] {
  if (value === undefined) return []
  return /^\(?1\)/.test(value) ? value.split(/\(?\b\d{1,2}\)/).map((part) => part.replace(/[.,;\s]+$/, '')) : [value]
}

function toNameKind(field: Field) {
  const type = field('Alias Type')
  if (type === 'Prime Alias' || type === 'Primary name') return 'primary'
  if (type === 'FKA') return 'former'
  return field('Alias Quality') === 'Low' ? 'weak-alias' : 'alias'
}

function toPartyKind(type: string | undefined) {
  if (type === 'Individual') return 'person'
  if (type === 'Ship') return 'vessel'
  return type === 'Entity' ? 'organisation' : 'other'
}

const toDate = (given: string | undefined): string | undefined =>
  given === undefined ? undefined : parseDate(given, ['DD/MM/YYYY'])

/** `00` is an unknown part: `00/00/1980` is a year, and a day without its month is reduced to its year. */
function toBirthDate(given: string | undefined): SanctionedParty['birth_dates'][number] | undefined {
  if (given === undefined) return undefined
  const known = given.replace(/^(00|\d\d)\/00\//, '').replace(/^00\//, '')
  const read = birthDate(known, ['DD/MM/YYYY', 'MM/YYYY', 'YYYY'])
  return read && { ...read, text: given }
}

export const ukHmtCsv: Adapter = {
  key: 'uk-hmt-csv',
  version: 2,
  title: 'UK HM Treasury consolidated list (CSV)',
  description: 'ConList.csv in the layouts of 2018 and 2022; all rows of one Group ID become one party.',
  publisher: 'HM Treasury, Office of Financial Sanctions Implementation',
  media_types: ['text/csv', 'application/zip', 'application/gzip'],
  file_extensions: ['csv', 'zip'],
  options: Options,
  target_type: 'sanctioned-party',
  sample: {
    encoding: 'utf8',
    text: `Last Updated,13/04/2018,,,,,,,,,,,,,,,,,,,,,,,,,,,
Name 6,Name 1,Name 2,Name 3,Name 4,Name 5,Title,DOB,Town of Birth,Country of Birth,Nationality,Passport Details,NI Number,Position,Address 1,Address 2,Address 3,Address 4,Address 5,Address 6,Post/Zip Code,Country,Other Information,Group Type,Alias Type,Regime,Listed On,Last Updated,Group ID
AL-QAHTANI,Sheikh,Farooq,,,,,00/00/1980,,Saudi Arabia,1) Saudi Arabia 2) Qatar,Passport No: 592667,,,,,,,,,,Afghanistan,UN Ref QDe.004.,Individual,AKA,Al-Qaida,01/04/2016,01/04/2016,13349
`,
  },
  read: (source, options) => read(source, options as Static<typeof Options>),
}
