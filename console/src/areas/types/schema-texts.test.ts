import { expect, test } from 'vitest'
import { describeKind, describeLimits, listFields } from './schema-texts.ts'

test('lists fields with their subfields', () => {
  const type = {
    key_pointers: ['/code'],
    fields: {},
    schema: {
      required: ['code'],
      properties: {
        places: {
          type: 'array',
          items: { type: 'object', required: ['city'], properties: { city: { type: 'string' } } },
        },
        code: { type: 'string' },
        inputs: { type: 'object', properties: { rule: { type: 'string' } } },
      },
    },
  }
  expect(listFields(type).map(({ pointer, depth, isRequired }) => [pointer, depth, isRequired])).toEqual([
    ['/code', 0, true],
    ['/inputs', 0, false],
    ['/inputs/rule', 1, false],
    ['/places', 0, false],
    ['/places/*/city', 1, true],
  ])
})

test.each([
  [{ type: 'string', format: 'date' }, 'date', ''],
  [{ type: ['integer', 'null'], minimum: 0, maximum: 9 }, 'whole number or nothing', '0 to 9'],
  [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, 'list of text', 'a, b'],
  [{ type: 'string', pattern: '^[A-Z]{2}$', maxLength: 2 }, 'text', 'up to 2 characters, like ^[A-Z]{2}$'],
  [{ type: 'string', pattern: '^[^\\u0000]*$' }, 'text', ''],
])('%o is %s, %s', (schema, kind, limits) => {
  expect([describeKind(schema), describeLimits(schema)]).toEqual([kind, limits])
})
