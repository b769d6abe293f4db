/** The process that typesets: limits, missing packages and fonts, and the same bytes each time. */
import { hash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { projectRoot } from '#test/support/database.ts'
import { threadsDir } from '#test/support/threads.ts'
import { ThreadAdmission } from '../thread-admission.ts'
import { PdfCompiler, type PdfSettings } from './pdf-compiler.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-fonts-'))
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

const newCompiler = (settings: Partial<PdfSettings> = {}) =>
  new PdfCompiler({
    script: path.join(threadsDir, 'compile-process.mjs'),
    admission: new ThreadAdmission({ threads: 1 }),
    fonts_dir: path.join(projectRoot, 'assets/fonts'),
    ...settings,
  })

const head = `#set document(title: "Test", date: datetime(year: 2026, month: 3, day: 2))
#set text(font: ("Noto Sans", "Noto Naskh Arabic", "Noto Sans Hebrew"), fallback: false, lang: "en")\n`
const toSource = (source: string, text = '') => ({
  source: head + source,
  inputs: { text },
  created_at: '2026-03-02T09:30:00Z',
})
const caller = { caller: 'test' }

test('gives the same bytes in two processes, and other bytes with another font', async () => {
  const source = toSource('#sys.inputs.text', 'محمد العلي')
  const [one, two] = await Promise.all(
    [newCompiler(), newCompiler()].map((compiler) => compiler.compile(source, caller)),
  )
  expect(hash('sha256', one as Buffer, 'hex')).toBe(hash('sha256', two as Buffer, 'hex'))
  expect((one as Buffer).subarray(0, 5).toString()).toBe('%PDF-')

  const fonts = path.join(projectRoot, 'assets/fonts')
  for (const name of fs.readdirSync(fonts)) fs.copyFileSync(path.join(fonts, name), path.join(folder, name))
  fs.copyFileSync(path.join(fonts, 'NotoNaskhArabic-Bold.ttf'), path.join(folder, 'NotoNaskhArabic-Regular.ttf'))
  const other = newCompiler({ fonts_dir: folder })
  expect(other.fonts).not.toEqual(newCompiler().fonts)
  expect((await other.compile(source, caller)).equals(one as Buffer)).toBe(false)
})

test('names the package and its fonts, and says when the package is missing', async () => {
  const compiler = newCompiler()
  expect(await compiler.findEngine()).toEqual({ name: 'typst-ts-node-compiler', version: '0.7.0' })
  expect(compiler.families).toEqual(['Noto Sans', 'Noto Naskh Arabic', 'Noto Sans Hebrew'])
  const missing = newCompiler({ package: '@myriaddreamin/missing' })
  expect(await missing.findEngine()).toBeNull()
  await expect(missing.compile(toSource('x'), caller)).rejects.toMatchObject({ reason: 'unavailable' })
})

test('names a character that no font has', async () => {
  await expect(newCompiler().compile(toSource('#sys.inputs.text', '王 ✓'), caller)).rejects.toMatchObject({
    reason: 'refused',
    message: expect.stringContaining('王 (U+738B) and 1 more'),
  })
})

test('kills a document that takes too long or too much memory', async () => {
  // Nested, since an array of all the numbers would exceed the limit of memory first.
  const endless = toSource(
    '#let n = 0\n#for i in range(10000) { for j in range(10000) { n = calc.rem(n + j, 7) } }\n#n',
  )
  await expect(newCompiler({ time_limit_ms: 400 }).compile(endless, caller)).rejects.toMatchObject({ reason: 'time' })
  const large = toSource('#let a = range(1000000).map(i => str(i) + "abcdefghijklmnopqrstuvwxyz0123456789")\n#a.len()')
  await expect(newCompiler({ memory_limit_mib: 90 }).compile(large, caller)).rejects.toMatchObject({ reason: 'memory' })
  const abort = new AbortController()
  const aborted = newCompiler().compile(endless, { ...caller, signal: abort.signal })
  abort.abort(new Error('stopped'))
  await expect(aborted).rejects.toThrow('stopped')
})

test('reads nothing of the machine', async () => {
  for (const file of ['/etc/passwd', '../../etc/passwd', 'x.txt'])
    await expect(newCompiler().compile(toSource(`#read("${file}")`), caller)).rejects.toMatchObject({
      reason: 'refused',
    })
})
