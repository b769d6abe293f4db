import { expect, test } from 'vitest'
import { engine1 } from '../engine-1/engine.ts'
import { importDmn } from './dmn.ts'

interface Parts {
  readonly attributes?: string
  readonly input?: string
  readonly output?: string
  readonly rows?: string
  readonly before?: string
}

const row = (test_text: string, output: string, more = '') =>
  `<rule><inputEntry><text><![CDATA[${test_text}]]></text></inputEntry><outputEntry><text><![CDATA[${output}]]></text></outputEntry>${more}</rule>`

const file = ({ attributes = '', input, output = '<output/>', rows = row('-', '1'), before = '' }: Parts = {}) =>
  `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="m">${before}
<decision id="d1" name="Fee class"><decisionTable ${attributes}>
<input>${input ?? '<inputExpression typeRef="number"><text>Amount due</text></inputExpression>'}</input>${output}${rows}
</decisionTable></decision></definitions>`

const only = async (parts: Parts) => {
  const { definitions, findings } = await importDmn(file(parts))
  return definitions[0]?.definition ?? findings[0]
}

test('imports types, limits, defaults and reasons', async () => {
  const found = await only({
    attributes: 'hitPolicy="FIRST"',
    input:
      '<inputExpression typeRef="number"><text>Amount due</text></inputExpression><inputValues><text>[0..999.125]</text></inputValues>',
    output: '<output name="class"><defaultOutputEntry><text>"none"</text></defaultOutputEntry></output>',
    rows:
      row('[10..20), > 100.5', '"a"', '<annotationEntry><text>Because {x}.</text></annotationEntry>') +
      row('not(5,6)', '"b"'),
  })
  expect(found).toEqual({
    inputs: [{ name: 'Amount_due', title: 'Amount due', type: 'decimal', scale: 6, minimum: '0', maximum: '999.125' }],
    table: {
      hit_policy: 'first',
      columns: ['Amount_due'],
      outputs: [{ name: 'class', title: 'class' }],
      rows: [
        { key: 'row-1', when: ['[10..20), > 100.5'], then: ['a'], reason: 'Because (x).' },
        { key: 'row-2', when: ['not(5, 6)'], then: ['b'] },
      ],
      otherwise: { then: ['none'], reason: 'No row applies.' },
    },
    reason_code: 'FEE_CLASS',
    reason: 'A row of Fee class applies.',
  })
})

test('imports item definitions as enums, dates and lists', async () => {
  const before = `<itemDefinition name="tLevel"><typeRef>string</typeRef><allowedValues><text>"low","high"</text></allowedValues></itemDefinition>
    <itemDefinition name="tLevels" isCollection="true"><typeRef>tLevel</typeRef></itemDefinition>
    <itemDefinition name="tLoop"><typeRef>tLoop</typeRef></itemDefinition>
    <itemDefinition name="tLoan"><itemComponent name="rate"><typeRef>number</typeRef></itemComponent></itemDefinition>
    <inputData name="Level"><variable name="Level" typeRef="tLevel"/></inputData>`
  const typed = (type: string) => `<inputExpression ${type && `typeRef="${type}"`}><text>Level</text></inputExpression>`
  const input = async (type: string, test_text: string) => {
    const found = await only({ before, input: typed(type), rows: row(test_text, 'true') })
    return found && 'inputs' in found ? found.inputs[0] : found?.message
  }
  expect(await input('tLevel', '"low"')).toMatchObject({ type: 'enum', values: ['low', 'high'] })
  expect(await input('', '"low"')).toMatchObject({ type: 'enum', values: ['low', 'high'] })
  expect(await input('tLevels', '"low"')).toMatchObject({ type: 'list', values: ['low', 'high'] })
  expect(await input('feel:date', '>= date("2024-01-31")')).toMatchObject({ type: 'date' })
  expect(await input('date', '@"2024-01-31"')).toMatchObject({ type: 'date' })
  expect(await input('tLevel', '"middle"')).toContain('is not one of the values')
  for (const type of ['tLoop', 'tLoan', 'dateTime', 'constructor']) {
    expect(await input(type, '-')).toContain('is not text, number, boolean or date')
  }
})

test('imports a hit policy exactly or refuses it', async () => {
  const ranked = '<output><outputValues><text>"b","a"</text></outputValues></output>'
  const rows = row('-', '"a"') + row('> 1', '"b"')
  expect(await only({ attributes: 'hitPolicy="PRIORITY"', output: ranked, rows })).toMatchObject({
    table: { hit_policy: 'priority', priorities: ['b', 'a'] },
  })
  // Rows are sorted by output once, so those that fire are in the order of their outputs.
  expect(await only({ attributes: 'hitPolicy="OUTPUT ORDER"', output: ranked, rows })).toMatchObject({
    table: { hit_policy: 'collect', rows: [{ then: ['b'] }, { then: ['a'] }] },
  })
  expect(await only({ attributes: 'hitPolicy="RULE ORDER"', rows })).toMatchObject({
    table: { hit_policy: 'collect', rows: [{ then: ['a'] }, { then: ['b'] }] },
  })
  expect(await only({ attributes: 'hitPolicy="PRIORITY"', rows })).toMatchObject({ code: 'priorities_missing' })
  expect(await only({ attributes: 'hitPolicy="SOME"' })).toMatchObject({ code: 'construct_refused' })
  expect(await only({ attributes: 'aggregation="SUM"' })).toMatchObject({ code: 'construct_refused' })
  const sum = await only({ attributes: 'hitPolicy="COLLECT" aggregation="SUM"' })
  expect(sum).toMatchObject({ table: { hit_policy: 'collect', collect: 'sum' } })
})

test.each([
  ['Amount due * 2', 'arithmetic with "*"'],
  ['count(items)', 'the function count()'],
  ['if a then b else c', 'the expression "if"'],
])('refuses an input expression %s because of %s', async (text, construct) => {
  const found = await only({ input: `<inputExpression><text>${text}</text></inputExpression>` })
  expect(found).toMatchObject({ code: 'construct_refused' })
  expect((found as { message: string }).message).toContain(construct)
})

test.each([
  ['> Limit', 'the name "Limit"'],
  ['? > 5', 'the tested value itself'],
  ['{a: 1}', 'a context'],
  ['date and time("2024-01-01T00:00:00")', 'the function time()'],
  ['null', 'null'],
  ['>= 1 and <= 2', 'the operator "and"'],
])('refuses a cell %s because of %s', async (text, construct) => {
  const { definitions, findings } = await importDmn(file({ rows: row('-', '1') + row(text, '1') }))
  expect(definitions).toEqual([])
  expect(findings[0]?.message).toContain(construct)
  expect(findings[0]?.pointer).toMatch(/decision "Fee class" \(line 3\)\/decisionTable\/rule\[2\]\/inputEntry\[1\]$/)
})

test('keeps every digit of a numeric column, and reports how many it reads', async () => {
  const scaleOf = async (tests: readonly string[]) => {
    const { definitions, findings } = await importDmn(file({ rows: tests.map((text) => row(text, '1')).join('') }))
    const precision = findings.filter(({ code }) => code === 'number_precision')
    return [definitions[0]?.definition.inputs[0]?.scale, precision.map(({ severity, message }) => [severity, message])]
  }
  const said = (scale: number, largest: string) => [
    ['warning', expect.stringContaining(`up to ${scale} digits after the point and up to ${largest} before it`)],
  ]
  expect(await scaleOf(['> 5'])).toEqual([6, said(6, '9007199254')])
  expect(await scaleOf(['> 5', '> 0.12345678'])).toEqual([8, said(8, '90071992')])
  expect(await scaleOf(['> 12000000000'])).toEqual([1, said(1, '900719925474099')])
  const [rule] = (await importDmn(file({ rows: row('> 0.005', '1') }))).definitions
  const bound = engine1.compile({ family: 'rule', ...(rule as NonNullable<typeof rule>).definition }).bind(new Map())
  if (!('decide' in bound)) throw new Error(JSON.stringify(bound))
  expect(bound.decide({ Amount_due: '0.005001' })).toMatchObject({ ok: true, outcome: { hit: true } })
  expect(bound.decide({ Amount_due: '0.0050001' })).toMatchObject({ ok: false, findings: [{ code: 'input_type' }] })
})

test('refuses ranked outputs whose order would differ', async () => {
  const output = '<output name="o"><outputValues><text>0.1234567890123456789, 1</text></outputValues></output>'
  const found = await only({ attributes: 'hitPolicy="PRIORITY"', output, rows: row('-', '1') })
  expect(found).toMatchObject({ code: 'number_inexact' })
})

test('refuses two columns on one input', async () => {
  const column = '<inputExpression typeRef="number"><text>Age</text></inputExpression>'
  const cells = '<inputEntry><text>1</text></inputEntry>'.repeat(2)
  const rows = `<rule>${cells}<outputEntry><text>1</text></outputEntry></rule>`
  expect(await only({ input: `${column}</input><input>${column}`, rows })).toMatchObject({ code: 'column_repeated' })
})

test('reports logic outside tables and imports the tables', async () => {
  const before = `<businessKnowledgeModel name="PMT"/><import name="other"/>
    <decision name="Sum"><literalExpression><text>1 + 2</text></literalExpression></decision>
    <decision name="Call"><invocation/></decision><decision name="Nothing"/>`
  const { definitions, findings } = await importDmn(file({ before }))
  expect(definitions.map(({ name }) => name)).toEqual(['Fee class'])
  const errors = findings.filter(({ severity }) => severity === 'error')
  expect(errors.map(({ message }) => message)).toEqual([
    'This is a business knowledge model; only decision tables are taken over.',
    'This is an import of another model; only decision tables are taken over.',
    'Sum was left out: it is a literalExpression: 1 + 2 uses arithmetic with "+".',
    'Call was left out: it is a invocation.',
    'Nothing was left out: the decision has no decision table.',
  ])
})

test('refuses hostile files with one finding', async () => {
  const codes = async (xml: string) => (await importDmn(xml)).findings.map(({ code }) => code)
  const bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
  expect(await codes(`${bomb}${file().replace(/<\?.*\?>/, '')}`)).toEqual(['doctype_refused'])
  expect(await codes(`${bomb}<definitions>&b;</definitions>`)).toEqual(['doctype_refused'])
  expect(await codes('<!DOCTYPE x SYSTEM "file:///etc/passwd"><definitions/>')).toEqual(['doctype_refused'])
  expect(await codes('<definitions>&unknown;</definitions>')).toEqual(['not_well_formed'])
  expect(await codes(`<definitions>${'<decision>'.repeat(100_000)}`)).toEqual(['not_well_formed'])
  expect(await codes('<definitions><decision>')).toEqual(['truncated'])
  expect(await codes(' '.repeat(4 * 1024 * 1024 + 1))).toEqual(['source_too_large'])
  expect(await codes(`<definitions>${'<decision name="a"/>'.repeat(501)}</definitions>`)).toEqual(['source_too_large'])
  expect(await codes('<html/>')).toEqual(['layout_unknown'])
  expect(await codes('<definitions/>')).toEqual(['no_decision'])
  expect(await codes('<definitions><decision id="a"/><inputData id="a"/></definitions>')).toEqual(['id_duplicate'])
  expect(await codes('')).toEqual(['empty_source'])
  const rows = row('-', '1').repeat(2001)
  expect((await codes(file({ rows }))).length).toBe(1)
  const many = `<definitions>${'<businessKnowledgeModel/>'.repeat(3000)}<decision name="a"/></definitions>`
  expect((await codes(many)).length).toBe(501)
})

test('gives rules that pass the check of the engine', async () => {
  const names = ['score', '1st', 'a'.repeat(300), 'Ärger', 'x.y.z', "Customer's age", 'a-b']
  for (const name of names) {
    const found = await only({ input: `<inputExpression><text>${name}</text></inputExpression>`, rows: row('1', '2') })
    if (found && 'inputs' in found) expect(engine1.check(found, 'rule')).toEqual([])
    else expect(found?.severity).toBe('error')
  }
})
