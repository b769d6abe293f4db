import { expect, test } from 'vitest'
import { readManifest, sortManifest } from './plugin-manifest.ts'

test('reads what a plugin is given and may reach', () => {
  const manifest = {
    entry: 'main.js',
    inputs: {
      required: ['country'],
      properties: { country: { type: 'string' }, level: { enum: ['low', 'high'] }, note: { type: ['string', 'null'] } },
    },
    score_min_bps: 0,
    score_max_bps: 5000,
    permissions: { lists: ['countries', { list_key: 'sectors', fields: ['score'] }], hosts: ['a.example'] },
    limits: { fuel: 50 },
  }
  expect(readManifest(manifest)).toMatchObject({
    entry: 'main.js',
    inputs: [
      { name: 'country', type: 'string', isRequired: true },
      { name: 'level', type: 'low, high', isRequired: false },
      { name: 'note', type: 'string or null', isRequired: false },
    ],
    score: { min: 0, max: 5000 },
    lists: [
      { list_key: 'countries', fields: [] },
      { list_key: 'sectors', fields: ['score'] },
    ],
    hosts: ['a.example'],
    fuel: 50,
    memory_mib: null,
  })
})

test.each([
  null,
  {},
  { inputs: 7, permissions: [], limits: 'many', score_min_bps: '0' },
  { permissions: { lists: [7, {}], hosts: 'a.example' }, inputs: { properties: [] } },
])('reads a manifest of any shape: %j', (manifest) => {
  expect(readManifest(manifest)).toMatchObject({ lists: [], hosts: [], inputs: [], score: null, fuel: null })
})

test('orders members as people write them', () => {
  expect(Object.keys(sortManifest({ outputs: {}, zebra: 1, kind: 'factor', plugin_key: 'a' }))).toEqual([
    'plugin_key',
    'kind',
    'outputs',
    'zebra',
  ])
})
