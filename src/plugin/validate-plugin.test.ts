/** Every kind of mis-authored plugin has its own reason. */
import { generateKeyPairSync } from 'node:crypto'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { SandboxRunner } from '#sandbox/sandbox-runner.ts'
import { adapterPlugin, factorPlugin, type PluginFiles, providerPlugin } from '#test/support/plugins.ts'
import { threadsDir } from '#test/support/threads.ts'
import { hashContent, type PackageContent, type PluginPackage, readPackage } from './package.ts'
import { REASON_CODES, type Reason } from './reasons.ts'
import { signPackage } from './signature.ts'
import { OFFLINE_CONTEXT, type ValidationContext, validatePlugin } from './validate-plugin.ts'

const script = path.join(threadsDir, 'sandbox.mjs')
const runner = new SandboxRunner({ script, base_ms: 1000 })
afterAll(() => runner.close())

const validate = async (given: Buffer | PackageContent, context: Partial<ValidationContext> = {}, by = runner) => {
  const read = await readPackage(given)
  if ('reasons' in read) return read.reasons
  return (await validatePlugin(by, read, { ...OFFLINE_CONTEXT, ...context })).reasons
}

const listCodes = (reasons: readonly Reason[]): string[] => [...new Set(reasons.map(({ code }) => code))]

const withManifest = (plugin: PluginFiles, change: Record<string, unknown>): PluginFiles => ({
  ...plugin,
  manifest: { ...plugin.manifest, ...change },
})
const withSource = (source: string, plugin = factorPlugin()): PluginFiles => ({
  ...plugin,
  files: { 'plugin.js': source },
})

/** The good factor with code before its own, or in place of its result. */
const withCode = (code: string): PluginFiles => withSource(`${code}\n${factorPlugin().files['plugin.js']}`)
const withResult = (expression: string): PluginFiles => withSource(`export const factor = (inputs) => (${expression})`)

interface ArchiveFile {
  readonly name: string
  readonly content: Buffer | string
  readonly mode?: number
}

async function zip(files: readonly ArchiveFile[]): Promise<Buffer> {
  const archive = new ZipFile()
  for (const { name, content, mode } of files) {
    archive.addBuffer(Buffer.from(content as string), name, mode === undefined ? {} : { mode })
  }
  archive.end()
  const chunks: Buffer[] = []
  for await (const chunk of archive.outputStream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const toFiles = ({ manifest, files }: PluginFiles): ArchiveFile[] => [
  { name: 'plugin.json', content: JSON.stringify(manifest) },
  ...Object.entries(files).map(([name, content]) => ({ name, content })),
]

/** Renames within the bytes: a writer of archives refuses such names. */
const rename = (archive: Buffer, from: string, to: string): Buffer =>
  Buffer.from(archive.toString('latin1').replaceAll(from, to), 'latin1')

describe('good plugins', () => {
  test.each([
    ['factor', factorPlugin()],
    ['adapter', adapterPlugin()],
    ['provider', providerPlugin()],
  ])('accepts a %s as JSON and as an archive, also of its folder, with the same hash', async (_kind, plugin) => {
    const inFolder = toFiles(plugin).map((file) => ({ ...file, name: `my-plugin/${file.name}` }))
    const forms = [plugin, Buffer.from(JSON.stringify(plugin)), await zip(toFiles(plugin)), await zip(inFolder)]
    const read = await Promise.all(forms.map((form) => readPackage(form)))
    expect(new Set(read.map((each) => ('source' in each ? hashContent(each) : each.reasons))).size).toBe(1)
    const result = await validatePlugin(runner, read[3] as PluginPackage, OFFLINE_CONTEXT)
    expect(result).toEqual({ valid: true, reasons: [], fuel_max: 0 })
  })

  test('reports the most fuel that an example used', async () => {
    const plugin = withCode('for (let i = 0; i < 1e5; i++);')
    const read = (await readPackage(plugin)) as PluginPackage
    const { valid, fuel_max } = await validatePlugin(runner, read, OFFLINE_CONTEXT)
    expect([valid, fuel_max && fuel_max > 1 && fuel_max < 200]).toEqual([true, true])
  })
})

/** Reasons that were provoked, to compare with the list of all. */
const provoked = new Set<string>(['version_conflict'])

const expectReason = (reasons: readonly Reason[], expected: Partial<Reason>): void => {
  expect(listCodes(reasons)).toEqual([expected.code])
  expect(reasons[0]).toMatchObject(expected)
  provoked.add(expected.code as string)
}

describe('packages', () => {
  const json = (text: string): Promise<Buffer> => zip([{ name: 'plugin.json', content: text }])

  test.each([
    ['no JSON', '{'],
    ['a name that occurs twice', '{"kind":"factor","kind":"adapter"}'],
    ['a byte order mark', '\ufeff{}'],
    ['nothing', ''],
  ])('manifest_unreadable: plugin.json holds %s', async (_title, text) => {
    expectReason(await validate(await json(text)), { code: 'manifest_unreadable' })
  })

  test('manifest_unreadable: bad UTF-8, no plugin.json, no archive, a damaged archive', async () => {
    const bad = await zip([{ name: 'plugin.json', content: Buffer.from([0x7b, 0xff, 0x7d]) }])
    const none = await zip([{ name: 'other.json', content: '{}' }])
    for (const bytes of [
      bad,
      none,
      Buffer.from('hello'),
      Buffer.from('[]'),
      Buffer.from('PK\x03\x04 not an archive'),
    ]) {
      expectReason(await validate(bytes), { code: 'manifest_unreadable' })
    }
    // What "xxxx" is in Base64.
    const [reason] = await validate(Buffer.from([0xc7, 0x1c, 0x71]))
    expect(reason?.message).toContain('neither a zip archive nor JSON')
  })

  test.each([
    ['an unknown member', { colour: 'red' }, '/colour'],
    ['a wrong key', { plugin_key: 'Not A Key' }, '/plugin_key'],
    ['a wrong version', { version: '1' }, '/version'],
    ['too much fuel', { limits: { fuel: 2001 } }, '/limits/fuel'],
    ['hosts for a factor', { permissions: { hosts: ['a.example'] } }, '/permissions/hosts'],
    ['an entry in another folder', { entry: '../plugin.js' }, '/entry'],
    ['a range that ends before it starts', { score_min_bps: 2, score_max_bps: 1 }, '/score_min_bps'],
  ])('manifest_invalid: %s, with its place', async (_title, change, pointer) => {
    expectReason(await validate(withManifest(factorPlugin(), change)), { code: 'manifest_invalid', pointer })
  })

  test('manifest_invalid: a missing member, and an example that its own schema refuses', async () => {
    const { title: _title, ...manifest } = factorPlugin().manifest
    expectReason(await validate({ ...factorPlugin(), manifest }), { code: 'manifest_invalid', pointer: '/title' })
    const [first, ...others] = factorPlugin().manifest['examples'] as object[]
    const examples = [{ ...first, input: { country: 'Germany', employees: 1 } }, ...others]
    const reasons = await validate(withManifest(factorPlugin(), { examples }))
    expect(reasons).toContainEqual(
      expect.objectContaining({ code: 'manifest_invalid', pointer: '/examples/0/input/country' }),
    )
  })

  test.each([
    ['kind', 'report', '/kind'],
    ['api', 2, '/api'],
  ])('kind_unknown: another %s', async (member, value, pointer) => {
    expectReason(await validate(withManifest(factorPlugin(), { [member]: value })), { code: 'kind_unknown', pointer })
  })

  test('entry_missing: the module is not in the package', async () => {
    expectReason(await validate({ ...factorPlugin(), files: {} }), { code: 'entry_missing', pointer: '/entry' })
  })

  const unsafe: readonly [title: string, bytes: () => Promise<Buffer>][] = [
    [
      'a name that leads out',
      async () =>
        rename(await zip([...toFiles(factorPlugin()), { name: 'xx/evil.js', content: '1' }]), 'xx/evil', '../evil'),
    ],
    [
      'an absolute name',
      async () =>
        rename(await zip([...toFiles(factorPlugin()), { name: 'x/evil.js', content: '1' }]), 'x/evil', '//evil'),
    ],
    [
      'a symbolic link',
      () => zip([...toFiles(factorPlugin()), { name: 'link', content: '/etc/passwd', mode: 0o120777 }]),
    ],
    [
      'an archive in the archive',
      async () => zip([...toFiles(factorPlugin()), { name: 'more.bin', content: await zip(toFiles(factorPlugin())) }]),
    ],
    [
      'a file that unpacks to a thousand times its size',
      () => zip([...toFiles(factorPlugin()), { name: 'zeros', content: Buffer.alloc(20_000_000) }]),
    ],
    [
      'two files of one name',
      async () =>
        rename(await zip([...toFiles(factorPlugin()), { name: 'plugin.jx', content: '1' }]), 'plugin.jx', 'plugin.js'),
    ],
    ['too many files', () => zip(Array.from({ length: 101 }, (_, index) => ({ name: `f${index}`, content: '' })))],
  ]
  test.each(unsafe)('package_unsafe: %s', async (_title, bytes) => {
    expectReason(await validate(await bytes()), { code: 'package_unsafe' })
  })

  test('package_unsafe: a name that leads out of a JSON package', async () => {
    for (const name of ['../x.js', '/x.js', 'C:\\x.js', 'a/./b.js']) {
      const plugin = factorPlugin()
      expectReason(await validate({ ...plugin, files: { ...plugin.files, [name]: '' } }), { code: 'package_unsafe' })
    }
  })

  test('too_large: more than 256 KiB, packed or unpacked', async () => {
    const noise = Array.from({ length: 60_000 }, (_, index) => (index * 7919) % 99_991).join(' ')
    expectReason(await validate(Buffer.alloc(262_145, 32)), { code: 'too_large' })
    expectReason(await validate(withCode(`// ${noise}`)), { code: 'too_large' })
    expectReason(await validate(await zip(toFiles(withCode(`// ${noise}`)))), { code: 'too_large' })
  })
})

describe('modules', () => {
  test.each([
    ['syntax', 'export const x = ;', { line: 1 }],
    ['imports', 'import fs from "node:fs"', {}],
    ['imports', 'const fs = require("fs")', {}],
    ['load_failed', '\nnull.x', { line: 2 }],
    ['fuel', 'for (;;) {}', {}],
    ['memory', 'const all = []; for (;;) all.push(new Uint8Array(1e6))', {}],
    ['not_available', 'const now = Date.now()', { message: 'Date is not available in a plugin.' }],
  ] as const)('%s: %j', async (code, source, more) => {
    expectReason(await validate(withCode(source)), { code, ...more })
  })

  test.each([
    ['nothing', 'const factor = () => 1'],
    ['another name', 'export const score = () => 1'],
    ['no function', 'export const factor = { score_bps: 1 }'],
  ])('export_missing: the module exports %s', async (_title, source) => {
    expectReason(await validate(withSource(source)), { code: 'export_missing' })
  })

  test('export_missing: one of the two functions of a provider is missing', async () => {
    const source = providerPlugin().files['plugin.js']?.replace('export function parse', 'function parse') ?? ''
    expectReason(await validate(withSource(source, providerPlugin())), { code: 'export_missing' })
  })
})

describe('schemas and examples', () => {
  test.each([
    ['a keyword that is not available', { inputs: { $ref: 'http://evil.example' } }, '/inputs/$ref'],
    [
      'a pattern that is not linear',
      { inputs: { properties: { a: { pattern: '(a)\\1' } } } },
      '/inputs/properties/a/pattern',
    ],
    ['an unknown type', { outputs: { type: 'text' } }, '/outputs/type'],
    ['a schema that is none', { config_schema: { properties: { a: true } } }, '/config_schema/properties/a'],
  ])('schema_invalid: %s', async (_title, change, pointer) => {
    expectReason(await validate(withManifest(factorPlugin(), change)), { code: 'schema_invalid', pointer })
  })

  test('schema_invalid: the configuration in force does not fit', async () => {
    expectReason(await validate(factorPlugin(), { configuration: { few_employees: 'many' } }), {
      code: 'schema_invalid',
    })
  })

  test('gives examples and the tenant the defaults of config_schema', async () => {
    const examples = factorPlugin().manifest['examples'] as { config?: object }[]
    const bare = withManifest(factorPlugin(), { examples: examples.map(({ config: _, ...example }) => example) })
    expect(await validate(bare, { configuration: {} })).toEqual([])
    expectReason(await validate(bare, { configuration: { few_employees: -1 } }), { code: 'schema_invalid' })
  })

  test('examples_missing: fewer than three', async () => {
    const examples = (factorPlugin().manifest['examples'] as unknown[]).slice(1)
    expectReason(await validate(withManifest(factorPlugin(), { examples })), { code: 'examples_missing' })
    const { examples: _none, ...manifest } = factorPlugin().manifest
    expectReason(await validate({ ...factorPlugin(), manifest }), { code: 'examples_missing' })
  })

  test('example_mismatch: another output, with the differences', async () => {
    const plugin = withSource(factorPlugin().files['plugin.js']?.replace('9000', '8000') ?? '')
    expectReason(await validate(plugin), {
      code: 'example_mismatch',
      pointer: '/examples/1/output',
      differences: [{ pointer: '/score_bps', expected: 9500, actual: 8500 }],
    })
  })

  test('example_mismatch: a request that differs', async () => {
    const source = providerPlugin().files['plugin.js']?.replace("'GET'", "'POST'") ?? ''
    const reasons = await validate(withSource(source, providerPlugin()))
    expectReason(reasons, { code: 'example_mismatch', pointer: '/examples/0/request' })
  })

  test('example_failed: the module throws, or looks up what the example does not supply', async () => {
    const thrown = withResult("inputs.country === 'DE' ? null.x : {}")
    expect(await validate(thrown)).toContainEqual(
      expect.objectContaining({ code: 'example_failed', pointer: '/examples/0' }),
    )
    const looked = "export const factor = (inputs, lists) => lists.get('country-risk', 'FR')"
    expectReason(await validate(withSource(looked)), { code: 'example_failed' })
  })

  test.each([
    ['a score outside the range', "{ score_bps: 10001, reason_code: 'X' }"],
    ['a score that is no whole number', "{ score_bps: 0.5, reason_code: 'X' }"],
    ['a value outside the schema', "{ score_bps: 1, reason_code: 'X', values: { level: 'extreme' } }"],
    ['no score', "{ reason_code: 'X' }"],
    ['an unknown member', "{ score_bps: 1, reason_code: 'X', colour: 'red' }"],
    ['more than 256 KiB', "'x'.repeat(300000)"],
  ])('output_invalid: %s', async (_title, expression) => {
    expectReason(await validate(withResult(expression)), { code: 'output_invalid' })
  })

  test('output_invalid: a request to a host that the manifest does not name, or without https', async () => {
    for (const url of ['https://other.example/', 'http://registry.example/', 'https://a:b@registry.example/', 'x']) {
      const source = `export const request = () => ({ method: 'GET', url: '${url}' }); export const parse = () => ({ number: null, status: 'closed' })`
      const reasons = await validate(withSource(source, providerPlugin()))
      expect(reasons[0]).toMatchObject({ code: 'output_invalid', pointer: '/examples/0' })
    }
  })

  test('keeps_state: a variable of the module changes with each call', async () => {
    const counted = factorPlugin().files['plugin.js']?.replace('+ extra)', '+ extra + seen++)') ?? ''
    expectReason(await validate(withSource(`let seen = 0\n${counted}`)), { code: 'keeps_state' })
  })

  test.each([
    ['not_available', "{ score_bps: Math.floor(Math.random() * 10), reason_code: 'X' }"],
    ['not_available', "{ score_bps: setTimeout(() => 1), reason_code: 'X' }"],
    ['output_not_json', 'Promise.resolve({ score_bps: 1 })'],
    ['output_not_json', "{ score_bps: NaN, reason_code: 'X' }"],
    ['output_not_json', "{ score_bps: 1n, reason_code: 'X' }"],
    ['output_not_json', '() => 1'],
    ['output_not_json', '((a) => { a.a = a; return a })({})'],
  ])('%s: %s', async (code, expression) => {
    expectReason(await validate(withResult(expression)), { code: code as Reason['code'] })
  })

  test('permission_missing: a list that the manifest does not name', async () => {
    const source = "export const factor = (inputs, lists) => lists.get('other-list', 'x')"
    expectReason(await validate(withSource(source)), { code: 'permission_missing' })
  })

  test('permission_missing: a list that only an example supplies', async () => {
    const source = "export const factor = (inputs, lists) => lists.get('other-list', 'x')"
    const plugin = withSource(source)
    const examples = (plugin.manifest['examples'] as object[]).map((example) => ({
      ...example,
      lists: { 'other-list': { x: {} } },
    }))
    expectReason(await validate({ ...plugin, manifest: { ...plugin.manifest, examples } }), {
      code: 'permission_missing',
    })
  })

  test('native_loop: a built-in function that uses no fuel', async () => {
    const tight = new SandboxRunner({ script, base_ms: 60, ms_per_fuel: 0 })
    try {
      const plugin = withCode("Array(1e8).join('abcdefgh')")
      expectReason(await validate(plugin, {}, tight), { code: 'native_loop' })
    } finally {
      await tight.close()
    }
  })
})

describe('what the tenant and the operator decide', () => {
  const fields = (list_key: string) => (list_key === 'country-risk' ? ['code', 'level'] : undefined)

  test('list_unknown: the list is not in force, or lacks a member', async () => {
    expectReason(await validate(factorPlugin(), { findFields: () => undefined }), {
      ...{ code: 'list_unknown', pointer: '/permissions/lists/0' },
    })
    expectReason(await validate(factorPlugin(), { findFields: () => ['code'] }), { code: 'list_unknown' })
    expect(await validate(factorPlugin(), { findFields: fields, granted_lists: ['country-risk'] })).toEqual([])
  })

  test('permission_missing: the list or host is not granted, or the operator does not allow the host', async () => {
    expectReason(await validate(factorPlugin(), { findFields: fields, granted_lists: [] }), {
      code: 'permission_missing',
    })
    expectReason(await validate(providerPlugin(), { granted_hosts: [] }), { code: 'permission_missing' })
    expectReason(await validate(providerPlugin(), { granted_hosts: ['registry.example'], operator_hosts: [] }), {
      ...{ code: 'permission_missing', pointer: '/permissions/hosts/0' },
    })
  })

  test('contract_violated: the contract refuses a payload of the examples', async () => {
    const seen: unknown[] = []
    const checkContract = async (contract_key: string, payloads: readonly unknown[]) => {
      seen.push(contract_key, payloads.length)
      return ['The payload of the second example is refused.']
    }
    const reasons = await validate(providerPlugin(), { checkContract })
    expectReason(reasons, { code: 'contract_violated', pointer: '/contract_key' })
    expect(seen).toEqual(['company-registry', 3])
  })

  test('signature_invalid: missing where required, of an unknown publisher, or over other content', async () => {
    const pair = generateKeyPairSync('ed25519')
    const pem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    const public_key = pair.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')
    const publishers = [{ name: 'acme', public_key }]
    const read = (await readPackage(factorPlugin())) as PluginPackage
    const signed = { ...factorPlugin(), signature: signPackage(read, 'acme', pem) }
    const required = { publishers, require_signed: true }
    expect(await validate(signed, required)).toEqual([])
    expectReason(await validate(factorPlugin(), required), { code: 'signature_invalid' })
    expectReason(await validate(signed, { publishers: [] }), { code: 'signature_invalid' })
    expectReason(await validate(withManifest(signed, { title: 'Changed' }), { publishers }), {
      code: 'signature_invalid',
    })
    expectReason(await validate({ ...signed, signature: 'x' }), { code: 'signature_invalid' })
  })
})

test('provokes every reason but the one of an upload that conflicts', () => {
  expect([...provoked].sort()).toEqual([...REASON_CODES].sort())
})
