import { generateKeyPairSync } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readPackage } from '#plugin/package.ts'
import { REASON_CODES } from '#plugin/reasons.ts'
import { projectRoot } from '#test/support/database.ts'
import { threadsDir } from '#test/support/threads.ts'
import { main } from '../main.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-plugin-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))
const example = (name: string): string => path.join(projectRoot, 'docs/plugins', name)

async function run(...argv: string[]) {
  const said = { out: '', note: '' }
  const terminal = {
    out: (text: string) => (said.out += `${text}\n`),
    note: (text: string) => (said.note += `${text}\n`),
  }
  return {
    code: await main(['plugin', ...argv], {}, terminal, { owns_process: false, scripts_dir: threadsDir }),
    ...said,
  }
}

test('the guide says what to do about every reason', () => {
  const guide = fs.readFileSync(path.join(projectRoot, 'docs/plugins.md'), 'utf8')
  const atRun = ['not_in_force', 'disabled', 'not_validated', 'hash_mismatch']
  expect([...REASON_CODES, ...atRun].filter((code) => !guide.includes(`\`${code}\``))).toEqual([])
})

describe('plugin init', () => {
  test.each(['factor', 'adapter', 'provider'])('writes a %s that plugin check accepts', async (kind) => {
    const target = path.join(folder, `new-${kind}`)
    expect(await run('init', target, '--kind', kind)).toMatchObject({ code: 0 })
    expect(await run('check', target)).toMatchObject({
      code: 0,
      out: expect.stringMatching(`^Valid: ${kind} new-${kind} 0.1.0`),
    })
    expect(await run('init', target, '--kind', kind)).toMatchObject({
      code: 1,
      note: expect.stringContaining('is not empty'),
    })
  })

  test('refuses an unknown kind and a key that is none, with exit code 2', async () => {
    expect(await run('init', path.join(folder, 'x'), '--kind', 'report')).toMatchObject({ code: 2 })
    expect(await run('init', path.join(folder, 'Not A Key'), '--kind', 'factor')).toMatchObject({ code: 2 })
    expect(fs.existsSync(path.join(folder, 'x'))).toBe(false)
  })
})

describe('plugin check', () => {
  test.each(['shell-company-signals', 'demo-registry'])('accepts the example %s', async (name) => {
    const { code, out } = await run('check', example(name), '--json')
    expect([code, JSON.parse(out)]).toEqual([
      0,
      expect.objectContaining({ valid: true, plugin_key: name, reasons: [] }),
    ])
  })

  test('says where the broken example is wrong, with exit code 1', async () => {
    const { code, out } = await run('check', example('broken-example'))
    expect(code).toBe(1)
    expect(out).toBe(`NOT VALID: factor broken-example 0.1.0: 3 reasons.
  not_available at plugin.json /examples/0, plugin.js line 5: The example "a recent date": Date is not available in a plugin.
  not_available at plugin.json /examples/1, plugin.js line 5: The example "an old date": Date is not available in a plugin.
  example_mismatch at plugin.json /examples/2/output: The example "no date": the member /score_bps of factor differs from the expected output.
    /score_bps: expected 5000, got 4000
`)
  })

  test('reports what is missing in one sentence', async () => {
    expect(await run('check', path.join(folder, 'absent'))).toMatchObject({
      code: 1,
      note: expect.stringMatching(/does not exist\.\n$/),
    })
    fs.mkdirSync(path.join(folder, 'empty'))
    expect(await run('check', path.join(folder, 'empty'))).toMatchObject({
      code: 1,
      note: expect.stringMatching(/has no plugin\.json\.\n$/),
    })
    const text = path.join(folder, 'text.zip')
    fs.writeFileSync(text, 'hello')
    expect(await run('check', text)).toMatchObject({ code: 1, out: expect.stringContaining('manifest_unreadable') })
  })
})

describe('plugin pack', () => {
  test('writes a signed package that reads back, and the same bytes again', async () => {
    const key = path.join(folder, 'key.pem')
    const { privateKey } = generateKeyPairSync('ed25519')
    fs.writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const files = ['a.zip', 'b.zip'].map((name) => path.join(folder, name)) as [string, string]
    for (const file of files) {
      const options = ['--out', file, '--sign', key, '--publisher', 'acme']
      expect(await run('pack', example('shell-company-signals'), ...options)).toMatchObject({ code: 0 })
    }
    const [first, second] = files.map((file) => fs.readFileSync(file)) as [Buffer, Buffer]
    expect(first.equals(second)).toBe(true)
    expect(await readPackage(first)).toMatchObject({
      manifest: { plugin_key: 'shell-company-signals' },
      signature: { publisher: 'acme' },
    })
    expect(await run('check', files[0])).toMatchObject({ code: 0 })
  })

  test('writes nothing when the plugin is not valid', async () => {
    const out = path.join(folder, 'broken.zip')
    expect(await run('pack', example('broken-example'), '--out', out)).toMatchObject({ code: 1 })
    expect(fs.existsSync(out)).toBe(false)
    expect(await run('pack', example('broken-example'), '--out', out, '--sign', 'x')).toMatchObject({ code: 2 })
  })
})
