/** Rules for new packages: what their examples may use together, their texts, and importing themselves. */
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { SandboxRunner } from '#sandbox/sandbox-runner.ts'
import { factorPlugin } from '#test/support/plugins.ts'
import { threadsDir } from '#test/support/threads.ts'
import type { ExampleRunner } from './examples.ts'
import { MAX_EXAMPLES_FUEL } from './manifest.ts'
import { type PluginPackage, readPackage } from './package.ts'
import { OFFLINE_CONTEXT, validatePlugin } from './validate-plugin.ts'

const runner = new SandboxRunner({ script: path.join(threadsDir, 'sandbox.mjs') })
afterAll(() => runner.close())

const createPlugin = (count: number, more: Record<string, unknown> = {}, before = '') => ({
  manifest: {
    ...factorPlugin().manifest,
    ...{ inputs: {}, outputs: {}, config_schema: {}, permissions: {} },
    examples: Array.from({ length: count }, (_, index) => ({
      ...{ name: `example ${index}`, input: { index }, output: { score_bps: 1, reason_code: 'A' } },
    })),
    ...more,
  },
  files: { 'plugin.js': `${before}\nexport const factor = () => ({ score_bps: 1, reason_code: 'A' })` },
})

async function validate(plugin: object, was_accepted = false, by: ExampleRunner = runner) {
  const read = (await readPackage(plugin as Parameters<typeof readPackage>[0])) as PluginPackage
  return (await validatePlugin(by, read, { ...OFFLINE_CONTEXT, was_accepted })).reasons
}

/** The real runner, with results as those of code that uses more fuel. */
function createHungryRunner(more_fuel: number) {
  const sent = { alone: 0, shared: [] as number[] }
  const run: ExampleRunner['run'] = async (task, options) => {
    const results = await runner.run(task, options)
    if (task.is_shared) sent.shared.push(task.items.length)
    else if (!task.items[0]?.load_only) sent.alone += results.length
    return results.map((result) => ({ ...result, fuel: result.fuel + more_fuel }))
  }
  return { run, sent }
}

describe('the examples of a plugin', () => {
  test('share one context, or several where they use much fuel', async () => {
    for (const [more_fuel, shared] of [
      [0, [7, 7]],
      [600, [2, 2, 2, 2, 3, 3]],
    ] as const) {
      const by = createHungryRunner(more_fuel)
      expect(await validate(createPlugin(7), false, by)).toEqual([])
      expect(by.sent.shared).toEqual(shared)
    }
  })

  test('are refused with the one at which all together have used too much, and no more of them run', async () => {
    const by = createHungryRunner(200)
    const [reason, ...others] = await validate(createPlugin(120), false, by)
    expect(reason).toMatchObject({ code: 'fuel', pointer: '/examples/50' })
    expect(reason?.message).toContain(`all together may use ${MAX_EXAMPLES_FUEL}`)
    expect([others, by.sent]).toEqual([[], { alone: 51, shared: [] }])
  })

  test('end with the first native loop', async () => {
    const tight = new SandboxRunner({ script: path.join(threadsDir, 'sandbox.mjs'), base_ms: 60, ms_per_fuel: 0 })
    try {
      const source = "export const factor = () => Array(1e8).join('abcdefgh').length"
      const reasons = await validate({ ...createPlugin(5), files: { 'plugin.js': source } }, false, tight)
      expect(reasons).toMatchObject([{ code: 'native_loop', pointer: '/examples/0' }])
    } finally {
      await tight.close()
    }
  })
})

describe('a rule for new packages', () => {
  const pattern = '^[a-z]{1,900}[0-9]{1,900}$'
  const large = { properties: { a: { pattern }, b: { pattern }, c: { pattern } } }
  const examples = createPlugin(3).manifest.examples as object[]
  test.each([
    ['a title that changes the direction of text', { title: 'Acme \u202egnp.exe' }, '', '/title'],
    ['a title of nothing visible', { title: '\u200b\u2060' }, '', '/title'],
    ['a description that changes the direction of text', { description: 'a\u2066b' }, '', '/description'],
    [
      'an example whose name changes the direction of text',
      { examples: [...examples, { ...examples[0], name: '\u202a' }] },
      '',
      '/examples/3/name',
    ],
    ['a schema with such a title', { config_schema: { title: 'a\u202eb' } }, '', '/config_schema/title'],
    ['patterns that are too large', { config_schema: large }, '', '/config_schema/properties/c/pattern'],
    ['itself as an import', {}, 'import * as own from "./plugin.js"', undefined],
    ['itself as an import by its bare name', {}, 'import { factor as own } from "plugin.js"', undefined],
  ])('refuses %s, and not in a package that was accepted before', async (_title, more, before, pointer) => {
    const plugin = createPlugin(3, more, before)
    const reasons = await validate(plugin)
    const code = before === '' ? (pointer?.startsWith('/config') ? 'schema_invalid' : 'manifest_invalid') : 'imports'
    expect(reasons).toMatchObject([{ code, ...(pointer !== undefined && { pointer }) }])
    expect(await validate(plugin, true)).toEqual([])
  })

  test('refuses a dynamic import of itself', async () => {
    const source = "export const factor = () => { import('./plugin.js'); return { score_bps: 1, reason_code: 'A' } }"
    const reasons = await validate({ ...createPlugin(3), files: { 'plugin.js': source } })
    expect(new Set(reasons.map(({ code }) => code))).toEqual(new Set(['imports']))
  })
})
