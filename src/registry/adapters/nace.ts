/**
 * NACE as Eurostat publishes its structure with explanatory notes: the layout of Rev. 2 (Order, Level, Code, Parent …) and that of
 * Rev. 2.1 (CODE, HEADING, PARENT_CODE …), each as text or workbook.
 */
import { closed, type Static, Type, text } from '#kernel/schema.ts'
import type { Adapter, Batch, Reject, Source, SourceLocation } from '../adapter.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import { BatchBuilder } from './batch-builder.ts'
import { codeTableMedia, codeTableOptions, readCodeTable, reportUnreadColumns } from './code-table.ts'
import type { IndustryCode } from './industry-code.ts'
import { IndustryList } from './industry-list.ts'
import { collapseSpaces } from './sanctioned-party.ts'
import { Columns } from './table.ts'

const Options = closed({
  edition: Type.Optional(
    text(20, { description: 'Such as 2.1. Default: 2 where the table refers to ISIC Rev. 4, 2.1 where to Rev. 5.' }),
  ),
  ...codeTableOptions,
})
type Options = Static<typeof Options>

/** For each member, the columns it is found under. */
const found = {
  code: ['CODE', 'Code'],
  title: ['HEADING', 'NAME', 'Description'],
  level: ['LEVEL', 'Level'],
  parent: ['PARENT_CODE', 'Parent'],
  includes: ['Includes', 'This item includes'],
  also_includes: ['IncludesAlso', 'This item also includes'],
  excludes: ['Excludes', 'This item excludes'],
  rules: ['Implementation_rule', 'Rulings'],
  isic: ['Reference to ISIC Rev. 4', 'Reference to ISIC Rev. 5'],
} as const
type Member = keyof typeof found
/** The order of rows, addresses of terms, and whether a code is of the last level. */
const known = [...Object.values(found).flat(), 'Order', 'ID', 'PARENT_ID', 'FINAL']
const editions = { 'Reference to ISIC Rev. 4': '2', 'Reference to ISIC Rev. 5': '2.1' }

/** A section is a letter, a division two digits, a group three and a class four; some write the section before them. */
const CODE = /^(?:[A-Z]|[A-Z]?\d{2}(?:\.\d{1,2})?)$/

async function* read(source: Source, options: Options): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const list = new IndustryList(out)
  let columns: Columns | undefined
  let edition = options.edition
  const begin = (header: readonly string[]) => {
    for (const member of ['code', 'title', 'level', 'parent'] as const) {
      if (found[member].some((name) => header.includes(name))) continue
      refuseSource('layout_unknown', `There is no column for the ${member} (${found[member].join(', ')}).`)
    }
    columns = new Columns(header, [])
    edition ??= Object.entries(editions).find(([name]) => header.includes(name))?.[1]
    reportUnreadColumns(header, known, out)
  }
  yield* readCodeTable(source, options, out, {
    begin,
    use: async function* (tables) {
      for await (const rows of tables) {
        for (const { fields, at } of rows) {
          const entry = readCode((member) => columns?.get(fields, ...found[member]), at, edition)
          if ('scheme' in entry) list.add(entry, at)
          else out.reject(entry)
        }
        if (out.isFull) yield out.take()
      }
    },
  })
  yield* list.finish()
}

type Field = (member: Member) => string | undefined

/** What is wrong with a row: the member, and why. */
function findRowFault(field: Field): [Member, string] | undefined {
  const level = Number(field('level'))
  if (!CODE.test(field('code') ?? '')) return ['code', 'The code is not one of NACE, such as A, 01, 01.1 or 01.11.']
  if (collapseSpaces(field('title')) === '') return ['title', 'The code has no title.']
  if (!Number.isInteger(level) || level < 1 || level > 4) return ['level', 'The level is not 1 to 4.']
  if (field('parent') === undefined && level > 1) return ['parent', 'The code above is missing.']
  return undefined
}

const notes = ['includes', 'also_includes', 'excludes', 'rules', 'isic'] as const

function readCode(field: Field, at: SourceLocation, edition: string | undefined): IndustryCode | Reject {
  const fault = findRowFault(field)
  if (fault) {
    const [member, message] = fault
    const given = field(member)
    const code = given === undefined ? 'value_missing' : 'value_unreadable'
    return reject(code, message, at, given ?? field('code') ?? null, `/${member}`)
  }
  const [code, title, level] = [field('code') as string, collapseSpaces(field('title')), Number(field('level'))]
  const parent = field('parent')
  const texts = Object.fromEntries(notes.map((member) => [member, field(member)]).filter(([, note]) => note))
  return { scheme: 'nace', code, title, level, ...(edition && { edition }), ...(parent && { parent }), ...texts }
}

export const nace: Adapter = {
  key: 'nace',
  version: 1,
  title: 'NACE industry codes',
  description:
    'Statistical classification of economic activities in the EU, Rev. 2 and Rev. 2.1, with explanatory notes, as text or workbook. ' +
    'Written from the publisher’s documented layout; not yet tried on a file of the publisher.',
  publisher: 'Eurostat',
  media_types: codeTableMedia,
  file_extensions: ['csv', 'tsv', 'xlsx', 'zip'],
  options: Options,
  target_type: 'industry-code',
  sample: {
    encoding: 'utf8',
    text: `Order,Level,Code,Parent,Description,This item includes,This item also includes,Rulings,This item excludes,Reference to ISIC Rev. 4
398481,1,A,,"AGRICULTURE, FORESTRY AND FISHING",This section includes the use of vegetal resources.,,,,A
398482,2,01,A,Crop and animal production,,,,,01
398483,3,01.1,01,Growing of non-perennial crops,,,,,011
`,
  },
  read: (source, options) => read(source, options as Options),
}
