import { expect, test } from 'vitest'
import { findExampleReasons, readExample } from './example-runs.ts'

test('a factor is run with the input and the list entries of the example', () => {
  const lists = { countries: { DE: { level: 'low' }, XX: null } }
  const example = { name: 'low risk', input: { country: 'DE' }, lists, config: { a: 1 }, output: { score_bps: 1 } }
  const { name, runs, parts, hasConfig } = readExample('factor', example, 0)
  expect([name, hasConfig]).toEqual(['low risk', true])
  expect(runs).toEqual([
    { request: { entry_point: 'factor', input: { country: 'DE' }, entries: lists }, expected: { score_bps: 1 } },
  ])
  expect(parts.map(([title]) => title)).toEqual(['Input', 'Entries of lists', 'Configuration', 'Expected output'])
})

test('an adapter is run with the chunk and the state before it', () => {
  const example = { name: 'rows', input: { chunk: { rows: [] }, state: { seen: 2 } }, output: { entries: [] } }
  expect(readExample('adapter', example, 0).runs).toEqual([
    { request: { entry_point: 'adapter', input: { rows: [] }, state: { seen: 2 } }, expected: { entries: [] } },
  ])
})

test('a provider is run twice: it writes the request and reads the response', () => {
  const example = {
    name: 'found',
    input: { number: '1' },
    request: { url: 'u' },
    response: { status: 200 },
    output: {},
  }
  expect(readExample('provider', example, 0).runs).toEqual([
    { request: { entry_point: 'request', input: { number: '1' } }, expected: { url: 'u' } },
    { request: { entry_point: 'parse', input: { status: 200 } }, expected: {} },
  ])
})

test('an example of any other shape is shown and not run', () => {
  expect(readExample(null, 'nonsense', 2)).toEqual({ name: 'Example 3', parts: [], runs: [], hasConfig: false })
})

test('finds the reasons of one example and not of the tenth', () => {
  const reasons = ['/examples/1', '/examples/1/output', '/examples/10', '/inputs'].map((pointer) => ({
    code: 'example_mismatch',
    message: 'It differs.',
    pointer,
  }))
  expect(findExampleReasons(reasons, 1).map(({ pointer }) => pointer)).toEqual(['/examples/1', '/examples/1/output'])
})
