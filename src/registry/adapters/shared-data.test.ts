/** Real files of the publishers, stored outside the project: the number of entries of each. Skipped where the files are missing. */
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import yazl from 'yazl'
import { getAdapter, readWithAdapter } from '#test/support/adapter-reading.ts'
import { collectBytes, toSource } from '#test/support/byte-sources.ts'
import { createRandom } from '#test/support/random.ts'
import { announceSampling, sample } from '#test/support/sampling.ts'
import type { Entry } from '../adapter.ts'
import { readCsv } from '../formats/csv.ts'
import { readText } from '../formats/decode.ts'
import { DETECTION_BYTES, findFormatMismatch } from '../formats/format-detection.ts'
import { NameLanguage } from '../import/name-language.ts'
import { compileType } from '../types/compile-type.ts'
import { entryTypes } from './index.ts'
import type { SanctionedParty } from './sanctioned-party.ts'

const root = path.resolve(import.meta.dirname, '../../../../shared/data')
const isPresent = existsSync(path.join(root, 'expected-diffs.json'))
const file = (name: string) => path.join(root, name)
const open = (name: string) => createReadStream(file(name))

/** Reads a file and checks that every entry is valid for its type. */
async function read(key: string, name: string, options: Record<string, unknown> = {}) {
  const reading = await readWithAdapter(key, open(name), options)
  const { target_type } = getAdapter(key)
  const type = target_type === null ? undefined : entryTypes.get(target_type)
  if (type) {
    const compiled = compileType(type)
    const wrong = reading.entries.map((entry) => compiled.prepare(entry)).filter((prepared) => Array.isArray(prepared))
    expect(wrong).toEqual([])
  }
  return reading
}

const ansi = { encoding: 'windows-1252' }
const sdnAlone = { absent_files: ['alt', 'add', 'sdn_comments'] }
const consolidatedAlone = { absent_files: ['cons_alt', 'cons_add', 'cons_comments'] }
/** Copies that lost OFAC's end mark. */
const unmarked = { files_without_end_mark: ['sdn', 'alt', 'add', 'sdn_comments'] }
const cpi = { country_column: 'Jurisdiction', score_column: 'CPI' }
const perYear = { 1998: 85, 1999: 99, 2000: 90, 2001: 91, 2002: 102, 2003: 133, 2004: 146, 2005: 159, 2006: 163 }
const perYearLater = { 2007: 180, 2008: 180, 2009: 180, 2010: 178, 2011: 183, 2012: 176, 2013: 177, 2014: 175 }

/** adapter, file, entries, codes of the warnings, options */
const files: [string, string, number, string[], Record<string, unknown>][] = [
  ['ofac-sdn-csv', 'sanctions/ofac-sdn/sdn_2021-08-18T0939Z.csv', 9083, [], sdnAlone],
  ['ofac-sdn-csv', 'sanctions/ofac-sdn/sdn_2021-08-20T0138Z.csv', 9086, [], sdnAlone],
  ['ofac-sdn-csv', 'sanctions/ofac-sdn/sdn_2022-02-03.csv', 9053, [], sdnAlone],
  ['ofac-sdn-csv', 'sanctions/ofac-sdn/sdn_2022-02-25.csv', 9214, [], sdnAlone],
  ['ofac-sdn-csv', 'sanctions/ofac-relational/2019-01/sdn.csv', 7379, [], { ...sdnAlone, ...unmarked }],
  ['ofac-sdn-csv', 'sanctions/ofac-relational/2021-07/sdn.csv', 8976, [], sdnAlone],
  ['ofac-sdn-xml', 'sanctions/ofac-sdn-xml-sample/sdn.xml', 8, ['count_differs'], {}],
  ['ofac-sdn-xml', 'sanctions/ofac-sdn-xml-sample/sample_ofac_sdn.zip', 8, ['count_differs'], {}],
  ['ofac-consolidated-csv', 'sanctions/ofac-consolidated/2018-04-06/cons_prim.csv', 639, [], consolidatedAlone],
  [
    'ofac-consolidated-csv',
    'sanctions/ofac-consolidated/2018-04-06/cons_prim.pip',
    639,
    [],
    { ...consolidatedAlone, delimiter: '|' },
  ],
  [
    'ofac-consolidated-csv',
    'sanctions/ofac-consolidated/2018-04-06/cons_prim.del',
    639,
    [],
    { ...consolidatedAlone, delimiter: '@' },
  ],
  ['ofac-consolidated-xml', 'sanctions/ofac-consolidated/2018-04-06/consolidated.xml', 639, [], {}],
  ['ofac-consolidated-xml', 'sanctions/ofac-consolidated/2020-03-17/consolidated.xml', 375, [], {}],
  ['un-consolidated-xml', 'sanctions/un-consolidated/un_2018-06-07.xml', 1098, [], {}],
  ['un-consolidated-xml', 'sanctions/un-consolidated/un_2018-06-21.xml', 1100, [], {}],
  ['un-consolidated-xml', 'sanctions/un-consolidated/un_2018-08-24.xml', 1098, [], {}],
  ['un-consolidated-xml', 'sanctions/un-consolidated/un_2018-10-29.xml', 1093, [], {}],
  ['uk-hmt-csv', 'sanctions/uk-hmt/conlist_2018-04-13.csv', 2106, ['encoding_guessed'], {}],
  ['uk-hmt-csv', 'sanctions/uk-hmt/sample_2022.csv', 6, [], {}],
  [
    'eu-consolidated-csv',
    'sanctions/eu-fsf/eu_2018-07-04_first1000.csv',
    93,
    ['lines_wrapped', 'encoding_guessed'],
    {},
  ],
  ['eu-consolidated-xml', 'sanctions/eu-fsf/eu_sample_2020-04-15_a.xml', 7, [], {}],
  ['eu-consolidated-xml', 'sanctions/eu-fsf/eu_sample_2020-04-15_b.xml', 7, [], {}],
  ['us-bis-dpl', 'sanctions/us-bis-dpl/dpl_2019-06-29.txt', 543, ['rows_repeated'], {}],
  ['us-bis-dpl', 'sanctions/us-bis-dpl/dpl_2022-09-07.txt', 579, ['rows_repeated'], {}],
  ['csv', 'sanctions/us-csl/csl_2019-12-03_excerpt.csv', 115, [], {}],
  ['fatf-lists', 'jurisdictions/fatf/fatf_2024-10-25.json', 27, [], {}],
  ['fatf-lists', 'jurisdictions/fatf/fatf_2025-02-21.json', 28, [], {}],
  ['fatf-lists', 'jurisdictions/fatf/fatf_2025-06-13.json', 27, [], {}],
  ['json', 'jurisdictions/eu-aml-high-risk/deltas_compiled.json', 4, [], { pointer: '/deltas' }],
  ['iso-3166', 'reference/iso3166/country-codes_2018-09-15_f2cf5e7.csv', 249, ['row_without_code'], {}],
  ['iso-3166', 'reference/iso3166/country-codes_2019-04-04_2ed03b6.csv', 249, ['row_without_code'], {}],
  ['iso-3166', 'reference/iso3166/country-codes_2020-10-12_060e8c0.csv', 249, ['row_without_code'], {}],
  ['iso-4217', 'reference/iso4217/codes-all_2018-10-30_4cd36ef.csv', 302, Array(3).fill('row_without_code'), {}],
  ['iso-4217', 'reference/iso4217/codes-all_2020-10-12_df3ae68.csv', 302, Array(3).fill('row_without_code'), {}],
  ['iso-4217', 'reference/iso4217/table_a1_2018-10-30.xml', 179, Array(3).fill('row_without_code'), {}],
  ['csv', 'reference/iso20275-elf/elf_2019-11-06.csv', 2390, [], {}],
  ['csv', 'reference/iso20275-elf/elf_2020-06-10.csv', 3214, [], {}],
  ['csv', 'reference/mcc/mcc_codes_2015-02-12_4754031.csv', 973, [], {}],
  ['csv', 'reference/mcc/mcc_codes_2015-04-29_c78055f.csv', 981, [], {}],
  ['xlsx', 'reference/naics/naics_2017_codes.xlsx', 2196, ['rows_padded'], {}],
  ...Object.entries({ ...perYear, ...perYearLater }).map(
    ([year, count]) =>
      ['country-scores', `jurisdictions/cpi/per-year/CPI${year}.csv`, count, [], cpi] as (typeof files)[number],
  ),
]

if (!isPresent) console.log(`shared data is missing: ${files.length} files are not read`)

if (isPresent) announceSampling('published files that adapters read')
const SAMPLED_FILES = 15

describe.skipIf(!isPresent)('every file', () => {
  test.each(sample(files, SAMPLED_FILES, 'published files'))(
    '%s reads %s',
    async (key, name, entries, warnings, options) => {
      const reading = await read(key, name, options)
      expect(reading.rejects).toEqual([])
      expect(reading.entries).toHaveLength(entries)
      expect(reading.warnings.map(({ code }) => code)).toEqual(warnings)
    },
  )

  test.each([
    ['ofac-sdn-csv', 'sanctions/ofac-relational/invalid-2019/sdn.csv', 'truncated', 7380],
    ['ofac-sdn-csv', 'sanctions/ofac-relational/2019-01/sdn.csv', 'truncated', 7379],
    ['ofac-sdn-csv', 'sanctions/ofac-consolidated/2018-04-06/cons_prim.csv', 'layout_unknown', undefined],
    ['ofac-sdn-xml', 'sanctions/ofac-consolidated/2018-04-06/consolidated.xml', 'layout_unknown', undefined],
    ['un-consolidated-xml', 'sanctions/my-moha/moha_2025-01-13_MALFORMED.xml', 'not_well_formed', 1],
    ['un-consolidated-xml', 'sanctions/my-moha/moha_2025-11-27.xml', 'layout_unknown', 3],
    ['xlsx', 'reference/naics/naics_2012_codes.xls', 'layout_unknown', undefined],
    ['json', 'conformance/JSONTestSuite/n_structure_no_data.json', 'empty_source', undefined],
    ['json', 'reference/naics/naics_2017.json.gz', 'not_well_formed', 1],
  ])('%s refuses %s: %s', async (key, name, code, line) => {
    const options = key === 'ofac-sdn-csv' ? sdnAlone : {}
    const refused = await readWithAdapter(key, open(name), options).catch((error: unknown) => error)
    expect(refused).toMatchObject({ name: 'SourceFault', code })
    expect((refused as { at?: { line?: number } }).at?.line).toBe(line)
  })

  test('detects another format only for files of another format', () => {
    const lookAt = (key: string, name: string) =>
      findFormatMismatch(readFileSync(file(name)).subarray(0, DETECTION_BYTES), getAdapter(key).media_types)
        ?.sentence ?? null
    expect(files.map(([key, name]) => lookAt(key, name)).filter((misfit) => misfit !== null)).toEqual([])
    expect(lookAt('json', 'sanctions/merged-deriv/sanctions_2020-05-18.yml')).toContain('looks like YAML')
    expect(lookAt('xlsx', 'reference/naics/naics_2012_codes.xls')).toContain('looks like an old Office document')
  })

  test('detects English names of countries', async () => {
    const language = new NameLanguage({ type_key: 'country', key_pointers: ['/alpha_2'] })
    const { entries } = await read('iso-3166', 'reference/iso3166/country-codes_2020-10-12_060e8c0.csv')
    for (const entry of entries) language.add(entry)
    expect(language.warnings()).toEqual([])
  })

  test('reports the exact line of a fault', async () => {
    const text = readFileSync(file('sanctions/un-consolidated/un_2018-08-24.xml'), 'utf8')
    const random = createRandom(15)
    for (let each = 0; each < 3; each++) {
      const at = text.indexOf('</', random(text.length))
      const broken = `${text.slice(0, at)} A & B${text.slice(at)}`
      const fault = await readWithAdapter('un-consolidated-xml', toSource(broken, 1000 + random(50_000))).catch(
        (error) => error,
      )
      expect(fault.at).toEqual({ row: 0, line: text.slice(0, at).split('\n').length })
    }
  })

  test('rejects the invalid CSL file line by line', async () => {
    const { entries, rejects } = await read('csv', 'sanctions/us-csl/csl_invalid_2019.csv')
    expect(entries).toHaveLength(2)
    expect(rejects.map(({ code, at }) => [code, at.line])).toEqual([2, 4, 5, 9].map((line) => ['column_lacking', line]))
  })

  test.each([
    ['ofac-sdn-csv', 'sanctions/ofac-sdn/sdn_2022-02-25.csv', 0.5],
    ['un-consolidated-xml', 'sanctions/un-consolidated/un_2018-06-07.xml', 0.5],
    ['ofac-consolidated-xml', 'sanctions/ofac-consolidated/2018-04-06/consolidated.xml', 0.5],
    ['json', 'sanctions/ofac-crypto/2023-10-19/sanctioned_addresses_XBT.json', 0.5],
    ['fatf-lists', 'jurisdictions/fatf/fatf_2025-06-13.json', 0.5],
    ['xlsx', 'reference/naics/naics_2017_codes.xlsx', 0.5],
    ['ofac-sdn-xml', 'sanctions/ofac-sdn-xml-sample/sample_ofac_sdn.zip', 0.9],
  ])('%s refuses a part of %s', async (key, name, share) => {
    const bytes = readFileSync(file(name))
    const half = bytes.subarray(0, Math.floor(bytes.length * share))
    const options = key === 'ofac-sdn-csv' ? sdnAlone : {}
    await expect(readWithAdapter(key, toSource(half, 65_536), options)).rejects.toMatchObject({
      name: 'SourceFault',
      code: 'truncated',
    })
  })
})

describe.skipIf(!isPresent)('csv-spectrum', () => {
  const folder = 'conformance/csv-spectrum'
  const names = isPresent ? readdirSync(file(`${folder}/csvs`)).map((name) => path.basename(name, '.csv')) : []

  test.each(names)('%s', async (name) => {
    const records = []
    for await (const group of readCsv(readText(open(`${folder}/csvs/${name}.csv`)))) records.push(...group)
    const [header, ...rows] = records.map(({ fields }) => fields)
    const objects = rows.map((row) => Object.fromEntries(row.map((value, index) => [header?.[index], value])))
    expect(objects).toEqual(JSON.parse(readFileSync(file(`${folder}/json/${name}.json`), 'utf8')))
  })
})

describe.skipIf(!isPresent)('special cases', () => {
  test('reads NA as Namibia', async () => {
    const { entries } = await read('iso-3166', 'reference/iso3166/country-codes_2020-10-12_060e8c0.csv')
    expect(entries.find((entry) => entry['alpha_3'] === 'NAM')).toMatchObject({
      alpha_2: 'NA',
      name: 'Namibia',
      numeric: '516',
    })
  })

  test('reads 0.0 as no data when the options say so', async () => {
    const options = { country_column: 'country', score_column: '2017', no_data: ['0.0'], ...ansi }
    const { entries, warnings } = await read('country-scores', 'jurisdictions/cpi/cpi_1995-2017_wide.csv', options)
    expect(entries.some((entry) => entry['score'] === 0)).toBe(false)
    expect(warnings.map(({ code }) => code)).toEqual(['rows_without_score'])
    expect(entries.length + Number(/^\d+/.exec(warnings[0]?.message ?? '')?.[0])).toBe(252)
  })

  test('reads 00/00/1980 as a year', async () => {
    const { entries } = await read('uk-hmt-csv', 'sanctions/uk-hmt/conlist_2018-04-13.csv', ansi)
    const party = entries.find((entry) => entry['source_id'] === '13349') as unknown as SanctionedParty
    expect(party.birth_dates).toContainEqual({ text: '00/00/1980', year_from: 1980, year_to: 1980 })
    expect(party.nationalities).toEqual(['Saudi Arabia', 'Qatar'])
  })

  test('keeps zeros of codes and ignores a byte order mark', async () => {
    const mcc = await read('csv', 'reference/mcc/mcc_codes_2015-04-29_c78055f.csv')
    expect(mcc.entries[0]).toMatchObject({ mcc: '0742' })
    const elf = await read('csv', 'reference/iso20275-elf/elf_2020-06-10.csv')
    expect(elf.entries[0]).toMatchObject({ 'ELF Code': '8888' })
  })

  test('reads a workbook with a title above the header', async () => {
    const columns = [
      { column: 'ISO3', pointer: '/country' },
      { column: 'CPI Score 2017', pointer: '/score' },
    ]
    const file = 'jurisdictions/cpi/CPI2017.xlsx'
    const { entries, rejects, warnings } = await read('xlsx', file, { skip_rows: 2, columns })
    expect(warnings).toMatchObject([{ code: 'sheets_unread', message: expect.stringContaining('"CPI 2017"') }])
    expect(rejects).toEqual([])
    expect(entries[0]).toEqual({ country: 'NZL', score: '89' })
  })

  test('joins the four files of OFAC', async () => {
    const zip = new yazl.ZipFile()
    for (const name of ['sdn.csv', 'alt.csv', 'add.csv', 'sdn_comments.csv']) {
      zip.addFile(file(`sanctions/ofac-relational/2021-07/${name}`), `lists/${name}`)
    }
    zip.end()
    const bytes = await collectBytes(zip.outputStream as unknown as AsyncIterable<Buffer>)
    const options = { files_without_end_mark: ['sdn_comments'] }
    const { entries, rejects, warnings } = await readWithAdapter('ofac-sdn-csv', toSource(bytes, 65_536), options)
    expect([rejects, warnings]).toEqual([[], []])
    expect(entries).toHaveLength(8976)
    const byId = new Map((entries as unknown as SanctionedParty[]).map((party) => [party.source_id, party]))
    expect(byId.get('306')?.names.map(({ name }) => name)).toContain('NATIONAL BANK OF CUBA')
    expect(byId.get('306')?.addresses).toContainEqual({
      text: 'Zweierstrasse 35, Zurich CH-8022, Switzerland',
      city: 'Zurich CH-8022',
      country: 'Switzerland',
    })
    expect(byId.get('28263')?.remarks).toMatch(/a\.k\.a\. '\w+hn'; Linked To: LAZARUS GROUP\.$/)
  })

  test('reads the same parties from CSV and XML of OFAC', async () => {
    const folder = 'sanctions/ofac-consolidated/2018-04-06'
    const csv = await read('ofac-consolidated-csv', `${folder}/cons_prim.csv`, consolidatedAlone)
    const xml = await read('ofac-consolidated-xml', `${folder}/consolidated.xml`)
    const brief = (entries: Entry[]) =>
      entries.map(({ source_id, kind, name, programmes }) => ({
        source_id,
        kind,
        name,
        programmes: [...(programmes as string[])].sort(),
      }))
    expect(brief(csv.entries)).toEqual(brief(xml.entries))
  })
})
