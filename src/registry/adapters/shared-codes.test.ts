/** Real files of code lists, stored outside the project: the entries of each, and the keys in which two versions differ. */
import { createReadStream, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { getAdapter, readWithAdapter } from '#test/support/adapter-reading.ts'
import { type ExpectedDifference, readExpectedDiffs } from '#test/support/real-lists.ts'
import { findSharedFolder } from '#test/support/shared-data.ts'
import { DETECTION_BYTES, findFormatMismatch } from '../formats/format-detection.ts'
import { compileType, type PreparedEntry } from '../types/compile-type.ts'
import type { EntityLegalForm } from './entity-legal-form.ts'
import { entryTypes } from './index.ts'
import type { IndustryCode } from './industry-code.ts'

const root = findSharedFolder('', 6) as string
const open = (name: string) => createReadStream(path.join(root, 'reference', name))

/** Entries by key; each is valid and has a unique key. */
async function read(key: string, name: string, options: Record<string, unknown> = {}) {
  const reading = await readWithAdapter(key, open(name), options)
  expect(reading.rejects).toEqual([])
  const type = compileType(entryTypes.get(getAdapter(key).target_type as string) as never)
  const prepared = reading.entries.map((entry) => type.prepare(entry))
  expect(prepared.filter((one) => Array.isArray(one))).toEqual([])
  const hashes = new Map((prepared as PreparedEntry[]).map((one) => [one.key, one.hash]))
  expect(hashes.size).toBe(reading.entries.length)
  return { ...reading, hashes }
}

function differenceOf(old: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>) {
  const both = [...now].filter(([key]) => old.has(key))
  return {
    added: [...now.keys()].filter((key) => !old.has(key)).sort(),
    removed: [...old.keys()].filter((key) => !now.has(key)).sort(),
    changed: both.flatMap(([key, hash]) => (old.get(key) === hash ? [] : [key])).sort(),
  }
}
const expectedOf = (list: string) => readExpectedDiffs(root).find((pair) => pair.list === list) as ExpectedDifference

describe.skipIf(!root)('ISO 20275', () => {
  const [older, newer] = ['iso20275-elf/elf_2019-11-06.csv', 'iso20275-elf/elf_2020-06-10.csv']

  test('reads every row of both versions, with and without a byte order mark', async () => {
    const [old, now] = [await read('iso-20275', older), await read('iso-20275', newer)]
    expect([old.warnings, now.warnings]).toEqual([[], []])
    expect([old.files[0]?.encoding_from, now.files[0]?.encoding_from]).toEqual(['content', 'byte-order-mark'])
    const forms = now.entries as unknown as EntityLegalForm[]
    const names = (entries: readonly EntityLegalForm[]) => entries.reduce((sum, one) => sum + one.names.length, 0)
    // Two reserved codes have no name, country or language.
    expect([old.entries.length, names(old.entries as unknown as EntityLegalForm[])]).toEqual([2082, 2390 - 2])
    expect([forms.length, names(forms)]).toEqual([2867, 3214 - 2])
    expect(forms.filter((form) => form.names.length === 0).map(({ code }) => code)).toEqual(['8888', '9999'])
    // The key that repeats in the file: two Portuguese names of one form.
    const company = forms.find(({ code }) => code === 'X0SD')
    expect(company?.names.filter(({ language }) => language === 'pt').map(({ name }) => name)).toEqual([
      'Sociedade Anônima',
      'Companhia',
    ])
    expect(forms.find(({ code }) => code === 'CRL9')).toMatchObject({ country: 'AW', status: 'active' })
  })

  test('finds the added and changed codes of the expected difference', async () => {
    const difference = differenceOf((await read('iso-20275', older)).hashes, (await read('iso-20275', newer)).hashes)
    const expected = expectedOf('iso20275-elf')
    const codes = (keys: readonly unknown[]) => [...new Set(keys.map((key) => String((key as string[])[0])))].sort()
    const rows = [...expected.added_keys, ...expected.removed_keys, ...expected.changed_keys]
    // A code changes with any of its rows; the expected difference compares one of the two rows of X0SD.
    const { added, removed, changed } = difference
    expect(codes(rows)).toEqual(expect.arrayContaining([...added, ...removed]))
    expect([...added, ...removed, ...changed].sort()).toEqual([...new Set([...codes(rows), 'X0SD'])].sort())
  })
})

describe.skipIf(!root)('MCC', () => {
  test('finds exactly the expected differences between two versions', async () => {
    const old = await read('mcc', 'mcc/mcc_codes_2015-02-12_4754031.csv')
    const now = await read('mcc', 'mcc/mcc_codes_2015-04-29_c78055f.csv')
    expect([old.entries.length, now.entries.length, old.warnings, now.warnings]).toEqual([973, 981, [], []])
    const { added_keys, removed_keys, changed_keys } = expectedOf('mcc')
    const sorted = (keys: readonly unknown[]) => keys.map(String).sort()
    expect(differenceOf(old.hashes, now.hashes)).toEqual({
      added: sorted(added_keys),
      removed: sorted(removed_keys),
      changed: sorted(changed_keys),
    })
    expect(now.entries[0]).toMatchObject({ code: '0742', description: 'Veterinary Services' })
  })
})

describe.skipIf(!root)('NAICS', () => {
  test('reads the same codes, titles and hierarchy from workbook and JSON of one edition', async () => {
    const book = await read('naics', 'naics/naics_2017_codes.xlsx')
    const json = await read('naics', 'naics/naics_2017.json.gz', { edition: '2017' })
    expect(book.warnings.map(({ code }) => code)).toEqual(['rows_padded'])
    expect(json.warnings).toMatchObject([{ code: 'not_a_number', message: expect.stringMatching(/^155 /) }])
    expect([book.entries.length, json.entries.length]).toEqual([2196, 2196])
    const codes = (entries: readonly object[]) => new Map((entries as IndustryCode[]).map((one) => [one.code, one]))
    const [of_book, of_json] = [codes(book.entries), codes(json.entries)]
    const outline = (one: IndustryCode | undefined) => [one?.code, one?.level, one?.parent, one?.edition]
    for (const [code, one] of of_book) expect(outline(of_json.get(code))).toEqual(outline(one))
    expect(of_book.get('311')).toMatchObject({ level: 2, parent: '31-33', title: 'Food Manufacturing' })
    expect(of_book.get('31-33')?.parent).toBeUndefined()
    expect(of_json.get('111110')).toMatchObject({ parent: '11111', cross_references: [{ code: '111191' }] })
    expect(of_json.get('111110')?.index_items).toEqual(['Soybean farming, field and seed production'])
  })

  test('refuses the old binary workbook and names its format', async () => {
    const name = 'naics/naics_2012_codes.xls'
    const sentence = 'The file looks like an old Office document (.xls, .doc)'
    await expect(readWithAdapter('naics', open(name))).rejects.toMatchObject({
      code: 'another_format',
      message: expect.stringContaining(sentence),
    })
    const head = readFileSync(path.join(root, 'reference', name)).subarray(0, DETECTION_BYTES)
    expect(findFormatMismatch(head, getAdapter('naics').media_types)).toMatchObject({
      certain: true,
      sentence: expect.stringContaining(sentence),
    })
  })
})
