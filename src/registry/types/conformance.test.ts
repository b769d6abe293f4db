/** Public test suites, where present: JSON Schema 2020-12 within the allowed keywords, JCS for the canonical text. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { compileCanonical } from './canonical-text.ts'
import { findLimitFaults } from './schema-limits.ts'
import { compileExplainer, compileSchema, findMetaSchemaErrors, type ValidateFunction } from './schema-validator.ts'

interface Group {
  readonly description: string
  readonly schema: unknown
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

const conformance = path.resolve(import.meta.dirname, '../../../../shared/data/conformance')
const suite = path.join(conformance, 'json-schema/tests/draft2020-12')
const files = existsSync(suite) ? readdirSync(suite).filter((name) => name.endsWith('.json')) : []

/** Results that differ from the suite: 1e308 divided by a fraction overflows. */
const DIFFERENT = [
  'multipleOf: float division = inf: always invalid, but naive implementations may raise an overflow error',
]

/** Refused for another reason than a forbidden keyword or a reference that is not local. */
const REFUSED = [
  'enum: empty enum (enum_empty)',
  'if-then-else: ignore if without then or else (keyword_ignored)',
  'if-then-else: ignore then without if (keyword_ignored)',
  'if-then-else: ignore else without if (keyword_ignored)',
  'if-then-else: non-interference across combined schemas (keyword_ignored)',
  'maxContains: maxContains without contains is ignored (keyword_ignored)',
  'minContains: minContains without contains is ignored (keyword_ignored)',
  'minContains: maxContains < minContains (schema_refused)',
  'minContains: minContains = 0 (schema_refused)',
  'properties: properties whose names are Javascript object property names (name_refused)',
]

/** The suite does not assert formats; types do. */
const isAboutFormats = (file: string) => file === 'format.json'
const isExpected = (code: string) => code === 'keyword_refused' || code === 'ref_not_local'

function compile(schema: unknown): ValidateFunction | string[] {
  const faults = findLimitFaults(schema).map(({ code }) => code)
  if (faults.length > 0) return faults
  if (findMetaSchemaErrors(schema).length > 0) return ['schema_invalid']
  try {
    return compileSchema(schema)
  } catch {
    return ['schema_refused']
  }
}

function runSuite() {
  const different: string[] = []
  const refused: string[] = []
  const unexplained: string[] = []
  let agreed = 0
  let outside = 0
  for (const file of files.filter((name) => !isAboutFormats(name))) {
    for (const group of JSON.parse(readFileSync(path.join(suite, file), 'utf8')) as Group[]) {
      const name = `${file.replace('.json', '')}: ${group.description}`
      const fits = compile(group.schema)
      if (Array.isArray(fits)) {
        if (fits.some(isExpected)) outside++
        else refused.push(`${name} (${[...new Set(fits)]})`)
        continue
      }
      const explain = compileExplainer(group.schema)
      for (const { description, data, valid } of group.tests) {
        if (fits(data) !== (explain(data)?.length === 0)) unexplained.push(`${name}: ${description}`)
        if (fits(data) === valid) agreed++
        else different.push(`${name}: ${description}`)
      }
    }
  }
  return { agreed, different, refused, outside, unexplained }
}

describe.runIf(files.length > 0)('JSON-Schema-Test-Suite', () => {
  const { agreed, different, refused, outside, unexplained } = runSuite()

  test(`${agreed} answers agree, ${different.length} differs`, () => {
    expect(different).toEqual(DIFFERENT)
    expect(agreed).toBeGreaterThan(790)
  })

  test('errors are found exactly for invalid entries', () => {
    expect(unexplained).toEqual([])
  })

  test(`${outside} schemas lie outside the limit, ${refused.length} are refused for other reasons`, () => {
    expect(refused).toEqual(REFUSED)
  })
})

const vectors = path.join(conformance, 'jcs')
const names = existsSync(vectors) ? readdirSync(path.join(vectors, 'input')) : []

describe.runIf(names.length > 0)('JCS vectors', () => {
  test.each(names)('%s', (name) => {
    const input: unknown = JSON.parse(readFileSync(path.join(vectors, 'input', name), 'utf8'))
    const output = readFileSync(path.join(vectors, 'output', name), 'utf8').trimEnd()
    const entry = { known: input, é: 1, 10: input, 9: input }
    const properties = { known: true, é: true, 10: true, 9: true }
    const expected = `{"10":${output},"9":${output},"known":${output},"é":1}`
    expect(compileCanonical({ properties })(entry), 'every member declared').toBe(expected)
    expect(compileCanonical({ properties: { known: true } })(entry), 'some members undeclared').toBe(expected)
  })
})
