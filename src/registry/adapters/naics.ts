/**
 * NAICS as the US Census Bureau publishes it: the workbook of two to six digit codes, the same as text, or a JSON object of codes with
 * their definitions. The hierarchy is in the digits; a sector may be a range such as 31-33.
 */
import { closed, type Static, Type, text } from '#kernel/schema.ts'
import type { Adapter, Batch, Source, SourceLocation } from '../adapter.ts'
import { isObject } from '../content/json-pointer.ts'
import { MAX_EXPANDED_BYTES, peek, unwrap } from '../formats/decode.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import { DETECTION_BYTES, detectFormat } from '../formats/format-detection.ts'
import { readJsonItems } from '../formats/json.ts'
import { RecordFault } from '../formats/json-record.ts'
import { BatchBuilder } from './batch-builder.ts'
import { codeTableMedia, codeTableOptions, readCodeTable, reportUnreadColumns } from './code-table.ts'
import { IndustryList } from './industry-list.ts'
import { replaceNotANumber } from './not-a-number.ts'
import { collapseSpaces } from './sanctioned-party.ts'
import { readDetected } from './source-text.ts'

const Options = closed({
  edition: Type.Optional(
    text(20, { description: 'Such as 2017. Default: as the header of the table states it; JSON states none.' }),
  ),
  ...codeTableOptions,
})
type Options = Static<typeof Options>

const CODE_COLUMN = /^(?:(\d{4}) )?NAICS(?: US)? Codes?$/i
const TITLE_COLUMN = /^(?:\d{4} )?NAICS(?: US)? Titles?$/i
const SEQUENCE_COLUMN = 'Seq. No.'
const CODE = /^(?:\d{2,6}|\d{2}-\d{2})$/

const getLevel = (code: string): number => (code.includes('-') ? 1 : code.length - 1)

/** The code without its last digit; for three digits the sector. */
function findParent(code: string, all: ReadonlySet<string>): string | undefined {
  if (getLevel(code) === 1) return undefined
  const above = code.slice(0, -1)
  if (above.length > 2 || all.has(above)) return above
  const isWithin = (range: string) => range.slice(0, 2) <= above && above <= range.slice(3)
  return [...all].find((one) => one.includes('-') && isWithin(one)) ?? above
}

class Codes {
  readonly list: IndustryList
  private readonly out: BatchBuilder
  private readonly edition: string | undefined

  constructor(out: BatchBuilder, edition: string | undefined) {
    this.out = out
    this.edition = edition
    this.list = new IndustryList(out)
  }

  add(code: string, title: unknown, at: SourceLocation, more: object = {}): void {
    const name = typeof title === 'string' ? collapseSpaces(title) : ''
    if (!CODE.test(code)) {
      this.out.reject(reject('value_unreadable', 'The code is not two to six digits, nor a range.', at, code, '/code'))
    } else if (name === '') this.out.reject(reject('value_missing', 'The code has no title.', at, code, '/title'))
    else {
      const shared = { scheme: 'naics', code, title: name, level: getLevel(code) } as const
      const { edition } = this
      this.list.add({ ...shared, ...(edition && { edition }), ...more }, at)
    }
  }
}

async function* read(source: Source, options: Options): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const codes = new Codes(out, options.edition)
  const { head, bytes, close } = await peek(source, DETECTION_BYTES)
  try {
    const isJson = detectFormat(head.subarray(0, DETECTION_BYTES))?.family === 'json'
    if (isJson) await readJson(bytes, options, codes, out)
    else yield* readRows(bytes, options, codes, out)
  } finally {
    await close()
  }
  yield* codes.list.finish(findParent)
}

async function* readRows(source: Source, options: Options, codes: Codes, out: BatchBuilder) {
  let [code_at, title_at] = [-1, -1]
  let edition = options.edition
  const begin = (found: readonly string[]) => {
    const header = found.map((name) => collapseSpaces(name))
    code_at = header.findIndex((name) => CODE_COLUMN.test(name))
    title_at = header.findIndex((name) => TITLE_COLUMN.test(name))
    if (code_at < 0 || title_at < 0) {
      const wanted = 'such as "2017 NAICS US Code" and "2017 NAICS US Title"'
      refuseSource('layout_unknown', `There are no columns of codes and titles, ${wanted}.`)
    }
    edition ??= CODE_COLUMN.exec(header[code_at] as string)?.[1]
    reportUnreadColumns(header, [SEQUENCE_COLUMN, header[code_at] as string, header[title_at] as string], out)
  }
  yield* readCodeTable(source, options, out, {
    begin,
    use: async function* (tables) {
      for await (const rows of tables) {
        for (const { fields, at } of rows) {
          codes.add(collapseSpaces(fields[code_at]), fields[title_at], at, { ...(edition && { edition }) })
        }
        if (out.isFull) yield out.take()
      }
    },
  })
}

const jsonMembers = ['title', 'description', 'index_items', 'cross_references']

async function readJson(source: Source, options: Options, codes: Codes, out: BatchBuilder): Promise<void> {
  const unpacked = unwrap(source, options.max_expanded_bytes ?? MAX_EXPANDED_BYTES)
  const filtered = replaceNotANumber(readDetected(unpacked, options, out))
  const unread = new Set<string>()
  let row = 0
  for await (const items of readJsonItems(filtered.text)) {
    for (const { name, line, text: found, value } of items) {
      const at = { row: ++row, line, path: `/${name}` }
      if (value instanceof RecordFault) out.reject(reject(value.code, value.messageAt(line), at, found))
      else if (typeof name !== 'string') {
        refuseSource('layout_unknown', 'The document is an array; codes are expected as members of an object.', at)
      } else if (!isObject(value)) out.reject(reject('not_an_object', 'The code has no members.', at, found))
      else {
        for (const member of Object.keys(value)) if (!jsonMembers.includes(member)) unread.add(member)
        const more = readDefinition(value)
        if (typeof more === 'object') codes.add(name, value['title'], at, more)
        else out.reject(reject('value_unreadable', `"${more}" is not in the form that is known.`, at, name, `/${more}`))
      }
    }
  }
  reportUnreadColumns([...unread], [], out)
  const { count } = filtered
  if (count > 0)
    out.warn('not_a_number', `${count} values are written NaN, which is not JSON; they were read as no value.`)
}

/** The definition of a code in the JSON, or the name of the member that cannot be read. */
function readDefinition(value: Record<string, unknown>): object | string {
  const { description = '', index_items = [], cross_references = {} } = value
  if (typeof description !== 'string') return 'description'
  if (!Array.isArray(index_items) || !index_items.every((item) => typeof item === 'string')) return 'index_items'
  if (!isObject(cross_references)) return 'cross_references'
  const references = Object.entries(cross_references).map(([code, note]) => ({ code, text: note }))
  if (!references.every(({ text }) => typeof text === 'string')) return 'cross_references'
  return {
    ...(description.trim() !== '' && { description }),
    index_items: index_items.filter((item) => item.trim() !== ''),
    cross_references: references,
  }
}

export const naics: Adapter = {
  key: 'naics',
  version: 1,
  title: 'NAICS industry codes',
  description:
    'North American Industry Classification System: the workbook (.xlsx) of two to six digit codes, the same as text, or a JSON object ' +
    'of codes with definitions. Old .xls files must be saved as .xlsx. The code above is taken from the digits.',
  publisher: 'US Census Bureau',
  media_types: [...codeTableMedia, 'application/json'],
  file_extensions: ['xlsx', 'csv', 'json', 'json.gz', 'zip'],
  options: Options,
  target_type: 'industry-code',
  sample: {
    encoding: 'utf8',
    text: 'Seq. No.,2017 NAICS US Code,2017 NAICS US Title\n1,31-33,Manufacturing\n2,311,Food Manufacturing\n3,3111,Animal Food Manufacturing\n',
  },
  read: (source, options) => read(source, options as Options),
}
