/** Merchant category codes: the table in common use, made of the lists of card schemes, USDA and IRS. */
import { closed, type Static } from '#kernel/schema.ts'
import type { Adapter, Batch, Entry, Source } from '../adapter.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import { BatchBuilder } from './batch-builder.ts'
import { codeTableMedia, codeTableOptions, readCodeTable, reportUnreadColumns } from './code-table.ts'
import type { MerchantCategory } from './merchant-category.ts'
import { Columns, type TableRow } from './table.ts'

const Options = closed(codeTableOptions)
type Options = Static<typeof Options>

/** For each member, the columns it is found under. */
const found = {
  code: ['mcc', 'MCC', 'code', 'Code'],
  description: ['edited_description', 'description', 'Description', 'combined_description'],
  combined_description: ['combined_description'],
  usda_description: ['usda_description'],
  irs_description: ['irs_description'],
  irs_reportable: ['irs_reportable'],
} as const

async function* read(source: Source, options: Options): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  let columns: Columns | undefined
  const begin = (header: readonly string[]) => {
    for (const member of ['code', 'description'] as const) {
      if (found[member].some((name) => header.includes(name))) continue
      refuseSource('layout_unknown', `There is no column with the ${member} (${found[member].join(', ')}).`)
    }
    columns = new Columns(header, [])
    reportUnreadColumns(header, Object.values(found).flat(), out)
  }
  yield* readCodeTable(source, options, out, {
    begin,
    use: async function* (tables) {
      for await (const rows of tables) {
        for (const row of rows) {
          readCategory(row, columns as Columns, out)
          if (out.isFull) yield out.take()
        }
      }
    },
  })
  yield* out.takeRest()
}

function readCategory({ fields, at }: TableRow, columns: Columns, out: BatchBuilder): void {
  const entry: Partial<Record<keyof MerchantCategory, string>> = {}
  for (const [member, names] of Object.entries(found)) {
    const value = columns.get(fields, ...names)
    if (value !== undefined) entry[member as keyof MerchantCategory] = value
  }
  const refuse = (member: string, message: string, excerpt: string | null) =>
    out.reject(reject('value_missing', message, at, excerpt, `/${member}`))
  if (entry.code === undefined) refuse('code', 'The row has no code.', entry.description ?? null)
  else if (entry.description === undefined) refuse('description', 'The code has no description.', entry.code)
  else {
    // A workbook that stores codes as numbers drops their leading zeros.
    if (at.sheet !== undefined && /^\d{1,3}$/.test(entry.code)) entry.code = entry.code.padStart(4, '0')
    out.add(entry as Entry, at)
  }
}

export const mcc: Adapter = {
  key: 'mcc',
  version: 1,
  title: 'Merchant category codes',
  description:
    'Merchant category codes (ISO 18245) from a table with a column of four-digit codes and one of descriptions.',
  publisher: null,
  media_types: codeTableMedia,
  file_extensions: ['csv', 'xlsx', 'zip'],
  options: Options,
  target_type: 'merchant-category',
  sample: {
    encoding: 'utf8',
    text: 'mcc,edited_description,combined_description,usda_description,irs_description,irs_reportable\n0742,Veterinary Services,Veterinary Services,Veterinary Services,Veterinary Services,Yes\n3816,Hotels,,,,\n',
  },
  read: (source, options) => read(source, options as Options),
}
