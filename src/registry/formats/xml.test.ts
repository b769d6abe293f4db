import { describe, expect, test } from 'vitest'
import { collectItems, EndlessSource, toSource } from '#test/support/byte-sources.ts'
import { getAttribute, getChildren, getChildText, readXml } from './xml.ts'

const read = (text: string | Uint8Array, paths = ['list/item']) => collectItems(readXml(toSource(text, 5), paths))

describe('records', () => {
  test('are the elements at a path with attributes, children and text', async () => {
    const text = `<?xml version="1.0"?>
<x:list xmlns:x="urn:x"><item id=" 7 " empty="">
  <name> A &amp; B &#233;<![CDATA[ <c>]]></name><alias>one</alias><alias>two</alias></item>
  <other><item id="not one"/></other><x:item id="8"/></x:list>`
    const [first, second, ...more] = await read(text)
    expect(more).toEqual([])
    expect(first).toMatchObject({ path: 'list/item', line: 2 })
    expect(second?.element.attributes['id']).toBe('8')
    const item = first?.element
    if (!item) throw new Error('no record')
    expect(getChildText(item, 'name')).toBe('A & B é <c>')
    expect(getChildren(item, 'alias').map((alias) => alias.text)).toEqual(['one', 'two'])
    expect([getAttribute(item, 'id'), getAttribute(item, 'empty'), getChildText(item, 'none')]).toEqual([
      '7',
      undefined,
      undefined,
    ])
  })

  test('are read at several paths', async () => {
    const records = await read('<list><a>1</a><b><c>2</c></b></list>', ['list/a', 'list/b/c'])
    expect(records.map(({ path, element }) => [path, element.text])).toEqual([
      ['list/a', '1'],
      ['list/b/c', '2'],
    ])
  })

  test('use the declared encoding', async () => {
    const text = '<?xml version="1.0" encoding="windows-1252"?><list><item>\u00e9</item></list>'
    expect((await read(Buffer.from(text, 'latin1')))[0]?.element.text).toBe('é')
  })
})

describe('refused', () => {
  test.each([
    ['a document type', '<!DOCTYPE list><list/>', 'doctype_refused'],
    ['entity declarations', '<!DOCTYPE l [<!ENTITY a "b">]><list><item>&a;</item></list>', 'doctype_refused'],
    ['an entity nobody declared', '<list><item>&nbsp;</item></list>', 'not_well_formed'],
    ['a bare ampersand', '<list><item>A & B</item></list>', 'not_well_formed'],
    ['tags that do not fit', '<list><item></list>', 'not_well_formed'],
    ['text before the document', 'This XML file …\n<list/>', 'not_well_formed'],
    ['half a file', '<list><item>a</item><it', 'truncated'],
    ['a document without its end', '<list><item>a</item>', 'truncated'],
    ['another document', '<html><item/></html>', 'layout_unknown'],
    ['too many levels', '<list>'.repeat(65), 'not_well_formed'],
    ['nothing', '', 'empty_source'],
  ])('%s', async (_, text, code) => {
    await expect(read(text)).rejects.toMatchObject({ name: 'SourceFault', code })
  })

  test('reports the line of the fault, even when the parser notices it later', async () => {
    const bare = '<list>\n<item>\nA & B</item>\n<item>&amp;</item></list>'
    await expect(read(bare)).rejects.toMatchObject({ code: 'not_well_formed', at: { line: 3 } })
    await expect(collectItems(readXml(toSource(bare, 1000), ['list/item']))).rejects.toMatchObject({ at: { line: 3 } })
    await expect(read('<list>\n<item>\n</list>')).rejects.toMatchObject({ at: { line: 3 } })
  })

  test('accepts an ampersand in CDATA', async () => {
    expect((await read('<list><item><![CDATA[A & B]]></item></list>'))[0]?.element.text).toBe('A & B')
    await expect(read('<list><item><![CDATA[A & B')).rejects.toMatchObject({ code: 'truncated' })
  })

  test('refuses a record without end', async () => {
    const source = new EndlessSource('<list><item>', 'x'.repeat(65_536))
    await expect(collectItems(readXml(source, ['list/item']))).rejects.toMatchObject({ code: 'record_too_long' })
    expect(source.closed).toBe(true)
  })
})
