/** Code lists and legal entities: special cases of their layouts. Nothing here is a copy of a published list. */
import { describe, expect, test } from 'vitest'
import { getAdapter, readWithAdapter } from '#test/support/adapter-reading.ts'
import { collectBytes, toSource } from '#test/support/byte-sources.ts'
import { writeXlsx } from '../formats/xlsx-writer.ts'
import { compileType, type PreparedEntry } from '../types/compile-type.ts'
import { entryTypes } from './index.ts'
import { findLeiFault } from './lei.ts'
import { replaceNotANumber } from './not-a-number.ts'

const read = (key: string, content: string | Uint8Array, options: Record<string, unknown> = {}) =>
  readWithAdapter(key, toSource(content, 11), options)
const faults = ({ rejects }: Awaited<ReturnType<typeof readWithAdapter>>) =>
  rejects.map(({ code, pointer, at }) => [code, pointer, at.line])

/** Hashes by key, to compare two readings. */
async function hashesOf(key: string, content: string) {
  const type = compileType(entryTypes.get(getAdapter(key).target_type as string) as never)
  const { entries } = await read(key, content)
  return entries.map((entry) => type.prepare(entry) as PreparedEntry).map(({ key: id, hash }) => [id, hash])
}

describe('ISO 20275', () => {
  const sample = getAdapter('iso-20275').sample.text
  const [header, reserved, ...rows] = sample.trimEnd().split('\n') as [string, string, ...string[]]
  const csv = (...lines: string[]) => `${[header, ...lines].join('\n')}\n`

  test('joins the rows of a code into one entry, whatever their order and line breaks', async () => {
    const { entries, warnings } = await read('iso-20275', csv(...rows, rows[0] as string))
    expect(entries.map(({ code }) => code)).toEqual(['CRL9', '1TX8'])
    expect(entries[1]).toMatchObject({ names: [{ abbreviations: ['AS', 'A.S.'] }, { language: 'nl' }] })
    expect(warnings).toMatchObject([{ code: 'rows_repeated' }])
    const reordered = [...rows].reverse().map((row) => row.replace('Association', ' Association '))
    expect((await hashesOf('iso-20275', csv(...reordered))).sort()).toEqual(
      (await hashesOf('iso-20275', csv(...rows))).sort(),
    )
  })

  test('rejects a row without a code, or that contradicts another row of its code, with its line', async () => {
    const [first, second, third] = rows as [string, string, string]
    const broken = [
      reserved.replace('"8888"', '""'),
      second,
      third.replace('"BE"', '"NL"'),
      first.replace('ACTV', 'GONE'),
      first.replace('2017-11-30', '30.11.2017'),
      first.replace('"Stichting","Dutch"', '"","Dutch"'),
    ]
    const reading = await read('iso-20275', csv(...broken))
    expect(faults(reading)).toEqual([
      ['value_missing', '/code', 2],
      ['value_ambiguous', '/country', 4],
      ['value_unreadable', '/status', 5],
      ['value_unreadable', '/created_on', 6],
      ['value_missing', '/names', 7],
    ])
    expect(reading.rejects[1]?.message).toBe('ELF code 1TX8 has another value in line 3.')
  })

  test('reports an unknown column and refuses a file that lacks a column', async () => {
    const { warnings } = await read('iso-20275', `${header},"Parent ELF"\n${rows[0]},""\n`)
    expect(warnings).toMatchObject([{ code: 'columns_unread', message: expect.stringContaining('"Parent ELF"') }])
    for (const name of ['ELF Code', 'Entity Legal Form name Local name', 'ELF Status ACTV/INAC']) {
      await expect(read('iso-20275', sample.replace(`"${name}"`, '"Other"'))).rejects.toMatchObject({
        code: 'layout_unknown',
      })
    }
  })
})

test('MCC: restores the zeros of codes that a workbook stores as numbers; rejects rows without code or text', async () => {
  const book = await collectBytes(
    writeXlsx(
      [
        ['mcc', 'description'],
        [742, 'Vets'],
        ['0763', 'Co-ops'],
      ],
      'Codes',
    ),
  )
  expect((await read('mcc', book)).entries.map(({ code }) => code)).toEqual(['0742', '0763'])
  expect(faults(await read('mcc', 'code;Description;more\n;x;\n1;;\n'))).toEqual([
    ['value_missing', '/code', 2],
    ['value_missing', '/description', 3],
  ])
  await expect(read('mcc', 'code,text\n')).rejects.toMatchObject({ code: 'layout_unknown' })
})

describe('NAICS', () => {
  const rows = '11,Farming\n111,Crops\n1111,Oilseed\n31-33,Manufacturing\n311,Food\n'
  const csv = (lines: string) => `2022 NAICS US Code,2022 NAICS US Title\n${lines}`

  test('derives the hierarchy from the digits; a missing parent marks the source as incomplete', async () => {
    const whole = await read('naics', csv(rows))
    expect(whole.warnings).toEqual([])
    expect(whole.entries.map(({ code, level, parent, edition }) => [code, level, parent, edition])).toEqual([
      ['11', 1, undefined, '2022'],
      ['111', 2, '11', '2022'],
      ['1111', 3, '111', '2022'],
      ['31-33', 1, undefined, '2022'],
      ['311', 2, '31-33', '2022'],
    ])
    const { warnings } = await read('naics', csv(rows.replace('31-33,Manufacturing\n', '')))
    expect(warnings).toMatchObject([{ code: 'rows_orphaned', count: 1, closes_guard: true, at: { line: 5 } }])
    // A list of one level has no codes above.
    expect((await read('naics', csv('111110,Soy\n111120,Oil\n'))).warnings).toEqual([])
  })

  test('JSON: reads NaN as no value, and reports or rejects unknown members', async () => {
    const text =
      '{"11":{"title":"Farming","description":NaN},\n"x":{"title":"X"},\n"111":{"title":"NaN \\"NaN","index_items":1},\n"1111":{"title":"O","colour":"red"}}'
    const reading = await read('naics', text)
    expect(faults(reading)).toEqual([
      ['value_unreadable', '/code', 2],
      ['value_unreadable', '/index_items', 3],
    ])
    expect(reading.warnings.map(({ code }) => code)).toEqual(['columns_unread', 'not_a_number'])
    expect(reading.entries[0]).not.toHaveProperty('description')
    await expect(read('naics', '[{"title":"x"}]')).rejects.toMatchObject({ code: 'layout_unknown' })
    await expect(read('naics', text.slice(0, 60))).rejects.toMatchObject({ code: 'truncated' })
  })

  test('replaces NaN outside strings only, wherever a chunk ends', async () => {
    const text = '{"a":NaN,"NaN":"\\\\","b":[NaN,"\\"NaN"],"N":null}'
    for (let size = 1; size < text.length; size++) {
      const filtered = replaceNotANumber(
        (async function* () {
          for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
        })(),
      )
      let result = ''
      for await (const piece of filtered.text) result += piece
      expect([result, filtered.count]).toEqual(['{"a":"" ,"NaN":"\\\\","b":["" ,"\\"NaN"],"N":null}', 2])
    }
  })
})

describe('NACE', () => {
  test('reads the same codes from both documented layouts', async () => {
    const revised = [
      'ID\tCODE\tHEADING\tPARENT_ID\tPARENT_CODE\tLEVEL\tIncludes\tIncludesAlso\tExcludes\tImplementation_rule',
      'u1\tA\tAGRICULTURE\t\t\t1\tvegetal resources\t\t\t',
      'u2\t01\tCrop production\tu1\tA\t2\t\t\tlandscaping\tsee 81.30',
    ]
    const { entries, warnings } = await read('nace', `${revised.join('\n')}\n`, { edition: '2.1' })
    expect(warnings).toEqual([])
    expect(entries).toEqual([
      {
        scheme: 'nace',
        code: 'A',
        edition: '2.1',
        title: 'AGRICULTURE',
        level: 1,
        includes: 'vegetal resources',
        index_items: [],
        cross_references: [],
      },
      expect.objectContaining({ code: '01', parent: 'A', level: 2, excludes: 'landscaping', rules: 'see 81.30' }),
    ])
    const sample = await read('nace', getAdapter('nace').sample.text)
    expect(sample.entries.map(({ code, parent, edition, isic }) => [code, parent, edition, isic])).toEqual([
      ['A', undefined, '2', 'A'],
      ['01', 'A', '2', '01'],
      ['01.1', '01', '2', '011'],
    ])
  })

  test('rejects invalid rows; a missing parent marks the source as incomplete', async () => {
    const csv = (...lines: string[]) => `Level;Code;Parent;Description;Extra\n${lines.join('\n')}\n`
    const reading = await read('nace', csv('1;A;;Farming;', '2;1.1;A;x;', '2;02;;x;', '5;01;A;x;', '2;03;A;;'))
    expect(faults(reading)).toEqual([
      ['value_unreadable', '/code', 3],
      ['value_missing', '/parent', 4],
      ['value_unreadable', '/level', 5],
      ['value_missing', '/title', 6],
    ])
    expect(reading.warnings).toMatchObject([{ code: 'columns_unread' }])
    const cut = await read('nace', csv('1;A;;Farming;', '2;05;B;Coal;'))
    expect(cut.warnings[1]).toMatchObject({ code: 'rows_orphaned', count: 1, closes_guard: true, at: { line: 3 } })
  })
})

describe('GLEIF', () => {
  const [child, parent] = ['0000EXAMPLEAG0000155', '0000SAMPLEPLC0000289'] as const
  const wrong = child.replace('55', '56')

  test.each([
    [child, null],
    [parent, null],
    [wrong, 'has wrong check digits'],
    [child.replace('EX', 'XE'), 'has wrong check digits'],
    ['0000example', 'is not 18 letters or digits and two check digits'],
  ])('check digits of %s: %s', (lei, fault) => {
    expect(findLeiFault(lei)).toBe(fault)
  })

  const address = (kind: string) => `Entity.${kind}`
  const columns = {
    LEI: child,
    'Entity.LegalName': 'Exämple AG',
    'Entity.LegalName.xmllang': 'de',
    'Entity.OtherEntityNames.OtherEntityName.1': 'Example',
    'Entity.OtherEntityNames.OtherEntityName.1.type': 'TRADING_OR_OPERATING_NAME',
    'Entity.OtherEntityNames.OtherEntityName.2.type': '',
    'Entity.TransliteratedOtherEntityNames.TransliteratedOtherEntityName.1': 'Exaemple AG',
    [`${address('LegalAddress')}.FirstAddressLine`]: 'Main Street 1',
    [`${address('LegalAddress')}.AdditionalAddressLine.1`]: 'Floor 2',
    [`${address('LegalAddress')}.Country`]: 'DE',
    'Entity.LegalForm.EntityLegalFormCode': '6QQB',
    'Entity.EntityStatus': 'ACTIVE',
    'Entity.SuccessorEntity.1.SuccessorLEI': parent,
    'Entity.LegalEntityEvents.LegalEntityEvent.1.group_type': 'STANDALONE',
    'Entity.LegalEntityEvents.LegalEntityEvent.1.LegalEntityEventType': 'CHANGE_LEGAL_NAME',
    'Entity.LegalEntityEvents.LegalEntityEvent.1.AffectedFields.1.AffectedField': 'Old AG',
    'Entity.LegalEntityEvents.LegalEntityEvent.1.AffectedFields.1.field_xpath': '/name',
    'Registration.RegistrationStatus': 'ISSUED',
    'Registration.ManagingLOU': parent,
    'Registration.ValidationAuthority.ValidationAuthorityID': 'RA000242',
  }
  const csvOf = (rows: readonly Record<string, string>[]) =>
    `${[Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))].map((cells) => cells.join(',')).join('\n')}\n`
  const xml = (count: number) => `<?xml version="1.0"?><lei:LEIData xmlns:lei="l" xmlns:gleif="g">
<lei:LEIHeader><lei:FileContent>GLEIF_FULL_PUBLISHED</lei:FileContent><lei:RecordCount>${count}</lei:RecordCount></lei:LEIHeader>
<lei:LEIRecords><lei:LEIRecord><lei:LEI>${child}</lei:LEI><lei:Entity>
<lei:LegalName xml:lang="de">Exämple AG</lei:LegalName>
<lei:OtherEntityNames><lei:OtherEntityName type="TRADING_OR_OPERATING_NAME">Example</lei:OtherEntityName></lei:OtherEntityNames>
<lei:TransliteratedOtherEntityNames><lei:TransliteratedOtherEntityName>Exaemple AG</lei:TransliteratedOtherEntityName></lei:TransliteratedOtherEntityNames>
<lei:LegalAddress><lei:FirstAddressLine>Main Street 1</lei:FirstAddressLine><lei:AdditionalAddressLine>Floor 2</lei:AdditionalAddressLine><lei:Country>DE</lei:Country></lei:LegalAddress>
<lei:LegalForm><lei:EntityLegalFormCode>6QQB</lei:EntityLegalFormCode></lei:LegalForm><lei:EntityStatus>ACTIVE</lei:EntityStatus>
<lei:SuccessorEntity><lei:SuccessorLEI>${parent}</lei:SuccessorLEI></lei:SuccessorEntity>
<lei:LegalEntityEvents><lei:LegalEntityEvent group_type="STANDALONE"><lei:LegalEntityEventType>CHANGE_LEGAL_NAME</lei:LegalEntityEventType>
<lei:AffectedFields><lei:AffectedField field_xpath="/name">Old AG</lei:AffectedField></lei:AffectedFields></lei:LegalEntityEvent></lei:LegalEntityEvents>
</lei:Entity><lei:Registration><lei:RegistrationStatus>ISSUED</lei:RegistrationStatus><lei:ManagingLOU>${parent}</lei:ManagingLOU>
<lei:ValidationAuthority><lei:ValidationAuthorityID>RA000242</lei:ValidationAuthorityID></lei:ValidationAuthority></lei:Registration>
<lei:Extension><gleif:Geocoding>x</gleif:Geocoding></lei:Extension></lei:LEIRecord></lei:LEIRecords></lei:LEIData>`

  test('reads the same entry from CSV and XML', async () => {
    const [csv, tree] = [await read('gleif-lei', csvOf([columns])), await read('gleif-lei', xml(1))]
    expect([csv.rejects, csv.warnings, tree.rejects]).toEqual([[], [], []])
    expect(csv.entries).toEqual(tree.entries)
    expect(csv.entries[0]).toMatchObject({
      lei: child,
      name: 'Exämple AG',
      other_names: [{ name: 'Example', type: 'TRADING_OR_OPERATING_NAME' }, { name: 'Exaemple AG' }],
      legal_address: { lines: ['Main Street 1', 'Floor 2'], country: 'DE' },
      successors: [{ lei: parent }],
      events: [{ group_type: 'STANDALONE', affected_fields: [{ field: 'Old AG', path: '/name' }] }],
      validation_authority: { id: 'RA000242' },
    })
    // Columns that are not read are reported.
    expect(tree.warnings).toMatchObject([{ code: 'elements_unread', message: expect.stringContaining('"Extension"') }])
    const other = await read('gleif-lei', csvOf([{ ...columns, 'Entity.Colour': 'red' }]))
    expect(other.warnings).toMatchObject([
      { code: 'columns_unread', message: expect.stringContaining('"Entity.Colour"') },
    ])
  })

  test('rejects a record with an invalid LEI at its line, and counts invalid LEIs inside records', async () => {
    const rows = [
      columns,
      { ...columns, LEI: wrong },
      { ...columns, LEI: '' },
      { ...columns, LEI: parent, 'Registration.ManagingLOU': wrong },
    ]
    const reading = await read('gleif-lei', csvOf(rows))
    expect(faults(reading)).toEqual([
      ['value_unreadable', '/lei', 3],
      ['value_missing', '/lei', 4],
    ])
    expect(reading.warnings).toMatchObject([{ code: 'lei_invalid', at: { line: 5 } }])
    expect(reading.entries).toHaveLength(2)
  })

  test('marks a file with fewer records than announced as incomplete, and names a delta file', async () => {
    expect((await read('gleif-lei', xml(3))).warnings).toContainEqual(
      expect.objectContaining({ code: 'count_differs', count: 2, closes_guard: true }),
    )
    const changes = xml(1).replace('GLEIF_FULL_PUBLISHED', 'GLEIF_DELTA_PUBLISHED')
    expect((await read('gleif-lei', changes)).warnings.map(({ code }) => code)).toContain('changes_only')
  })

  test('relationships: reads the same entries from CSV and XML, with LEIs at both ends', async () => {
    const row = {
      'Relationship.StartNode.NodeID': child,
      'Relationship.StartNode.NodeIDType': 'LEI',
      'Relationship.EndNode.NodeID': parent,
      'Relationship.EndNode.NodeIDType': 'LEI',
      'Relationship.RelationshipType': 'IS_DIRECTLY_CONSOLIDATED_BY',
      'Relationship.RelationshipStatus': 'ACTIVE',
      'Relationship.Period.1.startDate': '2019-01-01',
      'Relationship.Period.1.endDate': '',
      'Relationship.Period.1.periodType': 'RELATIONSHIP_PERIOD',
      'Relationship.Qualifiers.1.QualifierDimension': 'ACCOUNTING_STANDARD',
      'Relationship.Quantifiers.1.QuantifierAmount': '55.00',
      'Registration.RegistrationStatus': 'PUBLISHED',
    }
    const csv = await read('gleif-relationships', csvOf([row, { ...row, 'Relationship.EndNode.NodeID': wrong }]))
    expect(faults(csv)).toEqual([['value_unreadable', '/end', 3]])
    const tree = await read(
      'gleif-relationships',
      `<rr:RelationshipData xmlns:rr="r"><rr:Header><rr:RecordCount>1</rr:RecordCount></rr:Header><rr:RelationshipRecords><rr:RelationshipRecord>
<rr:Relationship><rr:StartNode><rr:NodeID>${child}</rr:NodeID><rr:NodeIDType>LEI</rr:NodeIDType></rr:StartNode>
<rr:EndNode><rr:NodeID>${parent}</rr:NodeID><rr:NodeIDType>LEI</rr:NodeIDType></rr:EndNode>
<rr:RelationshipType>IS_DIRECTLY_CONSOLIDATED_BY</rr:RelationshipType>
<rr:RelationshipPeriods><rr:RelationshipPeriod><rr:StartDate>2019-01-01</rr:StartDate><rr:PeriodType>RELATIONSHIP_PERIOD</rr:PeriodType></rr:RelationshipPeriod></rr:RelationshipPeriods>
<rr:RelationshipStatus>ACTIVE</rr:RelationshipStatus>
<rr:RelationshipQualifiers><rr:RelationshipQualifier><rr:QualifierDimension>ACCOUNTING_STANDARD</rr:QualifierDimension></rr:RelationshipQualifier></rr:RelationshipQualifiers>
<rr:RelationshipQuantifiers><rr:RelationshipQuantifier><rr:QuantifierAmount>55.00</rr:QuantifierAmount></rr:RelationshipQuantifier></rr:RelationshipQuantifiers>
</rr:Relationship><rr:Registration><rr:RegistrationStatus>PUBLISHED</rr:RegistrationStatus></rr:Registration></rr:RelationshipRecord></rr:RelationshipRecords></rr:RelationshipData>`,
    )
    expect([tree.warnings, tree.entries]).toEqual([[], csv.entries])
    expect(csv.entries[0]).toMatchObject({ start: child, end: parent, quantifiers: [{ amount: '55.00' }] })
    await expect(read('gleif-relationships', csvOf([columns]))).rejects.toMatchObject({ code: 'layout_unknown' })
    await expect(read('gleif-lei', csvOf([row]))).rejects.toMatchObject({ code: 'layout_unknown' })
    await expect(read('gleif-relationships', xml(1))).rejects.toMatchObject({ code: 'layout_unknown' })
  })

  test('streams records', async () => {
    let given = 0
    async function* endless() {
      yield Buffer.from(`${Object.keys(columns).join(',')}\n`)
      const rows = Buffer.from(`${Object.values(columns).join(',')}\n`.repeat(200))
      for (;;) {
        given++
        yield rows
      }
    }
    const reading = getAdapter('gleif-lei').read(endless(), {})
    for (let batch = 0; batch < 20; batch++) expect((await reading.next()).value?.entries).toHaveLength(500)
    // The source is read only a little ahead of the entries.
    expect(given).toBeLessThan(20 * 3 + 20)
    await reading.return()
  })
})
