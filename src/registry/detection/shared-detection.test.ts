/** Detection on real files of the publishers, stored outside the project: the right adapter comes first. Skipped where they are missing. */
import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import yazl from 'yazl'
import { collectBytes } from '#test/support/byte-sources.ts'
import { findSharedFolder } from '#test/support/shared-data.ts'
import type { Source } from '../adapter.ts'
import { entryTypes } from '../adapters/index.ts'
import { detectAdapter } from './detect-adapter.ts'

/** adapter and type expected first, by file; a type of null is inferred */
const expected: [file: RegExp, adapter: string | null, type: string | null][] = [
  [/ofac-sdn\/.*\.csv$|ofac-relational\/20.*\/sdn\.csv$/, 'ofac-sdn-csv', 'sanctioned-party'],
  [/ofac-sdn-xml-sample\//, 'ofac-sdn-xml', 'sanctioned-party'],
  [/cons_prim\.(csv|pip|del)$/, 'ofac-consolidated-csv', 'sanctioned-party'],
  [/ofac-consolidated\/.*\/consolidated\.xml$/, 'ofac-consolidated-xml', 'sanctioned-party'],
  [/un-consolidated\/.*\.xml$/, 'un-consolidated-xml', 'sanctioned-party'],
  [/uk-hmt\/.*\.csv$/, 'uk-hmt-csv', 'sanctioned-party'],
  [/eu-fsf\/.*\.csv$/, 'eu-consolidated-csv', 'sanctioned-party'],
  [/eu-fsf\/.*\.xml$/, 'eu-consolidated-xml', 'sanctioned-party'],
  [/us-bis-dpl\/.*\.txt$/, 'us-bis-dpl', 'sanctioned-party'],
  [/us-csl\/csl_2019-12-03_excerpt\.csv$/, 'us-csl-csv', 'sanctioned-party'],
  [/fatf\/.*\.json$/, 'fatf-lists', 'jurisdiction-list'],
  [/iso3166\/.*\.csv$/, 'iso-3166', 'country'],
  [/iso4217\/.*\.(csv|xml)$/, 'iso-4217', 'currency'],
  [/iso20275-elf\/.*\.csv$/, 'iso-20275', 'entity-legal-form'],
  [/mcc\/.*\.csv$/, 'mcc', 'merchant-category'],
  [/naics\/naics_2017.*\.(xlsx|json\.gz)$/, 'naics', 'industry-code'],
  [/cpi\/per-year\/.*\.csv$/, 'country-scores', 'country-score'],
  [/cpi_1995-2017_wide\.csv$/, 'csv', null],
  [/eu-aml-high-risk\/.*\.json$|ofac-crypto\/.*\.json$/, 'json', null],
  [/\.(yml|xls|xsd)$|my-moha\//, null, null],
]

const folders = ['sanctions', 'jurisdictions', 'reference']
const root = findSharedFolder('', 2)
const list = (folder: string): string[] =>
  readdirSync(path.join(root as string, folder), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => path.relative(root as string, path.join(one.parentPath, one.name)))
    .sort()

const detect = (source: Source, name: string) =>
  detectAdapter(source, { file_name: path.basename(name), types: [...entryTypes.values()], type_key: null })

describe.skipIf(!root)('detection on published files', () => {
  test('puts the right adapter first for every file of a publisher', async () => {
    const found: string[] = []
    const wanted: string[] = []
    const files = folders.flatMap(list)
    // Files of one publisher and format differ only in their date: the last of each is read.
    const chosen = expected.flatMap((rule) => {
      const all = files.filter((file) => rule[0].test(file))
      const byFormat = new Map(all.map((file) => [path.extname(file), file]))
      return [...byFormat.values()].map((file) => ({ file, rule }))
    })
    for (const { file, rule } of chosen) {
      const { candidates, looks_like } = await detect(createReadStream(path.join(root as string, file)), file)
      const [first] = candidates
      found.push(`${file}: ${first ? `${first.adapter_key} ${first.type_key}` : null}`)
      wanted.push(`${file}: ${rule[1] === null ? null : `${rule[1]} ${rule[2]}`}`)
      expect(looks_like).not.toBe('')
    }
    expect(found).toEqual(wanted)
    expect(found.length).toBeGreaterThan(20)
  })

  test('recognises the four files of OFAC in one archive', async () => {
    const zip = new yazl.ZipFile()
    const folder = path.join(root as string, 'sanctions/ofac-relational/2021-07')
    // This copy of the comments lost the mark at its end.
    const marked = (name: string) => (name === 'sdn_comments.csv' ? [Buffer.from('\x1a')] : [])
    for (const name of readdirSync(folder)) {
      zip.addBuffer(Buffer.concat([readFileSync(path.join(folder, name)), ...marked(name)]), name)
    }
    zip.end()
    const bytes = await collectBytes(zip.outputStream as unknown as AsyncIterable<Uint8Array>)
    const { candidates, looks_like, advice } = await detect(
      (async function* () {
        yield bytes
      })(),
      'sdn.zip',
    )
    expect(looks_like).toMatch(/^a zip archive with 4 files/)
    expect(advice).toBeNull()
    expect(candidates[0]).toMatchObject({ adapter_key: 'ofac-sdn-csv', options: {}, rejected: 0 })
  })
})
