import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readZipManifest } from './zip-manifest.ts'

const manifest = { plugin_key: 'shell_signals', version: '1.0.0' }

/** An archive with these files, as tools write it; `comment` follows its end record. */
function zip(files: Readonly<Record<string, string>>, { isStored = false, comment = '' } = {}) {
  const local: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const packed = isStored ? Buffer.from(text) : deflateRawSync(text)
    const head = Buffer.alloc(30)
    head.writeUInt32LE(0x04034b50, 0)
    head.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(isStored ? 0 : 8, 10)
    entry.writeUInt32LE(packed.length, 20)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(offset, 42)
    local.push(head, Buffer.from(name), packed)
    central.push(entry, Buffer.from(name))
    offset += 30 + name.length + packed.length
  }
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Object.keys(files).length, 10)
  end.writeUInt32LE(offset, 16)
  end.writeUInt16LE(comment.length, 20)
  return new Uint8Array(Buffer.concat([...local, ...central, end, Buffer.from(comment)]))
}

const files = { 'plugin.js': 'export {}', 'plugin.json': JSON.stringify(manifest) }

test('reads the manifest of an archive, packed or stored, in a folder and before a comment', async () => {
  const inFolder = Object.fromEntries(Object.entries(files).map(([name, text]) => [`signals/${name}`, text]))
  for (const bytes of [
    zip(files),
    zip(files, { isStored: true }),
    zip(inFolder),
    zip(files, { comment: 'made by us' }),
  ])
    expect(await readZipManifest(bytes)).toEqual(manifest)
})

test.each([
  ['no archive', new Uint8Array([1, 2, 3])],
  ['no manifest', zip({ 'plugin.js': 'export {}' })],
  ['a manifest in a deeper folder', zip({ 'a/b/plugin.json': '{}' })],
  ['a manifest that is no object', zip({ 'plugin.json': '[1]' })],
  ['a manifest that is no JSON', zip({ 'plugin.json': '{' })],
  ['a manifest that grows too large', zip({ 'plugin.json': `{"a":"${' '.repeat(300_000)}"}` })],
  ['a cut archive', zip(files).subarray(40)],
])('reads nothing from %s', async (_, bytes) => {
  expect(await readZipManifest(bytes)).toBeNull()
})
