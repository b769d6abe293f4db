import { describe, expect, test } from 'vitest'
import yazl from 'yazl'
import { collectBytes, toSource } from '#test/support/byte-sources.ts'
import { readXlsx, type XlsxOptions, type XlsxRow } from './xlsx.ts'
import { writeXlsx, type XlsxCell } from './xlsx-writer.ts'

async function read(bytes: Uint8Array, options: XlsxOptions = {}): Promise<{ name: string; rows: XlsxRow[] }> {
  let name = ''
  const rows: XlsxRow[] = []
  const found = readXlsx(toSource(bytes, 1000), options, (sheet) => {
    name = sheet.name
    return sheet.rows
  })
  for await (const group of found) rows.push(...group)
  return { name, rows }
}

const written = (rows: readonly (readonly XlsxCell[])[], sheet?: string) => collectBytes(writeXlsx(rows, sheet))
const cells = ({ rows }: { rows: XlsxRow[] }) => rows.map((row) => row.cells)

const relations = (type: string) =>
  `<Relationships><Relationship Id="r1" Type="x/${type}" Target="worksheets/one.xml"/><Relationship Id="r2" Type="x/${type}" Target="/xl/worksheets/two.xml"/></Relationships>`

/** A workbook as other programs write it. */
function workbook(parts: Record<string, string>): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  const all = {
    'xl/workbook.xml':
      '<workbook xmlns:r="urn:r"><sheets><sheet name="One" r:id="r1"/><sheet name="Two" r:id="r2"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': relations('worksheet'),
    'xl/worksheets/one.xml': '<worksheet><sheetData/></worksheet>',
    'xl/worksheets/two.xml': '<worksheet><sheetData/></worksheet>',
    ...parts,
  }
  for (const [name, content] of Object.entries(all)) zip.addBuffer(Buffer.from(content), name)
  zip.end()
  return collectBytes(zip.outputStream as unknown as AsyncIterable<Buffer>)
}

const sheet = (rows: string) => `<worksheet><sheetData>${rows}</sheetData></worksheet>`

describe('reading', () => {
  test('reads shared, rich and inline strings, numbers, booleans and blanks', async () => {
    const bytes = await workbook({
      'xl/sharedStrings.xml':
        '<sst><si><t>plain</t></si><si><r><t>rich </t></r><r><t>text</t></r><rPh><t>guide</t></rPh></si></sst>',
      'xl/worksheets/one.xml': sheet(`
        <row r="2"><c r="A2" t="s"><v>0</v></c><c r="C2" t="s"><v>1</v></c></row>
        <row r="3"><c r="A3" t="inlineStr"><is><t>in_x000D_line</t></is></c><c r="B3"><v>9.3000000000000007</v></c>
          <c r="C3" t="b"><v>1</v></c><c r="D3" t="str"><f>A1</f><v>formula</v></c><c r="E3"><v>1E+20</v></c></row>
        <row r="4"><c r="A4"/></row>`),
    })
    expect((await read(bytes)).rows).toEqual([
      { number: 2, cells: ['plain', '', 'rich text'] },
      { number: 3, cells: ['in\rline', '9.3', 'true', 'formula', '100000000000000000000'] },
    ])
  })

  test('reads dates by their style, in both date systems', async () => {
    const styles = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy"/><numFmt numFmtId="165" formatCode="0.0&quot;d&quot;"/></numFmts>
      <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="22"/></cellXfs></styleSheet>`
    const one = sheet(
      '<row r="1"><c s="0"><v>43831</v></c><c s="1"><v>43831</v></c><c s="2"><v>43831</v></c><c s="3"><v>43831</v></c><c s="4"><v>43831.5</v></c><c s="1"><v>59</v></c></row>',
    )
    const read1900 = await read(await workbook({ 'xl/styles.xml': styles, 'xl/worksheets/one.xml': one }))
    expect(cells(read1900)).toEqual([
      ['43831', '2020-01-01', '2020-01-01', '43831', '2020-01-01T12:00:00', '1900-02-28'],
    ])
    const parts = {
      'xl/styles.xml': styles,
      'xl/worksheets/one.xml': sheet('<row r="1"><c s="1"><v>42369</v></c></row>'),
      'xl/workbook.xml':
        '<workbook xmlns:r="urn:r"><workbookPr date1904="1"/><sheets><sheet name="One" r:id="r1"/></sheets></workbook>',
    }
    expect(cells(await read(await workbook(parts)))).toEqual([['2020-01-01']])
  })

  test('reads a sheet by name, and refuses an unknown name with the existing ones', async () => {
    const bytes = await workbook({ 'xl/worksheets/two.xml': sheet('<row r="1"><c><v>2</v></c></row>') })
    expect(await read(bytes, { sheet: 'Two' })).toMatchObject({ name: 'Two', rows: [{ cells: ['2'] }] })
    expect((await read(bytes)).rows).toEqual([])
    await expect(read(bytes, { sheet: 'Three' })).rejects.toMatchObject({
      code: 'sheet_missing',
      message: expect.stringContaining('"One", "Two"'),
    })
  })

  test('marks a cell with an error', async () => {
    const bytes = await workbook({
      'xl/worksheets/one.xml': sheet('<row r="1"><c><v>1</v></c><c t="e"><v>#N/A</v></c></row>'),
    })
    expect((await read(bytes)).rows).toEqual([{ number: 1, cells: ['1', '#N/A'], broken: 1 }])
  })

  test.each([
    ['not a workbook', () => Promise.resolve(Buffer.from('a,b\n')), 'layout_unknown'],
    ['another archive', () => workbook({}).then(() => zipOf('a.txt')), 'layout_unknown'],
    ['nothing', () => Promise.resolve(Buffer.alloc(0)), 'empty_source'],
    ['cut off', () => workbook({}).then((bytes) => bytes.subarray(0, 400)), 'truncated'],
    ['a sheet not well-formed', () => workbook({ 'xl/worksheets/one.xml': '<worksheet><row>' }), 'archive_damaged'],
    ['a document type', () => workbook({ 'xl/worksheets/one.xml': '<!DOCTYPE a><worksheet/>' }), 'doctype_refused'],
    [
      'a cell that cannot be',
      () => workbook({ 'xl/worksheets/one.xml': sheet('<row><c r="ZZZZ1"/></row>') }),
      'archive_damaged',
    ],
  ])('refuses %s', async (_, make, code) => {
    await expect(read(await make())).rejects.toMatchObject({ name: 'SourceFault', code })
  })

  test('refuses an endless cell before it fills the memory', async () => {
    const bytes = await workbook({ 'xl/worksheets/one.xml': `<worksheet><row><c><v>${'1'.repeat(2_000_000)}` })
    await expect(read(bytes)).rejects.toMatchObject({ code: 'record_too_long' })
  })

  test('refuses a small file that expands beyond the limit', async () => {
    const bytes = await workbook({ 'xl/worksheets/one.xml': sheet(' '.repeat(2_000_000)) })
    expect(bytes.length).toBeLessThan(10_000)
    await expect(read(bytes, { max_expanded_bytes: 1_000_000 })).rejects.toMatchObject({ code: 'expansion_limit' })
  })
})

async function zipOf(name: string): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  zip.addBuffer(Buffer.from('x'), name)
  zip.end()
  return collectBytes(zip.outputStream as unknown as AsyncIterable<Buffer>)
}

describe('writing', () => {
  const rows = [
    ['code', 'name', 'score', 'listed'],
    ['NA', 'A & B <"c">', 1.5, true],
    [null, ' kept \n\r\u0001 _x0041_ 😀', -3, false],
  ] as const

  test('writes what the reader reads', async () => {
    const back = await read(await written(rows, 'Liste & mehr'))
    expect(back.name).toBe('Liste & mehr')
    expect(cells(back)).toEqual([
      ['code', 'name', 'score', 'listed'],
      ['NA', 'A & B <"c">', '1.5', 'true'],
      ['', ' kept \n\r\u0001 _x0041_ 😀', '-3', 'false'],
    ])
  })

  test('gives the same bytes for the same rows', async () => {
    expect(await written(rows)).toEqual(await written(rows))
  })

  test('streams many rows', async () => {
    const many = Array.from({ length: 5000 }, (_, index) => [index, `name ${index}`])
    const back = await read(await written(many))
    expect(back.rows).toHaveLength(5000)
    expect(back.rows.at(-1)).toEqual({ number: 5000, cells: ['4999', 'name 4999'] })
  })

  test('fails when the source fails', async () => {
    async function* failing() {
      yield ['a']
      throw new Error('lost')
    }
    await expect(collectBytes(writeXlsx(failing()))).rejects.toThrow('lost')
  })
})
