/** The decision tables of the DMN technology compatibility kit, level 2: imported rules give the results that the kit expects. */
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { getChild, getChildren, getChildText, readXml, type XmlElement } from '#registry/formats/xml.ts'
import { findSharedFolder } from '#test/support/shared-data.ts'
import { engine1 } from '../engine-1/engine.ts'
import type { Inputs, RuleDefinition } from '../model.ts'
import { importDmn } from './dmn.ts'
import type { ImportedRule } from './import-result.ts'

const folder = findSharedFolder('decisions/dmn-tck/compliance-level-2', 29) ?? ''
const cases = folder ? fs.readdirSync(folder).sort() : []
/** Decisions of the kit that are tables of simple tests; all others are refused with the construct they use. */
const TABLES = ['0004', '0005', '0006', '0007', '0010', ...Array.from({ length: 12 }, (_, n) => `0${108 + n}`)]

async function* source(file: string) {
  yield fs.readFileSync(file)
}

async function readCases(file: string): Promise<XmlElement[]> {
  const found: XmlElement[] = []
  for await (const records of readXml(source(file), ['testCases/testCase'])) {
    found.push(...records.map(({ element }) => element))
  }
  return found
}

/** Inputs of the rule by the names the file gives them. Numbers of FEEL are decimals. */
function inputsOf(testCase: XmlElement, definition: RuleDefinition): Inputs {
  const given = new Map(
    getChildren(testCase, 'inputNode').map((node) => [node.attributes['name'], getChildText(node, 'value')]),
  )
  return Object.fromEntries(
    definition.inputs.map(({ name, title, type }) => {
      const text = given.get(title) as string
      return [name, type === 'boolean' ? text === 'true' : text]
    }),
  )
}

type Wire = string | number | boolean
const plain = (value: XmlElement | undefined): Wire => {
  const type = value?.attributes['type'] ?? ''
  if (type.endsWith('decimal')) return Number(value?.text)
  return type.endsWith('boolean') ? value?.text === 'true' : (value?.text ?? '')
}

/** The expected result: one value, named components, or a list of either. */
function expectedOf(element: XmlElement): unknown {
  const list = getChild(element, 'list')
  if (list) return getChildren(list, 'item').map(expectedOf)
  const components = getChildren(element, 'component')
  if (components.length === 0) return plain(getChild(element, 'value'))
  return Object.fromEntries(components.map((each) => [each.attributes['name'], plain(getChild(each, 'value'))]))
}

/** The outcome in the form of the kit: outputs by title, parallel lists as a list of rows. */
function answerOf({ definition }: ImportedRule, inputs: Inputs): unknown {
  const bound = engine1.compile({ family: 'rule', ...definition }).bind(new Map())
  if (!('decide' in bound)) throw new Error(JSON.stringify(bound))
  const decision = bound.decide(inputs)
  if (!decision.ok || decision.outcome.family !== 'rule') throw new Error(JSON.stringify(decision))
  const { outputs } = decision.outcome
  const titled = definition.table.outputs.map(({ name, title }) => [title as string, outputs[name]] as const)
  const shape = (values: readonly (readonly [string, unknown])[]): unknown =>
    values.length === 1 ? values[0]?.[1] : Object.fromEntries(values)
  const [, first] = titled[0] as readonly [string, unknown]
  if (!Array.isArray(first)) return shape(titled)
  return first.map((_, n) => shape(titled.map(([title, all]) => [title, (all as unknown[])[n]] as const)))
}

describe.skipIf(cases.length === 0)('DMN compatibility kit, level 2', () => {
  let compared = 0
  test.each(cases.filter((name) => TABLES.includes(name.slice(0, 4))))(
    '%s gives the expected results',
    async (name) => {
      const { definitions, findings } = await importDmn(fs.readFileSync(path.join(folder, name, `${name}.dmn`), 'utf8'))
      expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
      expect(definitions).toHaveLength(1)
      const rule = definitions[0] as ImportedRule
      for (const testCase of await readCases(path.join(folder, name, `${name}-test-01.xml`))) {
        const [result] = getChildren(testCase, 'resultNode')
        const expected = expectedOf(getChild(result as XmlElement, 'expected') as XmlElement)
        expect(answerOf(rule, inputsOf(testCase, rule.definition))).toEqual(expected)
        compared += 1
      }
    },
  )

  test.each(cases.filter((name) => !TABLES.includes(name.slice(0, 4))))(
    'refuses %s with the name of the construct',
    async (name) => {
      const { definitions, findings } = await importDmn(fs.readFileSync(path.join(folder, name, `${name}.dmn`), 'utf8'))
      expect(definitions).toEqual([])
      expect(findings.length).toBeGreaterThan(0)
      for (const finding of findings) {
        expect(finding).toMatchObject({ code: 'construct_refused', severity: 'error' })
        expect(finding.message).toMatch(/literalExpression|business knowledge model/)
      }
    },
  )

  test('covers the whole level', () => {
    const refused = cases.length - TABLES.length
    console.info(`DMN level 2: ${TABLES.length} files taken over, ${compared} cases equal, ${refused} files refused`)
    expect(compared).toBe(51)
  })
})
