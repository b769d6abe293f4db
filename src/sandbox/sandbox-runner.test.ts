/** How items run and end; hostile code is in attacks.test.ts. */
import { mkdtempSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { afterAll, describe, expect, test } from 'vitest'
import { ThreadAdmission } from '#kernel/thread-admission.ts'
import { threadsDir } from '#test/support/threads.ts'
import { hashBuild, SANDBOX_HASH, sandboxBuilds } from './builds.ts'
import type { EntryPoint, SandboxItem, SandboxResult } from './model.ts'
import { SandboxRunner } from './sandbox-runner.ts'

const script = path.join(threadsDir, 'sandbox.mjs')
const runner = new SandboxRunner({ script })
afterAll(() => runner.close())

const limits = { fuel: 200, memory_mib: 32 }

const runItems = (source: string, items: readonly SandboxItem[], entry_point: EntryPoint = 'factor') =>
  runner.run({ source, entry_point, items, limits })

const runOne = async (source: string, ...args: unknown[]): Promise<SandboxResult> =>
  (await runItems(source, [{ args: args.map((value) => JSON.stringify(value)) }]))[0] as SandboxResult

/** Of a factor with this body. */
const runBody = (body: string): Promise<SandboxResult> => runOne(`export function factor(inputs) { ${body} }`, {})

describe('entry points', () => {
  test('gives a factor its inputs, the lists and the configuration', async () => {
    const source = 'export const factor = (inputs, lists, config) => [inputs, typeof lists.get, config]'
    expect(await runOne(source, { a: 1 }, { b: 2 })).toEqual({
      ...{ ok: true, output: '[{"a":1},"function",{"b":2}]', fuel: 0, read: [] },
    })
  })

  test('gives the other entry points exactly their arguments', async () => {
    const source =
      'export const adapter = (...args) => args; export const parse = adapter; export const request = adapter'
    for (const entry_point of ['adapter', 'parse', 'request'] as const) {
      const [result] = await runItems(source, [{ args: ['1', '{"rows":[]}'] }], entry_point)
      expect(result).toMatchObject({ ok: true, output: '[1,{"rows":[]}]' })
    }
  })

  test('runs each item in a context of its own', async () => {
    const source = 'let n = 0; export const factor = () => ++n'
    const results = await runItems(
      source,
      Array.from({ length: 5 }, () => ({ args: ['{}'] })),
    )
    expect(results.map((result) => result.ok && result.output)).toEqual(['1', '1', '1', '1', '1'])
  })

  test('runs all items of a shared task in one context', async () => {
    const source = 'let n = 0; export const factor = () => ++n'
    const items = Array.from({ length: 3 }, () => ({ args: ['{}'] }))
    const results = await runner.run({ source, entry_point: 'factor', items, limits, is_shared: true })
    expect(results.map((result) => result.ok && result.output)).toEqual(['1', '2', '3'])
  })

  test('only loads the module when asked', async () => {
    const load = async (source: string) => (await runItems(source, [{ args: [], load_only: true }]))[0]
    expect(await load('export const factor = () => { throw new Error() }')).toMatchObject({ ok: true, output: 'null' })
    expect(await load('export const other = 1')).toMatchObject({ reason: 'export_missing' })
  })

  test.each([
    ['syntax', 'export const factor = \n\n 1 +;', 3],
    ['imports', 'import fs from "node:fs"; export const factor = () => 1', null],
    ['imports', 'export const factor = () => { import("node:fs"); return 1 }', null],
    ['imports', 'const fs = require("fs"); export const factor = () => 1', 1],
    ['export_missing', 'export const parse = () => 1', null],
    ['export_missing', 'export const factor = 1', null],
    ['export_missing', 'export default () => 1', null],
    ['load_failed', 'export const factor = () => 1\nthrow new Error("no")', 2],
    ['load_failed', 'JSON.parse("{"); export const factor = () => 1', 1],
    ['load_failed', 'await 1; export const factor = () => 1', null],
  ])('names the reason %s and the line when the module %j cannot be loaded', async (reason, source, line) => {
    expect(await runOne(source, {})).toMatchObject({ ok: false, reason, line })
  })

  test('reports what a plugin throws in at most 200 characters, with line and stack', async () => {
    const thrown = await runOne('export function factor() {\n  throw new RangeError("x".repeat(5000))\n}', {})
    expect(thrown).toMatchObject({ ok: false, reason: 'threw', line: 2 })
    if (thrown.ok || thrown.reason === 'needs_entries') throw new Error('it must fail')
    expect(thrown.message).toBe(`RangeError: ${'x'.repeat(188)}`)
    expect(thrown.stack).toContain('at factor (plugin.js:2:')
    expect(thrown.stack).not.toContain('prelude')
  })
})

describe('the language', () => {
  test.each([
    'Date',
    'eval',
    'setTimeout',
    'setInterval',
    'queueMicrotask',
    'fetch',
    'process',
    'console',
    'Intl',
    'crypto',
  ])('ends with not_available when %s is used', async (name) => {
    const result = await runBody(`return String(${name})`)
    expect(result).toMatchObject({ reason: 'not_available', message: `${name} is not available in a plugin` })
  })

  test('ends with not_available for randomness and for code made from text', async () => {
    const message = (result: SandboxResult) => !result.ok && 'message' in result && [result.reason, result.message]
    expect(message(await runBody('return Math.random()'))).toEqual([
      ...['not_available', 'Math.random is not available in a plugin'],
    ])
    for (const code of [
      'new Function("return 1")()',
      '(function* () {}).constructor("1")',
      '(async () => {}).constructor("1")',
    ]) {
      expect(message(await runBody(`return ${code}`))).toEqual([
        ...['not_available', 'The Function constructor is not available in a plugin'],
      ])
    }
  })

  test('lets a plugin ask whether something is available', async () => {
    const names = ['Date', 'fetch', 'require', 'WeakRef', 'SharedArrayBuffer', 'eval', 'Intl']
    expect(await runBody(`return [${names.map((name) => `typeof ${name}`).join()}].join()`)).toMatchObject({
      output: JSON.stringify(names.map(() => 'undefined').join()),
    })
  })

  test.each([
    'Object.prototype.x = 1',
    'Array.prototype.map = () => []',
    'JSON.stringify = () => "{}"',
    'globalThis.x = 1',
    'globalThis.JSON = {}',
    'String.prototype.isWellFormed = () => true',
    'Object.getPrototypeOf([].values()).next = () => ({ done: true })',
    'Object.getPrototypeOf(function* () {}).x = 1',
    'Object.getPrototypeOf(Uint8Array).from = 1',
  ])('refuses to change the built-ins: %s', async (code) => {
    expect(await runBody(`${code}; return 1`)).toMatchObject({ ok: false, reason: 'threw', message: /^TypeError/ })
  })

  test('lets classes of a plugin have their own name and toString', async () => {
    const source = `
      class Refusal extends Error { constructor() { super('m'); this.name = 'Refusal'; this.message = 'own' } }
      export const factor = () => { const o = {}; o.toString = () => 'mine'; return [new Refusal().name, String(o), new Refusal() instanceof Error] }`
    expect(await runOne(source, {})).toMatchObject({ output: '["Refusal","mine",true]' })
  })
})

describe('outputs', () => {
  test.each([
    ['NaN', 'return NaN'],
    ['Infinity in a member', 'return { a: { b: -1 / 0 } }'],
    ['a promise', 'return Promise.resolve(1)'],
    ['a BigInt', 'return { a: 1n }'],
    ['a function', 'return { a() {} }'],
    ['a symbol', 'return Symbol("a")'],
    ['nothing', 'return'],
    ['a gap in an array', 'return [1, , 2]'],
    ['a cycle', 'const a = {}; a.a = a; return a'],
    ['a map', 'return new Map([[1, 2]])'],
    ['typed arrays', 'return new Uint8Array(2)'],
    ['an instance of a class', 'return new (class Result { a = 1 })()'],
    ['half of a surrogate pair', 'return "\\ud800"'],
    ['half of a surrogate pair in a name', 'return { "\\udc00": 1 }'],
    ['a level too many', 'let a = 1; for (let i = 0; i < 21; i++) a = [a]; return a'],
  ])('refuses %s with output_not_json', async (_title, body) => {
    expect(await runBody(body)).toMatchObject({ ok: false, reason: 'output_not_json' })
  })

  test('names the member that is not JSON', async () => {
    expect(await runBody('return { list: [1, { x: NaN }] }')).toMatchObject({ message: 'The member /list/1/x is NaN' })
  })

  test('accepts 20 levels, leaves out undefined members and keeps names such as __proto__', async () => {
    expect(await runBody('let a = 1; for (let i = 0; i < 20; i++) a = [a]; return a')).toMatchObject({ ok: true })
    const text = '{"__proto__":{"a":1},"b":0}'
    expect(await runBody(`return { ...JSON.parse('${text}'), c: undefined }`)).toMatchObject({ output: text })
  })

  test('accepts 256 KiB and refuses one byte more', async () => {
    expect(await runBody('return "x".repeat(262142)')).toMatchObject({ ok: true })
    expect(await runBody('return "x".repeat(262143)')).toMatchObject({ ok: false, reason: 'output_too_large' })
    expect(await runBody('return "é".repeat(131072)')).toMatchObject({ ok: false, reason: 'output_too_large' })
    expect(await runBody('return new Array(100001).fill(0)')).toMatchObject({ ok: false, reason: 'output_too_large' })
  })
})

describe('list look-ups', () => {
  const source = 'export const factor = ({ country }, lists) => lists.get("countries", country)'
  const run = async (entries: SandboxItem['entries'], code = source) =>
    (await runItems(code, [{ args: ['{"country":"DE"}'], ...(entries && { entries }) }]))[0]

  test('ends with the entries it needs, and with them gives the result and what it read', async () => {
    const needed = [{ list_key: 'countries', key: 'DE' }]
    expect(await run({ countries: {} })).toEqual({ ok: false, reason: 'needs_entries', needed, fuel: 0 })
    expect(await run({ countries: { DE: { risk: 'low' } } })).toEqual({
      ...{ ok: true, output: '{"risk":"low"}', fuel: 0, read: needed },
    })
    expect(await run({ countries: { DE: null } })).toMatchObject({ ok: true, output: 'null', read: needed })
  })

  test('asks for several entries in one round', async () => {
    const code = 'export const factor = (_, lists) => lists.getMany("countries", ["DE", "FR", "DE"])'
    expect(await run({ countries: { FR: null } }, code)).toMatchObject({
      needed: [{ list_key: 'countries', key: 'DE' }],
    })
    expect(await run({ countries: { FR: null, DE: {} } }, code)).toMatchObject({ output: '[{},null,{}]' })
  })

  test('needs the entry even when the plugin handles the exception', async () => {
    const code = 'export const factor = (_, lists) => { try { lists.get("countries", "DE") } catch {} return 1 }'
    expect(await run({ countries: {} }, code)).toMatchObject({ ok: false, reason: 'needs_entries' })
    const endless = 'export const factor = (_, lists) => { try { lists.get("countries", "DE") } catch {} for (;;) {} }'
    expect(await run({ countries: {} }, endless)).toMatchObject({ ok: false, reason: 'needs_entries', fuel: 0 })
  })

  test('ends with list_undeclared for a list without a member in the entries', async () => {
    expect(await run({ sanctions: {} })).toMatchObject({ ok: false, reason: 'list_undeclared' })
    expect(await run(undefined)).toMatchObject({ ok: false, reason: 'list_undeclared' })
  })

  test.each(['DE\\u0000zz', 'D\\ud800'])(
    'refuses the key %s, which no list can have, instead of cutting it',
    async (key) => {
      const entries = { countries: { DE: { risk: 'low' }, D: {} } }
      for (const look of [`lists.get("countries", "${key}")`, `lists.getMany("countries", ["DE", "${key}"])`]) {
        const found = await run(entries, `export const factor = (_, lists) => ${look}`)
        expect(found).toMatchObject({ ok: false, reason: 'threw', message: expect.stringContaining('valid Unicode') })
      }
      const list = `export const factor = (_, lists) => lists.get("countries${key.slice(key.indexOf('\\'))}", "DE")`
      expect(await run(entries, list)).toMatchObject({ ok: false, reason: 'threw' })
    },
  )

  test('takes strings only', async () => {
    const code = 'export const factor = (_, lists) => lists.get("countries", 1)'
    expect(await run({ countries: {} }, code)).toMatchObject({ ok: false, reason: 'threw' })
  })
})

describe('limits', () => {
  test('ends a loop over fuel at the same count every time', async () => {
    for (let round = 0; round < 3; round++) {
      expect(await runBody('for (;;) {}')).toMatchObject({ ok: false, reason: 'fuel', fuel: 201 })
    }
    const fuels = new Set<number>()
    for (let round = 0; round < 3; round++) fuels.add((await runBody('for (let i = 0; i < 3e5; i++); return 1')).fuel)
    expect([...fuels]).toHaveLength(1)
    expect([...fuels][0]).toBeGreaterThan(10)
  })

  test('counts the fuel of loading', async () => {
    expect(await runOne('for (;;) {}', {})).toMatchObject({ ok: false, reason: 'fuel' })
  })

  test('ends with memory also when the plugin handles the exception', async () => {
    const fill = 'const all = []; for (;;) all.push(new Uint8Array(1e6))'
    expect(await runBody(fill)).toMatchObject({ ok: false, reason: 'memory' })
    expect(await runBody(`try { ${fill} } catch {} return 1`)).toMatchObject({ ok: false, reason: 'memory' })
  })

  test('gives an item the same memory whatever ran before', async () => {
    const half = 'export const factor = () => new Uint8Array(12e6).length'
    const results = await runItems(
      half,
      Array.from({ length: 4 }, () => ({ args: ['{}'] })),
    )
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true, true])
  })

  test('refuses a task with too many items or too much text', async () => {
    const items = Array.from({ length: 201 }, () => ({ args: ['1'] }))
    await expect(runItems('export const factor = () => 1', items)).rejects.toThrow(RangeError)
    const large = [{ args: [JSON.stringify('x'.repeat(4 * 1024 * 1024))] }]
    await expect(runItems('export const factor = () => 1', large)).rejects.toThrow(RangeError)
  })
})

describe('the backstop', () => {
  const loop = 'export const factor = ({ n }) => n === 1 ? Array(1e8).join("abcdefgh").length : n'
  const items = [0, 1, 2].map((n) => ({ args: [JSON.stringify({ n })] }))
  const tight = { script, base_ms: 60, ms_per_fuel: 0 }

  test('ends a native loop after three attempts and gives the other items their results', async () => {
    const other = new SandboxRunner(tight)
    try {
      const task = { source: loop, entry_point: 'factor' as const, items, limits }
      const results = await other.run(task)
      expect(results.map((result) => (result.ok ? result.output : result.reason))).toEqual(['0', 'native_loop', '2'])
      // Known: it does not run again.
      expect(await other.run({ ...task, items: items.slice(1, 2) })).toMatchObject([{ reason: 'native_loop' }])
    } finally {
      await other.close()
    }
  })

  test('ends a shared run as a whole, and with its first native loop where the caller asks for no more', async () => {
    const other = new SandboxRunner(tight)
    try {
      const task = { source: loop, entry_point: 'factor' as const, items, limits }
      const toReasons = (results: readonly SandboxResult[]) =>
        results.map((result) => (result.ok ? result.output : result.reason))
      const shared = await other.run({ ...task, is_shared: true, shared_fuel: 0 })
      expect(toReasons(shared)).toEqual(['native_loop', 'native_loop', 'native_loop'])
      expect(toReasons(await other.run(task, { ends_with_native_loop: true }))).toEqual(['0', 'native_loop'])
    } finally {
      await other.close()
    }
  })

  test('blames the machine, not the plugin, while other threads run', async () => {
    const admission = new ThreadAdmission({ threads: 4, per_caller: 4 })
    const kind = { name: 'other', max_running: () => 4, max_waiting: 1 }
    const slot = await admission.acquire({ kind, caller: 'other' })
    const other = new SandboxRunner({ ...tight, admission })
    try {
      const task = { source: loop, entry_point: 'factor' as const, items: items.slice(1, 2), limits }
      await expect(other.run(task)).rejects.toMatchObject({ name: 'ThreadFailure', reason: 'time' })
    } finally {
      slot.release()
      await other.close()
    }
  })
})

describe('builds', () => {
  test('keeps the hash of every build', () => {
    expect([...sandboxBuilds.keys()]).toEqual([SANDBOX_HASH])
    // A changed prelude or rule is a new build beside the old one: decisions name the build they were made with.
    expect(SANDBOX_HASH).toBe('1bf38a1b0607dd553ab18d7bc4ba66d45e29cc0618259774a25edf5ea9a929e6')
  })

  test('runs each task with the build that it names', async () => {
    const { upgradedBuild } = await import('#test/support/sandbox-with-two-builds.ts')
    const folder = mkdtempSync(path.join(threadsDir, 'two-builds-'))
    const outfile = path.join(folder, 'sandbox.mjs')
    const entry = path.join(import.meta.dirname, '../../test/support/sandbox-with-two-builds.ts')
    const shared = { bundle: true, platform: 'node', format: 'esm', target: 'node20' } as const
    const js = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"
    await build({ ...shared, entryPoints: [entry], outfile, banner: { js }, logLevel: 'warning' })
    const upgraded = new SandboxRunner({ script: outfile })
    try {
      const task = { source: 'export const factor = () => typeof UPGRADED', entry_point: 'factor' as const, limits }
      const items = [{ args: ['1'] }]
      const runWith = async (sandbox_hash: string) => upgraded.run({ ...task, items, sandbox_hash })
      expect(await runWith(SANDBOX_HASH)).toMatchObject([{ output: '"undefined"' }])
      expect(await runWith(hashBuild(upgradedBuild))).toMatchObject([{ output: '"boolean"' }])
    } finally {
      await upgraded.close()
      rmSync(folder, { recursive: true })
    }
  })

  test('fails for a build that does not exist', async () => {
    const task = {
      source: '',
      entry_point: 'factor' as const,
      items: [{ args: ['1'] }],
      limits,
      sandbox_hash: '0'.repeat(64),
    }
    await expect(runner.run(task)).rejects.toThrow('There is no sandbox build')
  })
})
