/** The publishers' layouts with their special cases. Nothing here is a copy of a published list. */
import { describe, expect, test } from 'vitest'
import yazl from 'yazl'
import { readWithAdapter } from '#test/support/adapter-reading.ts'
import { collectBytes, toSource } from '#test/support/byte-sources.ts'
import type { SanctionedParty } from './sanctioned-party.ts'

async function read(key: string, content: string | Uint8Array, options: Record<string, unknown> = {}) {
  const reading = await readWithAdapter(key, toSource(content, 11), options)
  return { ...reading, parties: reading.entries as unknown as SanctionedParty[] }
}

function zipOf(files: Record<string, string>): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content, 'latin1'), name)
  zip.end()
  return collectBytes(zip.outputStream as unknown as AsyncIterable<Buffer>)
}

describe('OFAC in CSV', () => {
  const nothing = Array(7).fill('-0- ').join(',')
  const parties = [
    `7,"DOE, José","individual","SDGT] [IRAN",${nothing},"DOB 22 Mar 1987; alt. DOB 1988; POB Oran; nationality Iran; Passport X1 (Iran) issued 2 May 2003; a.k.a. 'JD'; Linked To: AC"`,
    '8,"SEA STAR","vessel","CUBA",-0- ,"CL2192","Tug",-0- ,"212","Cuba","Owner S.A.","f.k.a. \'OLD STAR\'."',
    '\x1a',
  ].join('\r\n')

  const alone = { absent_files: ['alt', 'add', 'sdn_comments'] }

  test('reads one file in Latin-1 with -0- for empty values and 0x1A at the end', async () => {
    const { parties: found, rejects, files } = await read('ofac-sdn-csv', Buffer.from(parties, 'latin1'), alone)
    expect(files).toContainEqual({
      file: null,
      state: 'read',
      encoding: 'windows-1252',
      encoding_from: 'content',
    })
    expect(rejects).toEqual([])
    expect(found).toHaveLength(2)
    expect(found[0]).toMatchObject({
      source: 'ofac-sdn',
      source_id: '7',
      kind: 'person',
      name: 'DOE, José',
      names: [
        { name: 'DOE, José', kind: 'primary' },
        { name: 'JD', kind: 'weak-alias' },
      ],
      titles: [],
      birth_dates: [
        { text: '22 Mar 1987', date: '1987-03-22' },
        { text: '1988', year_from: 1988, year_to: 1988 },
      ],
      birth_places: ['Oran'],
      nationalities: ['Iran'],
      identifiers: [{ type: 'Passport', value: 'X1', country: 'Iran', note: 'issued 2 May 2003' }],
      programmes: ['SDGT', 'IRAN'],
    })
    expect(found[1]).toMatchObject({
      kind: 'vessel',
      names: [{ name: 'SEA STAR' }, { name: 'OLD STAR', kind: 'former' }],
      vessel: { call_sign: 'CL2192', type: 'Tug', flag: 'Cuba', owner: 'Owner S.A.', gross_registered_tonnage: '212' },
    })
  })

  test('joins the four files of a zip, and appends comments to truncated remarks', async () => {
    const bytes = await zipOf({
      'SDN.CSV': parties,
      'alt.csv': '7,1,"aka","DOE, Joe",-0- \r\n7,2,"fka","ROE, José",-0- \r\n\x1a',
      'add.csv': '7,1,"1 Main St","Oran","Algeria",-0- \r\n7,2,-0- ,-0- ,-0- ,-0- \r\n\x1a',
      'sdn_comments.csv': '7,"ME LTD."\r\n\x1a',
      'readme.txt': 'not read',
    })
    const { parties: found, read: entries } = await read('ofac-sdn-csv', bytes)
    expect(found[0]?.names.map(({ name, kind }) => [name, kind])).toEqual([
      ['DOE, José', 'primary'],
      ['DOE, Joe', 'alias'],
      ['ROE, José', 'former'],
      ['JD', 'weak-alias'],
    ])
    expect(found[0]?.addresses).toEqual([{ text: '1 Main St, Oran, Algeria', city: 'Oran', country: 'Algeria' }])
    expect(found[0]?.remarks).toMatch(/Linked To: ACME LTD\.$/)
    expect(entries[0]?.at).toEqual({ row: 1, line: 1, file: 'SDN.CSV' })
  })

  test('names the file of a fault', async () => {
    const bytes = await zipOf({ 'sdn.csv': parties, 'alt.csv': '7,1\r\n7,2,"aka","X",-0- \r\n\x1a' })
    expect((await read('ofac-sdn-csv', bytes, { absent_files: ['add', 'sdn_comments'] })).rejects).toMatchObject([
      { code: 'column_lacking', at: { file: 'alt.csv', line: 1, column: 'alt_type' } },
    ])
    await expect(read('ofac-sdn-csv', await zipOf({ 'alt.csv': 'x' }))).rejects.toMatchObject({
      code: 'archive_members',
    })
  })

  test('rejects an invalid row, and refuses a file with a truncated row', async () => {
    const other = `x,"A","individual","SDGT",${nothing},-0- \r\n\x1a`
    expect((await read('ofac-sdn-csv', other, alone)).rejects).toMatchObject([
      { code: 'value_unreadable', pointer: '/source_id' },
    ])
    await expect(read('ofac-sdn-csv', parties.slice(0, 250), alone)).rejects.toMatchObject({ code: 'truncated' })
  })
})

describe('UK HMT', () => {
  const header =
    'Name 6,Name 1,DOB,Nationality,Group Type,Alias Type,Alias Quality,Name Non-Latin Script,Non-Latin Script Type,Regime,Listed On,Group ID'

  test('joins the rows of a group into one party, wherever they are', async () => {
    const { parties, rejects } = await read(
      'uk-hmt-csv',
      `Last Updated,13/04/2018,,,,,,,,,,\n${header}
DOE,Jon,00/00/1980,1) Qatar 2) Iran,Individual,AKA,Low,,,Al-Qaida,01/04/2016,1
ACME,,,,Entity,Prime Alias,,,,Syria,,2
DOE,John,10/00/1983,Qatar,Individual,Prime Alias,,جون,Arabic,Al-Qaida,01/04/2016,1
DOE,John,00/09/1962,Qatar,Individual,Prime Alias,,,,Al-Qaida,01/04/2016,1
`,
    )
    expect(rejects).toEqual([])
    expect(parties.map(({ source_id, name, kind }) => [source_id, name, kind])).toEqual([
      ['1', 'John DOE', 'person'],
      ['2', 'ACME', 'organisation'],
    ])
    expect(parties[0]).toMatchObject({
      names: [
        { name: 'John DOE', kind: 'primary' },
        { name: 'Jon DOE', kind: 'weak-alias' },
        { name: 'جون', kind: 'original-script', script: 'Arabic' },
      ],
      birth_dates: [
        { text: '00/00/1980', year_from: 1980, year_to: 1980 },
        { text: '10/00/1983', year_from: 1983, year_to: 1983 },
        { text: '00/09/1962', year_from: 1962, year_to: 1962 },
      ],
      nationalities: ['Qatar', 'Iran'],
      listed_on: '2016-04-01',
    })
  })

  test('refuses another table and names the missing columns', async () => {
    await expect(read('uk-hmt-csv', 'a,b\n1,2\n')).rejects.toMatchObject({ code: 'layout_unknown' })
  })
})

describe('EU', () => {
  const header = 'Entity_logical_id;Subject_type;Naal_wholename;Naal_function;Birt_date;EU_ref_num'
  const lines = [header, '1;P;Jane Doe;"Head; of it";;EU.1', '1;P;;;1980-02-03;EU.1', '2;E;Acme;;;EU.2']

  test('unwraps a copy with every line as one quoted cell', async () => {
    const plain = await read('eu-consolidated-csv', `${lines.join('\n')}\n`)
    const wrapped = lines.map((line) => `"${line.replaceAll('"', '""')}\t\t\t"`).join('\n')
    const unwrapped = await read('eu-consolidated-csv', `${wrapped}\n`)
    expect(unwrapped.read).toEqual(plain.read)
    expect(unwrapped.warnings).toMatchObject([{ code: 'lines_wrapped' }])
    expect(plain.parties[0]).toMatchObject({
      source_id: '1',
      name: 'Jane Doe',
      positions: ['Head; of it'],
      birth_dates: [{ date: '1980-02-03' }],
      references: ['EU.1'],
    })
  })

  test('reads weak names, years, ranges and unknown countries from XML', async () => {
    const { parties } = await read(
      'eu-consolidated-xml',
      `<export><sanctionEntity logicalId="5"><subjectType code="enterprise"/>
       <nameAlias wholeName="Weak" strong="false"/><nameAlias firstName="A" lastName="B" strong="true"/>
       <birthdate circa="true" year="1965" countryIso2Code="00"/><birthdate circa="false" yearRangeFrom="1960" yearRangeTo="1962"/>
       <birthdate circa="false" year="1970" monthOfYear="4"/></sanctionEntity></export>`,
    )
    expect(parties).toMatchObject([
      {
        kind: 'organisation',
        name: 'A B',
        birth_places: [],
        birth_dates: [{ text: 'circa 1965' }, { year_from: 1960, year_to: 1962 }, { text: '1970-04', year_from: 1970 }],
      },
    ])
  })
})

test('UN: reads ranges and approximate dates of birth, and the last of several updates', async () => {
  const { parties } = await read(
    'un-consolidated-xml',
    `<CONSOLIDATED_LIST><INDIVIDUALS><INDIVIDUAL><DATAID>1</DATAID><FIRST_NAME> RI </FIRST_NAME><SECOND_NAME>WON</SECOND_NAME>
     <INDIVIDUAL_ALIAS><QUALITY>Low</QUALITY><ALIAS_NAME>X</ALIAS_NAME></INDIVIDUAL_ALIAS>
     <INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>BETWEEN</TYPE_OF_DATE><FROM_YEAR>1960</FROM_YEAR><TO_YEAR>1962</TO_YEAR></INDIVIDUAL_DATE_OF_BIRTH>
     <INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>APPROXIMATELY</TYPE_OF_DATE><YEAR>1955</YEAR></INDIVIDUAL_DATE_OF_BIRTH>
     <LAST_DAY_UPDATED><VALUE>2014-12-17</VALUE><VALUE>2012-01-02</VALUE></LAST_DAY_UPDATED></INDIVIDUAL>
     <INDIVIDUAL><FIRST_NAME>No number</FIRST_NAME></INDIVIDUAL><INDIVIDUAL><DATAID>3</DATAID></INDIVIDUAL></INDIVIDUALS></CONSOLIDATED_LIST>`,
  )
  expect(parties).toMatchObject([
    {
      name: 'RI WON',
      names: [{}, { name: 'X', kind: 'weak-alias' }],
      birth_dates: [{ text: '1960 to 1962', year_from: 1960, year_to: 1962 }, { text: 'circa 1955' }],
      updated_on: '2014-12-17',
    },
  ])
})

test('rejects a party without number or name', async () => {
  const { rejects } = await read(
    'un-consolidated-xml',
    '<CONSOLIDATED_LIST><ENTITIES><ENTITY><FIRST_NAME>A</FIRST_NAME></ENTITY><ENTITY><DATAID>3</DATAID></ENTITY></ENTITIES></CONSOLIDATED_LIST>',
  )
  expect(rejects.map(({ code, pointer }) => [code, pointer])).toEqual([
    ['value_missing', '/source_id'],
    ['value_missing', '/name'],
  ])
})

test('BIS: trims leading spaces and joins rows that are published twice', async () => {
  const header = 'Name\tStreet_Address\tCity\tState\tCountry\tEffective_Date\tExpiration_Date\tFR_Citation'
  const row = '" DOE"\t"1  MAIN"\tX\tCA\tUS\t06/23/2006\t06/23/2026\t71 F.R. 1'
  const { parties, warnings } = await read('us-bis-dpl', `${header}\n${row}\n${row}\n`)
  expect(parties).toMatchObject([
    { source_id: 'DOE | 1 MAIN | X | CA | 06/23/2006', name: 'DOE', listed_on: '2006-06-23', expires_on: '2026-06-23' },
  ])
  expect(warnings).toMatchObject([{ code: 'rows_repeated' }])
})

describe('reference data', () => {
  test('FATF: reads CSV and rejects an unknown list or country', async () => {
    const { entries, rejects } = await read(
      'fatf-lists',
      'country,list,listed_on\nNA,grey,2024-02-23\nXXX,grey,\nIR,pink,\n',
    )
    expect(entries).toEqual([{ source: 'fatf', country: 'NA', list: 'grey', listed_on: '2024-02-23' }])
    expect(rejects.map(({ pointer }) => pointer)).toEqual(['/country', '/list'])
    await expect(read('fatf-lists', '{"data":{"call_for_action":[]}}')).rejects.toMatchObject({
      code: 'layout_unknown',
    })
    await expect(read('fatf-lists', '{"data":{"call_for')).rejects.toMatchObject({ code: 'truncated' })
  })

  test('ISO 3166: reads NA as Namibia, and reports a row without a code without rejecting it', async () => {
    const text = 'name,alpha-2,alpha-3,country-code\nNamibia,NA,NAM,516\nAfghanistan,AF,AFG,4\nSark,,,680\n'
    const { entries, rejects, warnings } = await read('iso-3166', text)
    expect(entries).toEqual([
      { alpha_2: 'NA', alpha_3: 'NAM', numeric: '516', name: 'Namibia' },
      { alpha_2: 'AF', alpha_3: 'AFG', numeric: '004', name: 'Afghanistan' },
    ])
    expect(rejects).toEqual([])
    expect(warnings).toMatchObject([{ code: 'row_without_code', at: { line: 4 } }])
  })

  test('ISO 4217: joins the entities of a currency, current and withdrawn, from CSV and XML', async () => {
    const csv = await read(
      'iso-4217',
      'Entity,Currency,AlphabeticCode,NumericCode,MinorUnit,WithdrawalDate\nX,Old Lek,ALL,8,,1989-12\nALBANIA,Lek,ALL,008,2,\nY,Gold,XAU,959,-,\nZ,none,,,,\n',
    )
    expect(csv.entries).toEqual([
      {
        code: 'ALL',
        name: 'Lek',
        numeric: '008',
        minor_unit: 2,
        active: true,
        entities: ['ALBANIA'],
        withdrawals: [{ entity: 'X', name: 'Old Lek', withdrawn: '1989-12' }],
      },
      { code: 'XAU', name: 'Gold', numeric: '959', active: true, entities: ['Y'], withdrawals: [] },
    ])
    const xml = await read(
      'iso-4217',
      '<ISO_4217><CcyTbl><CcyNtry><CtryNm>Y</CtryNm><CcyNm>Gold</CcyNm><Ccy>XAU</Ccy><CcyNbr>959</CcyNbr><CcyMnrUnts>N.A.</CcyMnrUnts></CcyNtry></CcyTbl></ISO_4217>',
    )
    expect(xml.entries).toEqual([csv.entries[1]])
  })

  test('scores: skips "no data" and rejects what is not a number', async () => {
    const options = { country_column: 'c', score_column: '2017', no_data: ['0.0'], source: 'index', edition: '2017' }
    const { entries, rejects, warnings } = await read(
      'country-scores',
      'c,2017\nNA,4.9\nXA,0.0\nXB,\nXC,n/a\n',
      options,
    )
    expect(entries).toEqual([{ country: 'NA', score: 4.9, source: 'index', edition: '2017' }])
    expect(rejects).toMatchObject([{ code: 'value_unreadable', at: { line: 5, column: '2017' }, pointer: '/score' }])
    expect(warnings).toMatchObject([{ code: 'rows_without_score' }])
  })
})
