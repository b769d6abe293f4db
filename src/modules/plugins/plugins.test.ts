/** Plugins: upload, validation, settings and runs. */
import { RE2JS } from 're2js'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { SANDBOX_HASH } from '#sandbox/builds.ts'
import { createExamplePlugin, createSimplePlugin } from '#test/support/example-plugin.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { fixtures } from '#test/support/fixtures.ts'
import {
  codesOf,
  createProviderPlugin,
  expectInvalid,
  LIST,
  type PluginSuite,
  startPluginSuite,
} from '#test/support/plugin-suite.ts'
import type { TestApp } from '#test/support/test-app.ts'
import { bindPinnedPlugin, bindPlugin } from './bind-plugin.ts'
import { recordFailure } from './invocations.ts'
import { runPlugin } from './run-plugin.ts'

let s: PluginSuite
let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  s = await startPluginSuite()
  ;({ w, t } = s)
})
afterAll(() => s?.close())

describe('upload', () => {
  test('stores and validates a package, which then runs and can be activated', async () => {
    const plugin_key = s.newKey()
    const created = await s.upload(plugin_key, createSimplePlugin(plugin_key))
    expect([created.status, created.json.version, created.json.label, created.json.reasons]).toEqual([
      201,
      1,
      '1.0.0',
      [],
    ])
    expect(created.json.validation).toMatchObject({
      valid: true,
      sandbox_hash: SANDBOX_HASH,
      fuel_max: expect.any(Number),
    })
    expect((await s.run(plugin_key)).json).toMatchObject({
      output: { score_bps: 900, reason_code: 'DIRECTORS' },
      read: [],
    })
    expect((await s.run(plugin_key, '1.0.0')).status).toBe(200)
    expect((await s.activate(plugin_key, 1)).status).toBe(201)
    expect((await s.call(`GET /plugins/${plugin_key}`)).json).toMatchObject({
      kind: 'factor',
      runs: true,
      reasons: [],
      active: { version: 1, label: '1.0.0' },
    })
    const { json } = await s.call('GET /capabilities')
    expect(json.plugins).toContain(plugin_key)
  })

  test('returns 201 with reasons for an invalid package, 503 when it is run and 409 when it is activated', async () => {
    const plugin_key = s.newKey()
    const source = 'export function factor() { return { score_bps: 1, reason_code: "X" } }'
    const created = await s.upload(plugin_key, createSimplePlugin(plugin_key, { source }))
    expect([created.status, created.json.runs]).toEqual([201, false])
    expect(new Set(codesOf(created))).toEqual(new Set(['example_mismatch']))
    expect(created.json.reasons[0].differences.length).toBeGreaterThan(0)
    expectInvalid(await s.run(plugin_key), plugin_key, codesOf(created))
    const validated = await s.call(`POST /plugins/${plugin_key}/versions/1/validate`)
    expect([validated.status, validated.json.valid, codesOf(validated)]).toEqual([200, false, codesOf(created)])
    const refused = await s.activate(plugin_key, 1)
    expect([refused.status, refused.json.code, refused.json.gates[0].gate]).toEqual([409, 'gates_closed', 'proof'])
    expect(refused.json.gates[0].facts.reasons[0].code).toBe('example_mismatch')
    expect((await s.call(`GET /plugins/${plugin_key}`)).json.active).toBeNull()
  })

  test('says that examples are missing where their list is empty, and keeps the list', async () => {
    const plugin_key = s.newKey()
    const created = await s.upload(plugin_key, createSimplePlugin(plugin_key, { manifest: { examples: [] } }))
    expect([created.status, codesOf(created)]).toEqual([201, ['examples_missing']])
    expectInvalid(await s.run(plugin_key), plugin_key, ['examples_missing'])
    const only = await s.call(`POST /plugins`, {
      plugin_key: s.newKey(),
      package: { manifest: { examples: [] }, files: {} },
    })
    expect([only.status, codesOf(only)]).toEqual([201, ['manifest_invalid']])
  })

  test('keeps a package that cannot be read, with its reason', async () => {
    const plugin_key = s.newKey()
    const zip = Buffer.from('not an archive').toString('base64')
    const created = await s.call('POST /plugins', { plugin_key, zip })
    expect([created.status, codesOf(created), created.json.manifest]).toEqual([201, ['manifest_unreadable'], null])
    expectInvalid(await s.run(plugin_key), plugin_key, ['manifest_unreadable'])
    const large = createSimplePlugin(plugin_key, { source: `// ${'x'.repeat(300_000)}` })
    expect(codesOf(await s.uploadVersion(plugin_key, large))).toEqual(['too_large'])
    const other = createSimplePlugin('another-plugin', { version: '3.0.0' })
    const named = await s.uploadVersion(plugin_key, other)
    expect(named.json.reasons).toMatchObject([{ code: 'manifest_invalid', pointer: '/plugin_key' }])
  })

  test('returns the stored texts exactly, with their line breaks and every script', async () => {
    const plugin_key = s.newKey()
    const source = `${createSimplePlugin(plugin_key).files['main.js']}// e\u0301 \u202e 名簿\r\n`
    await s.upload(plugin_key, createSimplePlugin(plugin_key, { source, title: 'Ro\u0301le 名簿' }))
    const { json } = await s.call(`GET /plugins/${plugin_key}/versions/1/source`)
    expect(json.files).toEqual([{ path: 'main.js', text: source }])
    expect((await s.call(`GET /plugins/${plugin_key}/versions/1`)).json).toMatchObject({
      manifest: { title: 'Ro\u0301le 名簿' },
      runs: true,
    })
    const { rows } = await s.owner.query(
      `select object_id from app.audit_event where tenant_id = $1 and operation = 'getPluginSource'`,
      [t.tenant_id],
    )
    expect(rows).toEqual([{ object_id: expect.stringContaining(plugin_key) }])
  })

  test('refuses a schema beyond the limits and titles that change the direction of text, and shows neither', async () => {
    const plugin_key = s.newKey()
    const pattern = '^[a-z]{1,900}[0-9]{1,900}$'
    const config_schema = { properties: { a: { pattern }, b: { pattern }, c: { pattern } } }
    const compile = vi.spyOn(RE2JS, 'compile')
    const content = createSimplePlugin(plugin_key, { title: 'Acme \u202egnp', manifest: { config_schema } })
    const created = await s.upload(plugin_key, content)
    expect(created.json.reasons).toMatchObject([
      { code: 'schema_invalid', pointer: '/config_schema/properties/c/pattern' },
      { code: 'manifest_invalid', pointer: '/title' },
    ])
    const configured = await s.call(`PUT /plugins/${plugin_key}/configuration`, {
      ...{ configuration: { a: 'abc1' }, reason: 'First' },
    })
    expect([configured.status, configured.json.title, configured.json.reasons.length]).toEqual([200, plugin_key, 3])
    expect(compile).not.toHaveBeenCalled()
    // As if it had been accepted before there were limits.
    await s.asOwner(
      `update app.plugin_validation v set valid = true, reasons = '[]' from app.dataset d
        where d.dataset_id = v.dataset_id and d.list_key = $1`,
      [plugin_key],
    )
    expect((await s.call(`GET /plugins/${plugin_key}`)).json.reasons).toMatchObject([{ code: 'not_in_force' }])
    expect((await s.call(`POST /plugins/${plugin_key}/versions/1/validate`)).json).toMatchObject({ valid: true })
    expect((await s.run(plugin_key)).status).toBe(200)
    const refused = await s.call(`PUT /plugins/${plugin_key}/configuration`, {
      ...{ configuration: { a: 'ABC1' }, reason: 'Second' },
    })
    expect(refused.json.errors).toMatchObject([{ pointer: '#/configuration/a' }])
    compile.mockRestore()
  })

  test('gives the same version for the same content, and 409 for other content under the same version', async () => {
    const plugin_key = s.newKey()
    await s.upload(plugin_key, createSimplePlugin(plugin_key))
    expect((await s.upload(plugin_key, createSimplePlugin(plugin_key))).json.version).toBe(1)
    expect((await s.uploadVersion(plugin_key, createSimplePlugin(plugin_key))).json.version).toBe(1)
    const other = createSimplePlugin(plugin_key, { title: 'Other' })
    for (const reply of [await s.uploadVersion(plugin_key, other), await s.upload(plugin_key, other)]) {
      expect([reply.status, reply.json.code]).toEqual([409, 'version_conflict'])
    }
    const next = createSimplePlugin(plugin_key, { title: 'Other', version: '1.0.1' })
    expect((await s.upload(plugin_key, next)).json.code).toBe('version_conflict')
    expect((await s.uploadVersion(plugin_key, next)).json.version).toBe(2)
    const { json } = await s.call(`GET /plugins/${plugin_key}/diff?from=1&to=2`)
    expect(json.items.map(({ key }: { key: string }) => key)).toEqual(['manifest|title', 'manifest|version'])
    const { json: versions } = await s.call(`GET /plugins/${plugin_key}/versions`)
    expect(versions.items.map(({ label }: { label: string }) => label)).toEqual(['1.0.1', '1.0.0'])
  })

  test('needs exactly one form of the package, and refuses reserved keys', async () => {
    const content = createSimplePlugin('both')
    expect((await s.call('POST /plugins', { plugin_key: 'both', package: content, zip: 'eA==' })).status).toBe(409)
    expect((await s.call('POST /plugins', { plugin_key: 'both' })).status).toBe(409)
    expect((await s.upload('extension-points', createSimplePlugin('extension-points'))).json.code).toBe(
      'list_key_reserved',
    )
  })
})

describe('settings', () => {
  test('a configuration must fit the schema of the plugin, and is given to every run', async () => {
    const plugin_key = await s.createListReader()
    const at = `PUT /plugins/${plugin_key}/configuration`
    const refused = await s.call(at, { configuration: { surcharge_bps: 9000 }, reason: 'Stricter' })
    expect([refused.status, refused.json.code, refused.json.errors[0].pointer]).toEqual([
      409,
      'definition_invalid',
      '#/configuration/surcharge_bps',
    ])
    const before = await w.kernel.transactions.read(s.scope(), (tx) =>
      bindPlugin(w.kernel, tx, { plugin_key, kind: 'factor' }),
    )
    const changed = await s.call(at, { configuration: { surcharge_bps: 2000 }, reason: 'Stricter' })
    expect(changed.json).toMatchObject({ configuration: { surcharge_bps: 2000 }, configuration_revision: 1 })
    expect((await s.run(plugin_key)).json.output.score_bps).toBe(3500)
    const stale = await s.call(at, { configuration: {}, reason: 'x', expected_revision: 7 })
    expect([stale.status, stale.json.code]).toEqual([409, 'revision_stale'])
    const after = await w.kernel.transactions.read(s.scope(), (tx) =>
      bindPlugin(w.kernel, tx, { plugin_key, kind: 'factor' }),
    )
    expect([after.content_hash, after.configuration_hash === before.configuration_hash]).toEqual([
      before.content_hash,
      false,
    ])
  })

  test('hosts are granted to providers only, within what the operator allows', async () => {
    const factor = await s.createActive()
    const provider = s.newKey()
    await s.upload(provider, createProviderPlugin(provider, 'company-registry'))
    const replies = [
      await s.grant(factor, [], ['api.registry.example']),
      await s.grant(provider, [], ['api.elsewhere.example']),
    ]
    expect(replies.map(({ status, json }) => [status, json.code, json.errors[0].pointer])).toEqual([
      [409, 'definition_invalid', '#/hosts'],
      [409, 'definition_invalid', '#/hosts/0'],
    ])
    expect((await s.grant(provider, [], ['api.registry.example'])).status).toBe(200)
    // An upload that is not valid says nothing about the kind.
    const unreadable = s.newKey()
    await s.upload(unreadable, createSimplePlugin(unreadable))
    expect(
      (await s.uploadVersion(unreadable, createSimplePlugin('another-plugin', { version: '2.0.0' }))).json,
    ).toMatchObject({
      reasons: [{ code: 'manifest_invalid' }],
    })
    const refused = await s.grant(unreadable, [], ['api.registry.example'])
    expect([refused.status, refused.json.errors?.[0].pointer]).toEqual([409, '#/hosts'])
  })

  test('a list is granted only where it exists, for the tenant alone or shared', async () => {
    const plugin_key = s.newKey()
    await s.upload(plugin_key, createSimplePlugin(plugin_key))
    const own = `own-list-of-${plugin_key}`
    const refused = await s.grant(plugin_key, [LIST, own])
    expect([refused.status, refused.json.code, refused.json.errors[0].pointer]).toEqual([
      ...[409, 'definition_invalid', '#/lists/1'],
    ])
    expect(refused.json.detail).toBe('One of the lists does not exist.')
    await s.call('POST /reference-data/datasets', { list_key: own, type_key: LIST, title: 'Own scores' })
    expect((await s.grant(plugin_key, [LIST, own])).json.grants.lists).toEqual([LIST, own])
  })

  test('earlier grants and configurations cannot be changed or removed', async () => {
    const plugin_key = await s.createListReader()
    for (const table of ['plugin_grant', 'plugin_configuration', 'plugin_validation', 'plugin_invocation']) {
      const change = w.runtime.database.write(s.scope(), (tx) => tx.run(`delete from app.${table}`, []))
      await expect(change, table).rejects.toThrow()
    }
    expect((await s.run(plugin_key)).status).toBe(200)
  })
})

describe('runs', () => {
  test('a result that is wrong as a whole is named as such', async () => {
    const plugin_key = s.newKey()
    const source = `export function factor({ directors }) {
  return directors === 666 ? null : { score_bps: Math.max(0, 1000 - 100 * directors), reason_code: 'DIRECTORS' }
}
`
    await s.upload(plugin_key, createSimplePlugin(plugin_key, { source }))
    const reply = await s.run(plugin_key, 1, { country: 'AE', directors: 666 })
    expect(reply.json.detail).toBe(
      `The plugin ${plugin_key} failed (output_invalid): The output must be of type object.`,
    )
  })

  test('a fault of the plugin answers 503 plugin_failed with its reason, and stores nothing', async () => {
    const plugin_key = await s.createActive()
    const reply = await s.run(plugin_key, 1, { country: 'AE', directors: 666 })
    expect([reply.status, reply.json.code, reply.json.retryable]).toEqual([503, 'plugin_failed', false])
    expect(reply.json).toMatchObject({ plugin_key, version: 1, reason: 'threw', fuel: expect.any(Number) })
    expect(reply.headers['retry-after']).toBeUndefined()
    expect((await s.call(`GET /plugins/${plugin_key}/invocations`)).json).toMatchObject({
      items: [],
      last_30_days: { invocations: 0 },
    })
  })

  test('returns 404 before 503 for what does not exist', async () => {
    expect((await s.run('no-such-plugin')).status).toBe(404)
    const plugin_key = await s.createActive()
    await s.call(`POST /plugins/${plugin_key}/disable`, { reason: 'x' })
    expect((await s.run(plugin_key, 9)).status).toBe(404)
    // Another way to write version 1 is no version, as a malformed id is no id.
    for (const version of ['01', '0', '00001']) {
      expect((await s.call(`GET /plugins/${plugin_key}/versions/${version}`)).status, version).toBe(422)
    }
  })

  test('every operation that runs a plugin answers 404 for an unknown object first', async () => {
    const executing = w.kernel.routes.filter(({ executes, path }) => executes === 'plugin' && path.includes(':'))
    expect(executing.map(({ id }) => id)).toContain('runPluginVersion')
    for (const route of executing) {
      const example = await fixtures[route.id]?.(t, 'policy_editor')
      const path = route.path.replace(/:(\w+)/g, (_, name: string) =>
        name.endsWith('_id') ? uuidv7() : name === 'version' ? '1' : 'no-such-object',
      )
      const reply = await s.call(`${route.method} ${path}`, example?.body)
      expect([route.id, reply.status]).toEqual([route.id, 404])
    }
  })

  test('a replay runs what was pinned, also where it may no longer run', async () => {
    const plugin_key = await s.createListReader()
    const wanted = { plugin_key, kind: 'factor' } as const
    const read = <T>(body: (tx: Tx) => Promise<T>) => w.kernel.transactions.read(s.scope(), body)
    await s.call(`PUT /plugins/${plugin_key}/configuration`, { configuration: { surcharge_bps: 1 }, reason: 'First' })
    const bound = await read((tx) => bindPlugin(w.kernel, tx, wanted))
    await s.call(`PUT /plugins/${plugin_key}/configuration`, { configuration: { surcharge_bps: 2 }, reason: 'Then' })
    await s.uploadVersion(plugin_key, createExamplePlugin(plugin_key, { version: '2.0.0' }))
    await s.activate(plugin_key, 2)
    await s.call(`POST /plugins/${plugin_key}/disable`, { reason: 'Not any more' })
    const { pointer, configuration_hash, sandbox_hash } = bound
    const pin = { pointer, configuration_hash, sandbox_hash }
    const pinned = await read((tx) => bindPinnedPlugin(w.kernel, tx, pin))
    expect(pinned).toEqual(bound)
    expect(pinned.configuration).toEqual({ surcharge_bps: 1 })
    const running = read((tx) => bindPinnedPlugin(w.kernel, tx, pin, { must_be_valid: true }))
    await expect(running).rejects.toMatchObject({ code: 'plugin_invalid', extra: { members: { version: 1 } } })
    const unknown = read((tx) => bindPinnedPlugin(w.kernel, tx, { ...pin, configuration_hash: '0'.repeat(64) }))
    await expect(unknown).rejects.toMatchObject({ code: 'content_corrupt' })
  })

  test('failures are listed with their stacks, and counted', async () => {
    const plugin_key = await s.createActive()
    const bound = await w.kernel.transactions.read(s.scope(), (tx) =>
      bindPlugin(w.kernel, tx, { plugin_key, kind: 'factor' }),
    )
    const items = [1, 666].map((directors) => ({ args: [JSON.stringify({ country: 'AE', directors }), '{}'] }))
    const results = await runPlugin(w.kernel, bound, { entry_point: 'factor', items }, { caller: t.tenant_id })
    expect(results.map(({ ok }) => ok)).toEqual([true, false])
    await recordFailure(w.kernel, s.scope(), bound, { results, caused_by: { kind: 'evaluation', id: null } })
    const { json } = await s.call(`GET /plugins/${plugin_key}/invocations?failed=true`)
    expect(json.items).toMatchObject([
      { version: 1, items: 2, failed: 1, cause: { kind: 'evaluation' }, failures: [{ item: 1, reason: 'threw' }] },
    ])
    expect(json.items[0].failures[0].stack).toContain('factor')
    // What it threw may quote a subject, and a record outlives the erasure of the subject.
    expect(results[1]).toMatchObject({ message: expect.stringContaining('refused number') })
    expect(json.items[0].failures[0].message).toMatch(/^It threw an error\. .* not kept/)
    expect(JSON.stringify(json)).not.toContain('refused number')
    expect(json.last_30_days).toMatchObject({ invocations: 1, items: 2, failed: 1 })
  })

  test('503 for a plugin that is not in force, whatever asks for it', async () => {
    const plugin_key = s.newKey()
    await s.upload(plugin_key, createSimplePlugin(plugin_key))
    const bound = w.kernel.transactions.read(s.scope(), (tx) =>
      bindPlugin(w.kernel, tx, { plugin_key, kind: 'factor' }),
    )
    await expect(bound).rejects.toMatchObject({
      code: 'plugin_invalid',
      extra: { members: { version: null, reasons: [{ code: 'not_in_force' }] } },
    })
    await s.activate(plugin_key, 1)
    const other = w.kernel.transactions.read(s.scope(), (tx) =>
      bindPlugin(w.kernel, tx, { plugin_key, kind: 'adapter' }),
    )
    await expect(other).rejects.toMatchObject({ extra: { members: { reasons: [{ code: 'kind_unknown' }] } } })
  })
})
