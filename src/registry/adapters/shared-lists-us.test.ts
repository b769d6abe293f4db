/** Real excerpts of the US Consolidated Screening List, stored outside the project. Skipped where the files are missing. */
import { createReadStream } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { readWithAdapter } from '#test/support/adapter-reading.ts'
import { findSharedFolder } from '#test/support/shared-data.ts'
import { compileType } from '../types/compile-type.ts'
import type { SanctionedParty } from './sanctioned-party.ts'
import { sanctionedParty } from './sanctioned-party.ts'

const folder = findSharedFolder('sanctions/us-csl', 2) as string

describe.skipIf(!folder)('the US Consolidated Screening List', () => {
  test('is read completely; each entry is valid and has a unique key', async () => {
    const file = path.join(folder, 'csl_2019-12-03_excerpt.csv')
    const { entries, rejects, warnings, files } = await readWithAdapter('us-csl-csv', createReadStream(file))
    expect(rejects).toEqual([])
    // Two names have several rows of one day: one for each address.
    expect(warnings).toMatchObject([{ code: 'rows_repeated', message: expect.stringMatching(/^2 rows/) }])
    expect(files).toEqual([{ file: null, state: 'read', encoding: 'utf-8', encoding_from: 'content' }])
    const compiled = compileType(sanctionedParty)
    const keys = entries.map((entry) => compiled.prepare(entry)).flatMap((one) => ('key' in one ? one.key : []))
    expect([entries.length, new Set(keys).size]).toEqual([113, 113])
    const parties = entries as unknown as SanctionedParty[]
    const counts = (['names', 'addresses', 'identifiers', 'birth_dates', 'birth_places', 'references'] as const).map(
      (member) => parties.reduce((sum, party) => sum + party[member].length, 0),
    )
    expect(counts).toMatchInlineSnapshot(`
      [
        274,
        127,
        147,
        21,
        7,
        43,
      ]
    `)
    expect(parties.find(({ source_id }) => source_id === 'SDN 20264')).toMatchObject({
      kind: 'organisation',
      name: '200G PSA HOLDINGS LLC',
      identifiers: [{ type: 'Tax ID No.', value: '80-0890696', country: 'US' }],
    })
  })

  test('rejects an invalid file with the line of each fault', async () => {
    const file = path.join(folder, 'csl_invalid_2019.csv')
    const { rejects } = await readWithAdapter('us-csl-csv', createReadStream(file))
    expect(rejects.map(({ code, at }) => [code, at.line])).toEqual([2, 4, 5, 9].map((line) => ['column_lacking', line]))
  })
})
