import { expect, test } from 'vitest'
import { toKey } from '#console/ui/format.ts'
import { createTemplates, findManifestFault, formatManifest, parseManifestText } from './manifest-text.ts'

test('says in which line and column the JSON breaks', () => {
  expect(findManifestFault('{\n  "a": 1,\n  "b" 2\n}')).toBe('This is not valid JSON: look at line 3, column 7.')
  expect(findManifestFault('[]')).toBe('A manifest is a JSON object.')
  expect(findManifestFault('{}')).toBeNull()
  expect(parseManifestText('{')).toBeNull()
})

test('makes a key from a title', () => {
  expect(toKey('  Régistre du Commerce (FR) ')).toBe('registre-du-commerce-fr')
  expect(toKey('Company registry')).toBe('company-registry')
})

test('writes a manifest in the order in which people read it', () => {
  const text = formatManifest({
    fixtures: [],
    hosts: [],
    capabilities: { a: { safe: true, title: 'A' } },
    kind: 'http',
  })
  expect(Object.keys(JSON.parse(text))).toEqual(['kind', 'capabilities', 'hosts', 'fixtures'])
  expect(Object.keys(JSON.parse(text).capabilities.a)).toEqual(['title', 'safe'])
  expect(formatManifest({ capabilities: 1 })).toContain('"capabilities": 1')
})

test('has templates that are JSON objects with capabilities', () => {
  for (const { definition } of createTemplates(new Date(0))) {
    expect(Object.keys(definition['capabilities'] as object)).toHaveLength(1)
  }
})
