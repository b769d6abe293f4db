/** An import of any text returns findings and never throws; the engine can compile every imported rule. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { engine1 } from '../engine-1/engine.ts'
import { parseOutput, parseTests } from './cell.ts'
import { importDmn } from './dmn.ts'
import { importGoRules } from './gorules.ts'
import { type ImportResult, UnsupportedConstruct } from './import-result.ts'

const DMN = `<definitions name="m"><itemDefinition name="t"><typeRef>string</typeRef><allowedValues><text>"a","b"</text></allowedValues></itemDefinition>
<decision id="d" name="D"><variable typeRef="t"/><decisionTable hitPolicy="COLLECT" aggregation="SUM">
<input><inputExpression typeRef="number"><text>Age</text></inputExpression></input>
<input><inputExpression typeRef="t"><text>Kind</text></inputExpression></input><output name="o"/>
<rule><inputEntry><text>[1..5], not(7)</text></inputEntry><inputEntry><text>"a"</text></inputEntry><outputEntry><text>1.5</text></outputEntry></rule>
</decisionTable></decision></definitions>`
const GORULES = JSON.stringify({
  nodes: [
    {
      id: 'n',
      type: 'decisionTableNode',
      content: {
        hitPolicy: 'first',
        inputs: [{ id: 'i', field: 'a.b' }],
        outputs: [{ id: 'o', field: 'c' }],
        rules: [{ i: '> 1 and <= 5, 7', o: "'x'" }],
      },
    },
  ],
})

/** The text with a part replaced. */
const damaged = (text: string) =>
  fc
    .record({
      at: fc.nat(text.length - 1),
      length: fc.nat(12),
      piece: fc.oneof(
        fc.string({ maxLength: 8 }),
        fc.constantFrom(
          '"',
          '<',
          '&',
          '__proto__',
          'constructor',
          '-',
          'not(',
          '..',
          '{',
          '\\',
          '\0',
          '\ud800',
          '<!--',
        ),
      ),
    })
    .map(({ at, length, piece }) => text.slice(0, at) + piece + text.slice(at + length))

function judge({ definitions, findings }: ImportResult): void {
  expect(definitions.length + findings.length).toBeGreaterThan(0)
  for (const { definition } of definitions) engine1.compile({ family: 'rule', ...definition })
}

test('damaged DMN files', async () => {
  judge(await importDmn(DMN))
  await fc.assert(
    fc.asyncProperty(damaged(DMN), async (xml) => judge(await importDmn(xml))),
    { numRuns: 400, seed: 3 },
  )
})

test('damaged GoRules files', () => {
  judge(importGoRules(GORULES))
  fc.assert(
    fc.property(damaged(GORULES), (json) => judge(importGoRules(json))),
    { numRuns: 400, seed: 4 },
  )
})

test('any text in a cell is read or refused', () => {
  const pieces = fc.constantFrom(
    '"a"',
    "'b'",
    '1',
    '.5',
    '-',
    ',',
    'not(',
    ')',
    '[',
    ']',
    '..',
    '<',
    '>=',
    '==',
    'and',
    'date("2024-01-01")',
    ' ',
    'x',
    '(',
  )
  const text = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(' ')),
  )
  fc.assert(
    fc.property(text, fc.constantFrom('feel' as const, 'zen' as const), (cell, dialect) => {
      for (const read of [parseTests, parseOutput]) {
        try {
          read(cell, dialect, '/here')
        } catch (error) {
          expect(error).toBeInstanceOf(UnsupportedConstruct)
        }
      }
    }),
    { numRuns: 1000, seed: 5 },
  )
})
