/** Plugins of the operator's folder, shared by all tenants, and signatures of publishers. */
import { generateKeyPairSync } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PluginManifest } from '#plugin/manifest.ts'
import { signPackage } from '#plugin/signature.ts'
import { createSimplePlugin, type ExamplePluginOptions } from '#test/support/example-plugin.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { adapterPlugin } from '#test/support/plugins.ts'
import { startSecondProcess } from '#test/support/second-process.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { seedPlugins } from './folder-seeds.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')
const privatePem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string

let w: TestApp
let t: ExampleTenant
let folder: string
beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-plugins-'))
  w = await startTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(async () => {
  await w?.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

const call = async (at: string, body?: unknown) =>
  w.call(at, { token: await t.token(), ...(body !== undefined && { body }) })

function write(name: string, plugin_key: string, options: ExamplePluginOptions = {}): void {
  const { manifest, files } = createSimplePlugin(plugin_key, options)
  fs.mkdirSync(path.join(folder, name), { recursive: true })
  fs.writeFileSync(path.join(folder, name, 'plugin.json'), JSON.stringify(manifest))
  fs.writeFileSync(path.join(folder, name, 'main.js'), files['main.js'])
}

async function seedFolder() {
  const steps: string[] = []
  const faults: string[] = []
  await seedPlugins({
    steward: w.seedContext.steward,
    threads: w.kernel.threads,
    folder,
    onStep: (text) => steps.push(text),
    onFault: (text) => faults.push(text),
  })
  return { steps, faults }
}

test('seeds each package once for all tenants, and reports those that cannot be used', async () => {
  write('good', 'folder-good')
  write('failing', 'folder-failing', { source: 'export function factor() { throw new Error("always") }' })
  fs.writeFileSync(path.join(folder, 'broken.json'), '{"manifest": {')
  fs.writeFileSync(path.join(folder, 'notes.txt'), 'not a package')
  const first = await seedFolder()
  expect(first.steps).toEqual(['plugin folder-failing version 1.0.0, pending', 'plugin folder-good version 1.0.0'])
  expect(first.faults).toEqual([
    expect.stringContaining('plugin broken.json was not seeded'),
    expect.stringContaining('plugin failing was seeded and cannot run: example_failed'),
  ])
  expect(await seedFolder()).toEqual({ steps: [], faults: [expect.stringContaining('broken.json')] })

  expect((await call('GET /plugins/folder-good')).json).toMatchObject({
    origin: 'shared',
    runs: true,
    active: { version: 1, via: 'shared' },
  })
  expect(
    (await call('POST /plugins/folder-good/versions/1/run', { input: { country: 'AE', directors: 2 } })).json,
  ).toMatchObject({ output: { score_bps: 800 } })
  expect((await call('GET /plugins/folder-failing')).json).toMatchObject({ active: null, runs: false })
  const outsider = await ExampleTenant.create(w)
  const seen = await w.call('GET /plugins?key_prefix=folder-', { token: await outsider.token() })
  expect(seen.json.items.map(({ plugin_key }: { plugin_key: string }) => plugin_key)).toEqual([
    'folder-failing',
    'folder-good',
  ])
})

test('a later version waits, tenants can pin and disable, and may have their own under the key', async () => {
  write('good', 'folder-good', { version: '1.1.0' })
  expect((await seedFolder()).steps).toEqual(['plugin folder-good version 1.1.0, pending'])
  expect((await call('GET /plugins/folder-good')).json.active.version).toBe(1)
  const pinned = await call('POST /plugins/folder-good/pin', { version: 2, reason: 'Tried first' })
  expect([pinned.status, pinned.json.version]).toEqual([201, 2])
  expect((await call('GET /plugins/folder-good')).json.active).toMatchObject({ version: 2, via: 'tenant-pin' })
  await call('POST /plugins/folder-good/unpin', { reason: 'Done' })
  await call('POST /plugins/folder-good/disable', { reason: 'Not used here' })
  const outsider = await ExampleTenant.create(w)
  const other = await w.call('GET /plugins/folder-good', { token: await outsider.token() })
  expect([(await call('GET /plugins/folder-good')).json.runs, other.json.runs]).toEqual([false, true])
  const own = await call('POST /plugins', {
    plugin_key: 'folder-good',
    package: createSimplePlugin('folder-good', { version: '9.0.0' }),
  })
  expect([own.status, own.json.origin]).toEqual([201, 'own'])
  const changed = await w.call('POST /plugins/folder-good/versions', {
    token: await outsider.token(),
    body: { package: createSimplePlugin('folder-good', { version: '9.0.0' }) },
  })
  expect([changed.status, changed.json.code]).toEqual([409, 'transition_not_allowed'])
})

test('the same version with other content is reported and not stored', async () => {
  write('good', 'folder-good', { version: '1.1.0', title: 'Other' })
  expect(await seedFolder()).toMatchObject({
    steps: [],
    faults: [expect.anything(), expect.stringContaining('version 1.1.0 of folder-good exists with other content')],
  })
})

test('runs a plugin only with the signature of a publisher where one is required', async () => {
  const publishers = new Map([['acme', key]])
  const strict = await startSecondProcess(w, { plugin_policy: { hosts: [], publishers, requires_signature: true } })
  try {
    const plugin_key = 'signed-plugin'
    const unsigned = createSimplePlugin(plugin_key)
    await call('POST /plugins', { plugin_key, package: unsigned })
    const forged = { publisher: 'acme', signature: Buffer.alloc(64, 1).toString('base64') }
    const uploads = [
      { ...createSimplePlugin(plugin_key, { version: '1.0.1' }), signature: forged },
      sign(createSimplePlugin(plugin_key, { version: '1.0.2' })),
    ]
    for (const content of uploads) {
      expect((await call(`POST /plugins/${plugin_key}/versions`, { package: content })).status).toBe(201)
    }
    const token = await t.token()
    const codes = async (at: string) => {
      const { json } = await strict.get(`/api${at}`, token)
      return json.reasons.map(({ code }: { code: string }) => code)
    }
    expect(await codes(`/plugins/${plugin_key}/versions/1`)).toEqual(['signature_invalid'])
    expect(await codes(`/plugins/${plugin_key}/versions/2`)).toEqual(['signature_invalid'])
    expect(await codes(`/plugins/${plugin_key}/versions/3`)).toEqual([])
    // Where none is required, an unsigned one runs.
    expect((await call(`GET /plugins/${plugin_key}/versions/1`)).json.runs).toBe(true)
  } finally {
    await strict.close()
  }
})

test('a signature of an unknown publisher keeps a plugin from running, also where none is required', async () => {
  const plugin_key = 'signed-elsewhere'
  const { status, json } = await call('POST /plugins', { plugin_key, package: sign(createSimplePlugin(plugin_key)) })
  expect([status, json.runs, json.reasons]).toEqual([
    ...[201, false, [{ code: 'signature_invalid', message: expect.stringContaining('acme is not known') }]],
  ])
})

test('says what is wrong with an upload', async () => {
  const broken = await call('POST /plugins', { plugin_key: 'not-base64', zip: '!!!not base64' })
  expect([broken.status, broken.json.detail]).toEqual([409, 'The member "zip" is not Base64.'])
  const misnamed = await call('POST /plugins', { plugin_key: 'signals', package: createSimplePlugin('site-visits') })
  expect([misnamed.status, misnamed.json.detail]).toEqual([
    409,
    expect.stringContaining('names the plugin site-visits'),
  ])
  expect((await call('GET /plugins/signals')).status).toBe(404)
  const reserved = await call('POST /plugins', { plugin_key: 'new', package: createSimplePlugin('new') })
  expect([reserved.json.code, reserved.json.detail]).toEqual([
    ...['list_key_reserved', '"new" is part of a path and cannot be the key of a plugin.'],
  ])
})

test('one item of the folder that cannot be used does not keep the service from starting', async () => {
  fs.mkdirSync(path.join(folder, 'a-folder', 'plugin.json'), { recursive: true })
  write('reserved', 'extension-points')
  write('other-kind', 'folder-good')
  const { manifest } = adapterPlugin('folder-good')
  fs.writeFileSync(path.join(folder, 'other-kind', 'plugin.json'), JSON.stringify({ ...manifest, version: '7.0.0' }))
  fs.writeFileSync(path.join(folder, 'other-kind', 'plugin.js'), adapterPlugin().files['plugin.js'] as string)
  write('zz-last', 'folder-last')
  const { steps, faults } = await seedFolder()
  expect(steps).toEqual(['plugin folder-last version 1.0.0'])
  expect(faults).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^plugin a-folder was not seeded: EISDIR/),
      'plugin reserved was not seeded: "extension-points" is part of a path and cannot be the key of a plugin.',
      expect.stringContaining('plugin other-kind was not seeded: folder-good is a plugin of kind factor'),
    ]),
  )
})

test('says where a reason is in the manifest', async () => {
  const plugin_key = 'incomplete'
  const { manifest, files } = createSimplePlugin(plugin_key)
  const { title: _, ...rest } = manifest
  await call('POST /plugins', { plugin_key, package: { manifest: rest, files } })
  const { json } = await call(`POST /plugins/${plugin_key}/versions/1/run`, { input: {} })
  expect(json.detail).toBe('The plugin incomplete cannot run: This member is required (at /title of plugin.json).')
})

test('two uploads of a new key at the same time are one after the other', async () => {
  const plugin_key = 'at-once'
  const body = (version: string) => ({ plugin_key, package: createSimplePlugin(plugin_key, { version }) })
  const [same, again, other] = await Promise.all(
    ['1.0.0', '1.0.0', '1.0.0'].map((version) => call('POST /plugins', body(version))),
  )
  expect([same, again, other].map((reply) => [reply?.status, reply?.json.version])).toEqual([
    ...[1, 2, 3].map(() => [201, 1]),
  ])
})

function sign(content: ReturnType<typeof createSimplePlugin>) {
  const signed = { manifest: content.manifest as unknown as PluginManifest, source: content.files['main.js'] }
  return { ...content, signature: signPackage(signed, 'acme', privatePem) }
}
