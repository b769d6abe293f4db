/** Properties of every adapter. */
import { describe, expect, test } from 'vitest'
import { findSchemaErrors } from '#kernel/http/validation.ts'
import { readWithAdapter } from '#test/support/adapter-reading.ts'
import { EndlessSource, toSource } from '#test/support/byte-sources.ts'
import { SourceFault } from '../adapter.ts'
import { checkDefinition } from '../types/check-type-definition.ts'
import { compileType } from '../types/compile-type.ts'
import { MAX_BATCH_ENTRIES } from './batch-builder.ts'
import { adapters, entryTypes } from './index.ts'

const all = [...adapters.values()]
const sampleOf = (key: string) => {
  const { encoding, text } = adapters.get(key)?.sample ?? { encoding: 'utf8', text: '' }
  return Buffer.from(text, encoding)
}

test('the list of adapters is complete', () => {
  expect([...adapters.keys()].sort()).toEqual([
    'country-scores',
    'csv',
    'eu-consolidated-csv',
    'eu-consolidated-xml',
    'fatf-lists',
    'gleif-lei',
    'gleif-relationships',
    'iso-20275',
    'iso-3166',
    'iso-4217',
    'json',
    'mcc',
    'nace',
    'naics',
    'ndjson',
    'ofac-consolidated-advanced-xml',
    'ofac-consolidated-csv',
    'ofac-consolidated-xml',
    'ofac-sdn-advanced-xml',
    'ofac-sdn-csv',
    'ofac-sdn-xml',
    'opensanctions-ftm',
    'tsv',
    'uk-hmt-csv',
    'un-consolidated-xml',
    'us-bis-dpl',
    'us-csl-csv',
    'us-csl-json',
    'xlsx',
  ])
})

describe.each([...entryTypes.values()])('the type $type_key', (type) => {
  test('can be published', () => {
    expect(checkDefinition(type)).toEqual([])
  })
  test('names every member', () => {
    const members = Object.keys(type.schema['properties'] as object)
    expect(Object.keys(type.fields).sort()).toEqual(members.map((name) => `/${name}`).sort())
  })
})

describe.each(all.map((adapter) => adapter.key))('%s', (key) => {
  const adapter = adapters.get(key)
  if (!adapter) throw new Error(key)

  test('reads its sample into entries of its type, as a whole and in small pieces', async () => {
    const { options } = adapter.sample
    const whole = await readWithAdapter(key, toSource(sampleOf(key), 100_000), options)
    expect(whole.rejects).toEqual([])
    expect(whole.warnings).toEqual([])
    expect(whole.entries.length).toBeGreaterThan(0)
    expect((await readWithAdapter(key, toSource(sampleOf(key), 1), options)).read).toEqual(whole.read)
    if (adapter.target_type === null) return
    const type = entryTypes.get(adapter.target_type)
    if (!type) throw new Error(`no type ${adapter.target_type}`)
    const compiled = compileType(type)
    for (const entry of whole.entries) expect(compiled.prepare(entry)).toHaveProperty('key')
  })

  test('has closed options, all of them optional', () => {
    expect(findSchemaErrors('body', adapter.options, {})).toEqual([])
    expect(findSchemaErrors('body', adapter.options, adapter.sample.options ?? {})).toEqual([])
    expect(findSchemaErrors('body', adapter.options, { no_such_option: 1 })).not.toEqual([])
  })

  test('refuses an empty source', async () => {
    await expect(readWithAdapter(key, toSource(''))).rejects.toMatchObject({
      name: 'SourceFault',
      code: 'empty_source',
    })
  })

  test('refuses a source of another kind', async () => {
    const other =
      key === 'csv' || key === 'tsv' ? Buffer.from('a\0b') : Buffer.from('%PDF-1.7\n%âãÏÓ\n1 0 obj', 'latin1')
    const refused = await readWithAdapter(key, toSource(other)).then(
      ({ entries, rejects }) => ({ entries, rejected: rejects.length > 0 }),
      (error: unknown) => error,
    )
    if (!(refused instanceof SourceFault)) expect(refused).toEqual({ entries: [], rejected: true })
  })

  test('closes the source when its consumer stops or it fails', async () => {
    const source = new EndlessSource(sampleOf(key), sampleOf(key))
    const reading = adapter.read(source, { ...adapter.sample.options, max_expanded_bytes: 100_000 })
    await reading.next().catch(() => {})
    await reading.return()
    await expect.poll(() => source.closed).toBe(true)
  })
})

test('yields small batches', async () => {
  const many = `code,name\n${'NA,Namibia\n'.repeat(20_000)}`
  const { batches, entries } = await readWithAdapter('csv', toSource(many, 1_000_000))
  expect(entries).toHaveLength(20_000)
  expect(Math.max(...batches.map((batch) => batch.entries.length))).toBe(MAX_BATCH_ENTRIES)
})
