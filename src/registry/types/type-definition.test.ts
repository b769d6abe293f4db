import { describe, expect, test } from 'vitest'
import { checkDefinition } from './check-type-definition.ts'
import type { TypeDefinition } from './type-definition.ts'

const country = {
  type_key: 'country-risk',
  type_version: 1,
  title: 'Country risk',
  description: 'How risky a country is.',
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    additionalProperties: false,
    required: ['country_code', 'rating', 'band'],
    properties: {
      country_code: { $ref: '#/$defs/code' },
      rating: { enum: ['low', 'medium', 'high'] },
      score: { type: 'integer', minimum: 0, maximum: 100 },
      note: { type: ['string', 'null'] },
      band: { type: 'object', required: ['from'], properties: { from: { type: 'number' }, to: { type: 'number' } } },
      aliases: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
    },
    $defs: { code: { type: 'string', pattern: '^[A-Z]{2}$' } },
  },
  key_pointers: ['/country_code'],
  list_rules: { min_items: 1, unique: [['/score']], contiguous: { from: '/band/from', to: '/band/to' } },
  fields: {
    '/country_code': { title: 'Country code' },
    '/rating': { title: 'Rating', order: ['low', 'medium', 'high'] },
    '/score': { title: 'Score', order: 'higher_is_stricter' },
    '/aliases/*/name': { title: 'Alias', personal: true },
  },
  examples: [{ country_code: 'DE', rating: 'low', band: { from: 0, to: 1 } }],
} satisfies TypeDefinition

type Change = (definition: TypeDefinition) => void

/** The faults after one change to a valid definition, as `code pointer`. */
function faultsAfter(change: Change): string[] {
  const definition = structuredClone(country) as TypeDefinition
  change(definition)
  return checkDefinition(definition).map(({ code, pointer }) => `${code} ${pointer}`)
}
const withMember =
  (schema: unknown): Change =>
  (definition) => {
    ;(definition.schema['properties'] as Record<string, unknown>)['x'] = schema
  }

test('accepts a valid definition', () => {
  expect(checkDefinition(country)).toEqual([])
})

describe('allowed keywords', () => {
  const at = '/schema/properties/x'
  test.each<[string, unknown, string]>([
    ['$dynamicRef', { $dynamicRef: '#a' }, `keyword_refused ${at}/$dynamicRef`],
    ['$dynamicAnchor', { $dynamicAnchor: 'a' }, `keyword_refused ${at}/$dynamicAnchor`],
    ['$vocabulary', { $vocabulary: {} }, `keyword_refused ${at}/$vocabulary`],
    ['unevaluatedItems', { unevaluatedItems: false }, `keyword_refused ${at}/unevaluatedItems`],
    ['unevaluatedProperties', { unevaluatedProperties: false }, `keyword_refused ${at}/unevaluatedProperties`],
    ['a nested $id', { $id: 'https://example.com/x' }, `keyword_refused ${at}/$id`],
    ['a nested $schema', { $schema: 'http://json-schema.org/draft-07/schema#' }, `keyword_refused ${at}/$schema`],
    ['a remote $ref', { $ref: 'https://example.com/x' }, `ref_not_local ${at}/$ref`],
    ['an empty enum', { enum: [] }, `enum_empty ${at}/enum`],
    ['an unknown keyword', { minimun: 1 }, `keyword_unknown ${at}/minimun`],
    ['a keyword of the prototype', { constructor: 1 }, `keyword_unknown ${at}/constructor`],
    ['look-ahead', { pattern: '^(?=a)' }, `pattern_refused ${at}/pattern`],
    ['a back-reference', { pattern: '^(a)\\1$' }, `pattern_refused ${at}/pattern`],
    ['a pattern as name', { patternProperties: { '(?!x)': true } }, `pattern_refused ${at}/patternProperties/(?!x)`],
    ['an unknown format', { format: 'iban' }, `format_unknown ${at}/format`],
    ['a lonely else', { else: true }, `keyword_ignored ${at}/else`],
    ['a lonely if', { if: true }, `keyword_ignored ${at}/if`],
    ['a member __proto__', JSON.parse('{"properties":{"__proto__":true}}'), `name_refused ${at}/properties/__proto__`],
    ['a reference to nothing', { $ref: '#/$defs/none' }, `ref_unresolved ${at}/$ref`],
    ['a reference to no schema', { $ref: '#/required' }, `ref_unresolved ${at}/$ref`],
    ['an endless reference', { $ref: '#/properties/x' }, `ref_endless ${at}`],
    ['an endless reference in a round', { anyOf: [{ $ref: '#/properties/x' }] }, `ref_endless ${at}`],
    ['no schema', 5, `schema_invalid ${at}`],
    ['a wrong keyword value', { minimum: 'a' }, `schema_invalid ${at}/minimum`],
  ])('%s', (_, schema, fault) => {
    expect(faultsAfter(withMember(schema))).toEqual([fault])
  })

  test('refuses another dialect', () => {
    expect(
      faultsAfter(({ schema }) => {
        schema['$schema'] = 'http://json-schema.org/draft-07/schema#'
      }),
    ).toEqual(['keyword_refused /schema/$schema'])
  })

  test('limits size, depth and number of subschemas', () => {
    const nested = (levels: number): unknown => (levels === 0 ? {} : { items: nested(levels - 1) })
    expect(faultsAfter(withMember(nested(19)))).toEqual([])
    expect(faultsAfter(withMember(nested(20)))).toEqual([`schema_too_deep ${at}${'/items'.repeat(20)}`])
    const many = (count: number) => ({ anyOf: Array.from({ length: count }, () => ({ type: 'string' })) })
    expect(faultsAfter(withMember(many(400)))).toEqual([])
    expect(faultsAfter(withMember(many(500)))).toEqual(['schema_too_large /schema'])
    expect(faultsAfter(withMember({ description: 'é'.repeat(33_000) }))).toEqual(['schema_too_large /schema'])
  })

  test('accepts a recursive type that descends into the value', () => {
    expect(faultsAfter(withMember({ type: 'array', items: { $ref: '#/properties/x' } }))).toEqual([])
  })
})

describe('what belongs together', () => {
  test.each<[string, Change, string]>([
    ['a key that is not declared', (d) => (d.key_pointers = ['/none']), 'key_missing /key_pointers/0'],
    [
      'a key that is optional',
      (d) => (d.key_pointers = ['/country_code', '/score']),
      'key_not_required /key_pointers/1',
    ],
    ['a key deep in what is optional', (d) => (d.key_pointers = ['/band/to']), 'key_not_required /key_pointers/0'],
    ['a key that is an object', (d) => (d.key_pointers = ['/band']), 'key_not_scalar /key_pointers/0'],
    ['trimming what is not declared', (d) => (d.trim = ['/none']), 'trim_invalid /trim/0'],
    ['trimming a number', (d) => (d.trim = ['/score']), 'trim_invalid /trim/0'],
    ['a field that is not declared', (d) => (d.fields['/none'] = { title: 'x' }), 'field_unknown /fields/~1none'],
    [
      'an order that leaves a value out',
      (d) => (d.fields['/rating'] = { title: 'x', order: ['low', 'high'] }),
      'order_invalid /fields/~1rating/order',
    ],
    [
      'an order with a value too many',
      (d) => (d.fields['/rating'] = { title: 'x', order: ['low', 'medium', 'high', 'top'] }),
      'order_invalid /fields/~1rating/order',
    ],
    [
      'a direction for text',
      (d) => (d.fields['/rating'] = { title: 'x', order: 'lower_is_stricter' }),
      'order_invalid /fields/~1rating/order',
    ],
    [
      'bands that are no numbers',
      (d) => (d.list_rules = { contiguous: { from: '/score', to: '/rating' } }),
      'list_rule_invalid /list_rules/contiguous/to',
    ],
    [
      'a rule about nothing',
      (d) => (d.list_rules = { unique: [['/score', '/none']] }),
      'list_rule_invalid /list_rules/unique/0/1',
    ],
    [
      'more at least than at most',
      (d) => (d.list_rules = { min_items: 2, max_items: 1 }),
      'list_rule_invalid /list_rules/max_items',
    ],
    [
      'an example that does not fit',
      (d) => (d.examples[0] = { country_code: 'de', rating: 'low', band: { from: 1 } }),
      'example_invalid /examples/0/country_code',
    ],
    ['no example', (d) => (d.examples = []), 'definition_invalid /examples'],
    ['a schema of something else', (d) => delete d.schema['type'], 'schema_not_object /schema/type'],
    ['an unknown part', (d) => Object.assign(d, { colour: 1 }), 'definition_invalid /colour'],
  ])('%s', (_, change, fault) => {
    expect(faultsAfter(change)).toEqual([fault])
  })

  test('accepts a nested required member as part of the key', () => {
    expect(faultsAfter((d) => (d.key_pointers = ['/country_code', '/band/from']))).toEqual([])
  })

  test('refuses a value that is not a definition', () => {
    expect(checkDefinition(null).map(({ code }) => code)).toEqual(['definition_invalid'])
  })
})
