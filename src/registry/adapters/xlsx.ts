/** Any sheet of an .xlsx workbook with a mapping of its columns. */
import { closed, integer, listOf, type Static, Type, text } from '#kernel/schema.ts'
import type { Adapter, Batch, EntryContext } from '../adapter.ts'
import { readXlsx, type XlsxSheet } from '../formats/xlsx.ts'
import { BatchBuilder } from './batch-builder.ts'
import { describeUnreadColumns, mapColumns } from './mapping.ts'
import { findMappingFaults } from './mapping-check.ts'
import { ColumnMapping, columnElements, mappingOptions } from './mapping-options.ts'
import { MappedRecords } from './row-groups.ts'
import { readSheetTable } from './sheet-table.ts'
import { textOptions } from './source-text.ts'

const Options = closed({
  sheet: Type.Optional(text(100, { description: 'Name of the sheet. Default: the first.' })),
  header: Type.Optional(
    Type.Boolean({ default: true, description: 'The first row names the columns; otherwise they are 1, 2, 3 …' }),
  ),
  skip_rows: Type.Optional(
    integer(0, 1000, {
      default: 0,
      description: 'Rows before the header, blank ones included, as the program numbers them.',
    }),
  ),
  columns: Type.Optional(
    listOf(ColumnMapping, 1000, { minItems: 1, description: 'Default: every column, as text, under its own name.' }),
  ),
  elements: columnElements,
  ...mappingOptions,
  ...textOptions,
})
type Options = Static<typeof Options>

async function* readSheet(
  sheet: XlsxSheet,
  options: Options,
  context?: EntryContext,
): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  let records: MappedRecords<readonly string[]> | undefined
  const begin = (header: readonly string[]) => {
    records = new MappedRecords(mapColumns(header, options.columns, options), options, out, context)
    const unread = describeUnreadColumns(header, options.columns, options.elements)
    if (unread) out.warn('columns_unread', unread)
  }
  for await (const rows of readSheetTable(sheet, options, out, begin)) {
    for (const { fields, at } of rows) {
      records?.add(fields, at)
      if (out.isFull) yield out.take()
    }
    if (out.isFull || records?.isHolding) yield out.take()
  }
  if (records) yield* records.finish()
  yield* out.takeRest()
}

/** Two rows, `code, name` and `NA, Namibia`, as written by writeXlsx. */
const sample = [
  'UEsDBBQAAAgIAAAAIQDFLx19AQEAAC4CAAATAAAAW0NvbnRlbnRfVHlwZXNdLnhtbK2RPU8DMQyGd35FlLVq0jIghHrtwMcIDOUHmJyvFzWxo9gt',
  '13+Pei0MiI+FyYNfv88jebEacjJ7rBKZGjt3M2uQAreRNo19WT9Mr60RBWohMWFjDyh2tbxYrA8FxQw5kTS2Vy033kvoMYM4LkhDTh3XDCqO68YX',
  'CFvYoL+cza58YFIkneqxwy4Xd9jBLqm5HxTpJFIxiTW3p+CR1VgoJcUAGpn8ntovlOmZ4CqmMSN9LDIZcrL+W8Jx8zPgfPe0x1pji+YZqj5Cxsb6',
  'Ifk3rttX5q37veQbS+66GLDlsMtI6qRUhFZ6RM3JjdNliDT5mz+GxY9j/s8in/0fHn589/IdUEsDBBQAAAgIAAAAIQAGWceCswAAACgBAAALAAAA',
  'X3JlbHMvLnJlbHONz7FuwjAQxvGdp7BuJw4MVYXisCAk1ip9AONcEiv2neUzrXn7rgUxsH/6ffp3xxqD+sEsnsnArmlBITkePc0Gvofz9hOUFEuj',
  'DUxo4I4Cx37TfWGwxTPJ4pOoGgOJgaWUdNBa3ILRSsMJqcYwcY62SMN51sm61c6o9237ofN/A/oHU11GA/ky7kAN94Tv2DxN3uGJ3S0ilRcXTwtQ',
  'g80zFgM16F/O65V5bWoMoPtOPwT2f1BLAwQUAAAICAAAACEAd0D+xL4AAAAcAQAADwAAAHhsL3dvcmtib29rLnhtbI2PwU7DMBBE73yFtffGCQeE',
  'oji9VEg9Ax9g4k1j1bsb7boQ/h7R0junGY00bzTDfqPiPlEtCwfomhYc8iQp8ynA+9vL7hmc1cgpFmEM8I0G+/Fh+BI9f4ic3UaFLcBS69p7b9OC',
  'FK2RFXmjMotSrNaInrytijHZglip+Me2ffIUM8ON0Ot/GDLPecKDTBdCrjeIYok1C9uSV4NxuC7YnzqOhAFef30H7podU4AOnPY5BdBj6sCPg7/X',
  '/P3Z+ANQSwMEFAAACAgAAAAhAJpvPHy5AAAAKQEAABoAAAB4bC9fcmVscy93b3JrYm9vay54bWwucmVsc43PMWvDMBAF4L2/Qtwen90hlGI5Syhk',
  'Le4PEPLZFpHuhE5pnH9fyBAa6NDpwRu+x+sPW4rmm4oGYQtd04Ih9jIFXix8jR+7NzBaHU8uCpOFGykchpf+k6KrQVjXkNVsKbJaWGvN74jqV0pO',
  'G8nEW4qzlOSqNlIWzM6f3UL42rZ7LL8NGJ5Mc5oslNPUgRlvmf5jyzwHT0fxl0Rc/5jAq5SzrkQVzOjKQtXCo1K8R9dsKQIOPT49HH4AUEsDBBQA',
  'CAgIAAAAIQAAAAAAAAAAAAAAAAAYAAAAeGwvd29ya3NoZWV0cy9zaGVldDEueG1slZHBasMwDIbvewqj++ImhzGK7dIxdtxl2wNojtaY2nKwTJO9',
  '/WgYYYxechNC/6cPyRzmFNWFioTMFtpmB4rY5z7wycLH+8v9IyipyD3GzGThmwQO7s5MuZxlIKpqTpHFwlDruNda/EAJpckj8ZziVy4JqzS5nLSM',
  'hbBfQinqbrd70AkDgzNL7xkrOlPypIqFFpzx1+LYgqoWAsfA9FYLOBPEmWXtXkb0ZGEsJFQuBM7nnoyuzujrkPa/kKdNEMb0D6JLnla1blXrtlBf',
  'j7fEtiEwhc+At9z0nxPq9TfuB1BLBwgLCkXg3wAAAN8BAABQSwECPwMUAAAICAAAACEAxS8dfQEBAAAuAgAAEwAAAAAAAAAAAAAApIEAAAAAW0Nv',
  'bnRlbnRfVHlwZXNdLnhtbFBLAQI/AxQAAAgIAAAAIQAGWceCswAAACgBAAALAAAAAAAAAAAAAACkgTIBAABfcmVscy8ucmVsc1BLAQI/AxQAAAgI',
  'AAAAIQB3QP7EvgAAABwBAAAPAAAAAAAAAAAAAACkgQ4CAAB4bC93b3JrYm9vay54bWxQSwECPwMUAAAICAAAACEAmm88fLkAAAApAQAAGgAAAAAA',
  'AAAAAAAApIH5AgAAeGwvX3JlbHMvd29ya2Jvb2sueG1sLnJlbHNQSwECPwMUAAgICAAAACEACwpF4N8AAADfAQAAGAAAAAAAAAAAAAAApIHqAwAA',
  'eGwvd29ya3NoZWV0cy9zaGVldDEueG1sUEsFBgAAAAAFAAUARQEAAA8FAAAAAA==',
].join('')

export const xlsx: Adapter = {
  key: 'xlsx',
  version: 2,
  title: 'Excel workbook',
  description: 'One sheet of an .xlsx workbook, with a mapping from columns to members of an entry.',
  publisher: null,
  media_types: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  file_extensions: ['xlsx'],
  options: Options,
  checkOptions: findMappingFaults,
  target_type: null,
  sample: { encoding: 'base64', text: sample },
  read: (source, options, _, context) =>
    readXlsx(source, options as Options, (sheet) => readSheet(sheet, options as Options, context)),
}
