/**
 * The result of each adapter when a part of its source is missing, truncated or renamed. Every adapter is listed: a new one fails
 * the first test. "guards" means that the file itself does not show the loss, so that only the guards of the list notice it.
 */
import { describe, expect, test } from 'vitest'
import yazl from 'yazl'
import { getAdapter, readWithAdapter } from '#test/support/adapter-reading.ts'
import { collectBytes, toSource } from '#test/support/byte-sources.ts'
import type { SourceFault } from '../adapter.ts'
import { adapters } from './index.ts'

function zipOf(files: Readonly<Record<string, Uint8Array | string>>): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content as string), name)
  zip.end()
  return collectBytes(zip.outputStream as unknown as AsyncIterable<Buffer>)
}

const outcomeOf = (key: string, content: Uint8Array, options: Record<string, unknown> = {}) =>
  readWithAdapter(key, toSource(content, 64), options).then(
    ({ rejects }) => (rejects.length > 0 ? 'rejected' : 'guards'),
    (fault: SourceFault) => fault.code,
  )

const singleOutcome = async (...reading: Parameters<typeof outcomeOf>) => {
  const outcome = await outcomeOf(...reading)
  return outcome === 'guards' || outcome === 'rejected' ? outcome : 'refused'
}

/** By adapter: cut after a whole line, and in the middle of the last one. */
const single: Readonly<Record<string, readonly [at_line_end: string, mid_line: string]>> = {
  'country-scores': ['guards', 'refused'],
  // The cut is inside the last column: the row looks complete.
  csv: ['guards', 'guards'],
  'eu-consolidated-csv': ['guards', 'refused'],
  'eu-consolidated-xml': ['refused', 'refused'],
  'fatf-lists': ['refused', 'refused'],
  'gleif-lei': ['guards', 'refused'],
  'gleif-relationships': ['guards', 'refused'],
  'iso-20275': ['guards', 'refused'],
  'iso-3166': ['guards', 'refused'],
  'iso-4217': ['guards', 'refused'],
  json: ['refused', 'refused'],
  mcc: ['guards', 'refused'],
  nace: ['guards', 'refused'],
  // As for csv.
  naics: ['guards', 'guards'],
  ndjson: ['guards', 'refused'],
  'ofac-consolidated-xml': ['refused', 'refused'],
  'ofac-sdn-xml': ['refused', 'refused'],
  tsv: ['guards', 'guards'],
  'uk-hmt-csv': ['guards', 'refused'],
  'un-consolidated-xml': ['refused', 'refused'],
  'us-bis-dpl': ['guards', 'refused'],
  'ofac-consolidated-advanced-xml': ['refused', 'refused'],
  'ofac-sdn-advanced-xml': ['refused', 'refused'],
  // A remaining line refers to a missing line, or a line is no longer referred to.
  'opensanctions-ftm': ['guards', 'refused'],
  'us-csl-csv': ['guards', 'refused'],
  'us-csl-json': ['refused', 'refused'],
  xlsx: ['refused', 'refused'],
}

const nothing = Array(7).fill('-0- ').join(',')
const setOf = (
  programme: string,
  [parties, aliases, addresses, comments]: readonly [string, string, string, string],
) => ({
  [`${parties}.csv`]: `7,"DOE, Jo","individual","${programme}",${nothing},"DOB 1980; Linked To: AC"\r\n8,"ROE","individual","${programme}",${nothing},-0- \r\n\x1a`,
  [`${aliases}.csv`]: '7,1,"aka","DOE, Joe",-0- \r\n8,2,"fka","ROW",-0- \r\n\x1a',
  [`${addresses}.csv`]: '7,1,"1 Main St","Oran","Algeria",-0- \r\n8,2,"2 Main St","Oran","Algeria",-0- \r\n\x1a',
  [`${comments}.csv`]: '7,"ME LTD."\r\n8,"Known in Oran."\r\n\x1a',
})
const sets: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'ofac-sdn-csv': setOf('SDGT', ['sdn', 'alt', 'add', 'sdn_comments']),
  'ofac-consolidated-csv': setOf('NS-PLC', ['cons_prim', 'cons_alt', 'cons_add', 'cons_comments']),
}

test('every adapter is listed', () => {
  expect([...Object.keys(single), ...Object.keys(sets)].sort()).toEqual([...adapters.keys()].sort())
})

describe.each(Object.keys(single))('%s, one file', (key) => {
  const { encoding, text, options } = getAdapter(key).sample
  const bytes = Buffer.from(text, encoding)
  const whole = bytes.toString('latin1').replace(/\s+$/, '')

  test('cut after a whole line', async () => {
    const last_line = whole.lastIndexOf('\n')
    const cut = last_line < 0 ? bytes.subarray(0, bytes.length / 2) : bytes.subarray(0, last_line + 1)
    expect(await singleOutcome(key, cut, options)).toBe(single[key]?.[0])
  })

  test('cut in the middle of a line', async () => {
    const start = whole.lastIndexOf('\n') + 1
    const cut = bytes.subarray(0, start + Math.ceil((whole.length - start) / 4))
    expect(await singleOutcome(key, cut, options)).toBe(single[key]?.[1])
  })

  test.skipIf(key === 'xlsx')(
    'is read from a zip under any name, and refused when the zip holds another file too',
    async () => {
      const renamed = await zipOf({ 'folder/list (1).data': bytes })
      expect((await readWithAdapter(key, toSource(renamed), options)).entries).not.toEqual([])
      const beside = await zipOf({ 'list.csv': bytes, 'readme.txt': 'not a list' })
      expect(await outcomeOf(key, beside, options)).toBe('archive_members')
    },
  )
})

describe.each(Object.keys(sets))('%s, a set of files', (key) => {
  const set = sets[key] as Readonly<Record<string, string>>
  const names = Object.keys(set) as [string, ...string[]]
  const [parties] = names
  const stemOf = (name: string) => name.replace('.csv', '')
  const refusal = async (files: Readonly<Record<string, Uint8Array | string>>, options = {}) =>
    readWithAdapter(key, toSource(await zipOf(files)), options).then(
      () => null,
      (fault: SourceFault) => fault,
    )
  const without = (name: string) => Object.fromEntries(Object.entries(set).filter(([other]) => other !== name))

  test('is read completely, and each file is reported with its encoding', async () => {
    const { entries, rejects, warnings, files } = await readWithAdapter(key, toSource(await zipOf(set)))
    expect([entries.length, rejects, warnings]).toEqual([2, [], []])
    expect(entries[0]).toMatchObject({ names: [{}, { name: 'DOE, Joe' }], addresses: [{ city: 'Oran' }] })
    const read = { state: 'read', encoding: 'utf-8', encoding_from: 'content' }
    expect(files).toEqual([...names.slice(1), parties].map((file) => ({ file, ...read })))
  })

  test.each(names)('%s missing', async (name) => {
    const fault = await refusal(without(name))
    expect(fault).toMatchObject({ code: 'archive_members', at: { file: name } })
    expect(fault?.message).toContain(`The archive lacks ${name}`)
    if (name === parties) return
    const absent_files = [stemOf(name)]
    const allowed = await readWithAdapter(key, toSource(await zipOf(without(name))), { absent_files })
    expect(allowed.entries).toHaveLength(2)
    expect(allowed.files).toContainEqual({ file: name, state: 'absent', holds: expect.stringMatching(/^[a-z]/) })
    // Declared absent and present: one of the two is a mistake.
    expect(await refusal(set, { absent_files })).toMatchObject({ code: 'archive_members', at: { file: name } })
  })

  test.each(names)('%s renamed', async (name) => {
    const renamed = name.replace('.csv', ' (1).csv')
    const fault = await refusal({ ...without(name), [renamed]: set[name] as string })
    // The other list's adapter is named where the browser's name still says which list it is.
    expect(fault?.code).toBe('archive_members')
    expect(fault?.message).toContain(`It holds "${renamed}"`)
  })

  test.each(names)('%s twice', async (name) => {
    const fault = await refusal({ ...set, [`old/${name}`]: set[name] as string })
    expect(fault).toMatchObject({ code: 'archive_members', at: { file: name } })
  })

  test.each(names)('%s without a byte', async (name) => {
    const fault = await refusal({ ...set, [name]: '' })
    expect(fault).toMatchObject({ code: 'empty_source', at: { file: name } })
    expect(fault?.message).toContain(`"${name}" in the archive is empty`)
  })

  test.each(names)('%s cut after a whole line', async (name) => {
    const [first] = (set[name] as string).split('\r\n')
    const cut = { ...set, [name]: `${first}\r\n` }
    expect(await refusal(cut)).toMatchObject({ code: 'truncated', at: { file: name, line: 2 } })
    // Declared complete without its end mark, it is read, and orphan rows of the other files are counted.
    const { warnings } = await readWithAdapter(key, toSource(await zipOf(cut)), {
      files_without_end_mark: [stemOf(name)],
    })
    const orphaned =
      name === parties ? names.slice(1).map((file) => ({ code: 'rows_orphaned', count: 1, at: { file, line: 2 } })) : []
    expect(warnings).toMatchObject(orphaned)
  })

  test.each(names)('%s cut in the middle of a line', async (name) => {
    const text = set[name] as string
    const cut = text.slice(0, text.indexOf('\r\n') + 8)
    const options = { files_without_end_mark: [stemOf(name)] }
    expect(await refusal({ ...set, [name]: cut })).toMatchObject({ code: 'truncated', at: { file: name, line: 2 } })
    expect(await refusal({ ...set, [name]: cut }, options)).toMatchObject({ code: 'truncated' })
  })

  test.each(names)('%s with the content of another file', async (name) => {
    const other = names[(names.indexOf(name) + 1) % names.length] as string
    const bytes = await zipOf({ ...set, [name]: set[other] as string })
    expect(await outcomeOf(key, bytes)).toBe('rejected')
  })

  test('reports files that belong to no set', async () => {
    const { files, warnings } = await readWithAdapter(
      key,
      toSource(await zipOf({ ...set, 'spec.txt': 'x', 'sdn.ff': 'x' })),
    )
    expect(files.filter(({ state }) => state === 'unread').map(({ file }) => file)).toEqual(['spec.txt', 'sdn.ff'])
    expect(warnings).toMatchObject([{ code: 'files_unread', at: { file: 'spec.txt' } }])
  })

  test('reads the parties alone only when the other files are declared absent', async () => {
    const alone = Buffer.from(set[parties] as string)
    await expect(readWithAdapter(key, toSource(alone))).rejects.toMatchObject({ code: 'archive_members' })
    const absent_files = names.slice(1).map(stemOf)
    await expect(readWithAdapter(key, toSource(alone), { absent_files: absent_files.slice(1) })).rejects.toMatchObject({
      code: 'archive_members',
      at: { file: names[1] },
    })
    const { entries, files } = await readWithAdapter(key, toSource(alone), { absent_files })
    expect(entries).toHaveLength(2)
    const lacks = ['aliases', 'addresses', 'the ends of long remarks']
    expect(files.filter(({ state }) => state === 'absent')).toEqual(
      names.slice(1).map((file, place) => ({ file, state: 'absent', holds: lacks[place] })),
    )
  })

  test('refuses the other list by its names and by its programmes', async () => {
    const [, other] = Object.entries(sets).find(([one]) => one !== key) as [string, Readonly<Record<string, string>>]
    expect(await refusal(other)).toMatchObject({ code: 'layout_unknown', at: { file: Object.keys(other)[0] } })
    const disguised = Object.fromEntries(Object.values(other).map((content, index) => [names[index], content]))
    const fault = await refusal(disguised)
    expect(fault).toMatchObject({ code: 'layout_unknown', at: { file: parties } })
    expect(fault?.message).toMatch(/^2 of 2 parties belong to programmes of the (SDN|consolidated) list/)
  })
})

test.each([
  ['ofac-sdn-xml', 'ofac-consolidated-xml', 'consolidated.xml'],
  ['ofac-consolidated-xml', 'ofac-sdn-xml', 'sdn.xml'],
  ['ofac-sdn-advanced-xml', 'ofac-consolidated-advanced-xml', 'CONS_ADVANCED.XML'],
  ['ofac-consolidated-advanced-xml', 'ofac-sdn-advanced-xml', 'SDN_ADVANCED (1).XML'],
])('%s refuses the list of %s', async (key, other, file_name) => {
  const own = Buffer.from(getAdapter(key).sample.text)
  const foreign = Buffer.from(getAdapter(other).sample.text)
  await expect(readWithAdapter(key, toSource(foreign))).rejects.toMatchObject({ code: 'layout_unknown' })
  await expect(readWithAdapter(key, toSource(own), {}, file_name)).rejects.toMatchObject({
    code: 'layout_unknown',
    at: { file: file_name },
  })
})

describe('a section of OFAC in advanced XML', () => {
  const { text } = getAdapter('ofac-sdn-advanced-xml').sample
  const optional = ['Locations', 'IDRegDocuments', 'ProfileRelationships', 'SanctionsEntries']
  const all = [...optional, 'ReferenceValueSets', 'DistinctParties']
  const without = (section: string) => text.replace(new RegExp(`<${section}>.*</${section}>|<${section}/>`, 's'), '')
  const readText = (content: string, options = {}) =>
    readWithAdapter('ofac-sdn-advanced-xml', toSource(content, 100), options)

  test.each(all)('%s missing or renamed', async (section) => {
    expect(without(section)).not.toBe(text)
    const refused = { code: 'layout_unknown', message: expect.stringContaining(`"${section}"`) }
    await expect(readText(without(section))).rejects.toMatchObject(refused)
    const renamed = text.replaceAll(section, `${section}2`)
    await expect(readText(renamed)).rejects.toMatchObject(refused)
  })

  test.each(optional)('%s declared absent', async (section) => {
    const options = { absent_sections: [section] }
    const { entries, warnings } = await readText(without(section), options)
    expect(entries).toHaveLength(1)
    // The address refers to a missing location.
    expect(warnings.map(({ code }) => code)).toEqual(section === 'Locations' ? ['rows_orphaned'] : [])
    await expect(readText(text, options)).rejects.toMatchObject({ code: 'layout_unknown' })
  })

  test('out of order', async () => {
    const [locations] = /<Locations>.*<\/Locations>/s.exec(text) as RegExpExecArray
    const late = without('Locations').replace('<ProfileRelationships/>', locations)
    const line = late.slice(0, late.indexOf('<Locations>')).split('\n').length
    await expect(readText(late)).rejects.toMatchObject({ code: 'layout_unknown', at: { line } })
  })

  test('counts references to a missing set of reference values', async () => {
    const cut = text.replace(/<CountryValues>.*<\/CountryValues>/, '')
    const line = cut.slice(0, cut.indexOf('<Location ')).split('\n').length
    const { warnings } = await readText(cut)
    expect(warnings).toMatchObject([{ code: 'rows_orphaned', count: 2, closes_guard: true, at: { line } }])
  })
})

describe('a column of the Consolidated Screening List', () => {
  const { text } = getAdapter('us-csl-csv').sample
  const header = text.split('\n')[0] as string
  const names = header.split(',')

  test.each(names)('%s renamed', async (name) => {
    const renamed = names.map((other) => (other === name ? `${name}_2` : other)).join(',')
    const content = text.replace(header, renamed)
    const refused = { code: 'layout_unknown', message: expect.stringContaining(`"${name}"`) }
    await expect(readWithAdapter('us-csl-csv', toSource(content))).rejects.toMatchObject(refused)
    if (name === 'source' || name === 'name') return
    const options = { absent_columns: [name] }
    const { entries, warnings } = await readWithAdapter('us-csl-csv', toSource(content), options)
    expect(entries).toHaveLength(1)
    expect(warnings).toMatchObject([{ code: 'columns_unread', message: expect.stringContaining(`"${name}_2"`) }])
    await expect(readWithAdapter('us-csl-csv', toSource(text), options)).rejects.toMatchObject({
      code: 'layout_unknown',
    })
  })

  test.each(names.filter((name) => name !== 'source' && name !== 'name'))('%s renamed in JSON', async (name) => {
    const json = getAdapter('us-csl-json').sample.text.replace(`"${name}":`, `"${name}_2":`)
    const { warnings } = await readWithAdapter('us-csl-json', toSource(json))
    expect(warnings).toMatchObject([
      { code: 'members_missing', closes_guard: true, message: expect.stringContaining(`"${name}"`) },
      { code: 'members_unread', message: expect.stringContaining(`"${name}_2"`) },
    ])
    const allowed = await readWithAdapter('us-csl-json', toSource(json), { absent_members: [name] })
    expect(allowed.warnings.map(({ code }) => code)).toEqual(['members_unread'])
  })
})

describe('OpenSanctions', () => {
  const lines = getAdapter('opensanctions-ftm').sample.text.trim().split('\n')

  test.each([0, 1])('counts references to the missing line %i', async (missing) => {
    const content = `${lines.filter((_, index) => index !== missing).join('\n')}\n`
    const { warnings, entries } = await readWithAdapter('opensanctions-ftm', toSource(content))
    // A party without a sanction is valid: only the guards notice the loss.
    expect([entries.length, warnings.map(({ code }) => code)]).toEqual(missing ? [1, []] : [0, ['rows_orphaned']])
  })
})
