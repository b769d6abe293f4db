import path from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { threadsDir } from '#test/support/threads.ts'
import { entryHash } from '../content/hashes.ts'
import type { TypeDefinition } from './type-definition.ts'
import { createTypeRunner, type TypeRunner, type TypeRunnerOptions, TypeUnusable } from './type-runner.ts'

const script = path.join(threadsDir, 'type-worker.mjs')
let runner: TypeRunner

afterEach(() => runner.close())

const start = (options: Partial<TypeRunnerOptions> = {}): TypeRunner => {
  runner = createTypeRunner({ script, ...options })
  return runner
}

const definition: TypeDefinition = {
  type_key: 'country',
  type_version: 1,
  title: 'Country',
  description: 'A country.',
  schema: {
    type: 'object',
    required: ['code'],
    properties: { code: { type: 'string', pattern: '^[A-Z]{2}$' }, note: { type: 'string' }, child: { $ref: '#' } },
  },
  key_pointers: ['/code'],
  list_rules: {},
  fields: { '/code': { title: 'Country code' } },
  examples: [{ code: 'DE' }],
}
/** Two branches on each level: a chain of `depth` members is validated 2^depth times. */
const slow: TypeDefinition = {
  ...definition,
  schema: {
    ...definition.schema,
    anyOf: [
      { allOf: [{ properties: { child: { $ref: '#' } } }], required: ['never'] },
      { allOf: [{ properties: { child: { $ref: '#' } } }], required: ['neither'] },
      { required: ['code'] },
    ],
  },
}
const chain = (depth: number): Record<string, unknown> =>
  depth === 0 ? { code: 'DE' } : { code: 'DE', child: chain(depth - 1) }

describe('results', () => {
  test('returns the faults of a definition', async () => {
    start()
    expect(await runner.check(definition)).toEqual([])
    const faults = await runner.check({ ...definition, key_pointers: ['/none'] })
    expect(faults).toMatchObject([{ code: 'key_missing', pointer: '/key_pointers/0' }])
  })

  test('returns keys, texts and hashes by index, and faults of invalid entries', async () => {
    start()
    const result = await runner.validate(definition, [{ note: null, code: ' DE' }, { code: 'x' }, 5])
    const text = '{"code":"DE"}'
    expect(result).toMatchObject({
      keys: ['DE', null, null],
      texts: [text, null, null],
      hashes: [entryHash(text), null, null],
      faults: [
        { index: 1, faults: [{ message: 'Country code must be two capital letters; found "x".' }] },
        { index: 2, faults: [{ code: 'wrong_type' }] },
      ],
    })
  })

  test('answers many concurrent calls', async () => {
    start()
    const codes = ['AA', 'BB', 'CC', 'DD']
    const results = await Promise.all(codes.map((code) => runner.validate(definition, [{ code }])))
    expect(results.map(({ keys }) => keys)).toEqual(codes.map((code) => [code]))
  })

  test('rejects an invalid definition', async () => {
    start()
    const wrong = { ...definition, schema: { ...definition.schema, $dynamicRef: '#x' } }
    await expect(runner.validate(wrong, [])).rejects.toMatchObject({
      code: 'type_unusable',
      reason: 'definition',
      faults: [{ code: 'keyword_refused', pointer: '/schema/$dynamicRef' }],
    })
  })
})

describe('limits', () => {
  test('time: refuses the call and serves the next', async () => {
    start({ time_limit_ms: 3000 })
    const [first, second] = await Promise.allSettled([
      runner.validate(slow, [chain(40)]),
      runner.validate(definition, [{ code: 'DE' }]),
    ])
    expect(first).toMatchObject({ reason: { code: 'type_unusable', reason: 'time' } })
    expect(second).toMatchObject({ value: { keys: ['DE'] } })
  })

  test('memory: exhaustion affects the worker only', async () => {
    start({ heap_limit_mib: 32, time_limit_ms: 60_000 })
    const large = Array.from({ length: 300_000 }, (_, i) => ({ code: 'DE', note: `${i}`.repeat(20) }))
    await expect(runner.validate(definition, large)).rejects.toMatchObject({ code: 'type_unusable', reason: 'memory' })
    expect((await runner.validate(definition, [{ code: 'DE' }])).keys).toEqual(['DE'])
  })

  test.each([
    [
      'members, each unknown to every part',
      { allOf: Array.from({ length: 40 }, () => ({ additionalProperties: false })) },
    ],
    ['values, each wrong for every part', { additionalProperties: { allOf: Array(300).fill({ type: 'string' }) } }],
    ['values, each forbidden twice over and over', { additionalProperties: { $ref: '#/$defs/d1' } }],
    [
      'values with much missing',
      { additionalProperties: { required: Array.from({ length: 2000 }, (_, n) => `m${n}`) } },
    ],
  ])('number of errors: of many %s, reports the first', async (_name, note) => {
    start({ heap_limit_mib: 64, time_limit_ms: 60_000 })
    const doubled = Array.from({ length: 40 }, (_, n) => {
      const next = { $ref: `#/$defs/d${n + 2}` }
      return [`d${n + 1}`, n < 39 ? { allOf: [next, next] } : false]
    })
    const schema = {
      ...definition.schema,
      properties: { code: { type: 'string' }, note },
      $defs: Object.fromEntries(doubled),
    }
    const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`k${n}`, { a: 1 }]))
    const result = await runner.validate({ ...definition, schema }, [{ code: 'DE', note: many }, { code: 5 }])
    expect(result.faults.map(({ index, faults }) => [index, faults.length])).toEqual([
      [0, 1],
      [1, 1],
    ])
  })

  test('reports a check that exceeds a limit as a fault of the definition', async () => {
    start({ time_limit_ms: 3000 })
    expect(await runner.check({ ...slow, examples: [chain(40)] })).toMatchObject([{ code: 'type_unusable' }])
  })
})

describe('shutdown', () => {
  test('rejects an aborted call with the reason, whether it runs or waits', async () => {
    start({ time_limit_ms: 60_000 })
    const stop = new AbortController()
    const running = runner.validate(slow, [chain(60)], { signal: stop.signal })
    const waiting = runner.validate(definition, [{ code: 'DE' }], { signal: stop.signal })
    const other = runner.validate(definition, [{ code: 'FR' }])
    stop.abort(new Error('not needed any more'))
    await expect(running).rejects.toThrow('not needed any more')
    await expect(waiting).rejects.toThrow('not needed any more')
    expect((await other).keys).toEqual(['FR'])
    await expect(runner.check(definition, { signal: stop.signal })).rejects.toThrow('not needed any more')
  })

  test('rejects running, waiting and later calls when it is closed', async () => {
    start({ time_limit_ms: 60_000 })
    const open = Promise.allSettled([runner.validate(slow, [chain(60)]), runner.check(definition)])
    await runner.close()
    expect((await open).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(runner.check(definition)).rejects.toThrow('closed')
  })

  test('does not report a worker that cannot start as a fault of the type', async () => {
    start({ script: path.join(threadsDir, 'missing.mjs') })
    const failed = runner.validate(definition, [])
    await expect(failed).rejects.toThrow('did not start')
    await expect(failed).rejects.not.toBeInstanceOf(TypeUnusable)
  })
})
