/** What is built again, what earlier builds leave for running processes, and stacks that name the sources. */
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectRoot } from './support/database.ts'

let folder: string
let build: (options: { parts: string[] }) => Promise<string[]>

const write = (file: string, text: string): void => {
  fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
  fs.writeFileSync(path.join(folder, file), text)
}
const buildBundle = () => build({ parts: ['bundle'] })
const listChunks = () => fs.readdirSync(path.join(folder, 'dist')).filter((name) => /^chunk-.*\.mjs$/.test(name))
const runBundle = async () =>
  (await promisify(execFile)(process.execPath, [path.join(folder, 'dist/probity.mjs')])).stdout.trim()

/** A small project with the build script of this one. */
beforeAll(async () => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'probity-build-')))
  fs.symlinkSync(path.join(projectRoot, 'node_modules'), path.join(folder, 'node_modules'))
  for (const file of ['package.json', 'package-lock.json', 'scripts/build.mjs']) {
    write(file, fs.readFileSync(path.join(projectRoot, file), 'utf8'))
  }
  write('tsconfig.json', '{}')
  for (const thread of [
    'registry/import/import-thread',
    'registry/types/type-worker',
    'decision/analysis/analysis-worker',
    'contract/contract-worker',
    'sandbox/sandbox',
    'kernel/typesetting/compile-process',
  ])
    write(`src/${thread}.ts`, 'export {}')
  write('src/app/source-maps.ts', fs.readFileSync(path.join(projectRoot, 'src/app/source-maps.ts'), 'utf8'))
  write('src/app/failing.ts', 'export function fail(): never {\n  throw new Error("broken")\n}\n')
  const main =
    "const { fail } = await import('./failing.ts')\ntry { fail() } catch (error) { console.log((error as Error).stack) }"
  write(
    'src/app/main.ts',
    `import { mapStackTraces } from './source-maps.ts'\nmapStackTraces(import.meta.dirname)\n${main}\n`,
  )
  build = (await import(pathToFileURL(path.join(folder, 'scripts/build.mjs')).href)).build
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

test('builds what changed, and nothing when only times differ', async () => {
  expect(await buildBundle()).toEqual(['bundle'])
  expect(await buildBundle()).toEqual([])
  const file = path.join(folder, 'src/app/failing.ts')
  fs.utimesSync(file, new Date(), new Date())
  expect(await buildBundle()).toEqual([])
  const { atime, mtime } = fs.statSync(file)
  const text = fs.readFileSync(file, 'utf8')
  fs.writeFileSync(file, text.replace('broken', 'faulty'))
  fs.utimesSync(file, atime, mtime)
  expect(await buildBundle()).toEqual(['bundle'])
  fs.rmSync(path.join(folder, 'dist/probity.mjs'))
  expect(await buildBundle()).toEqual(['bundle'])
})

test('keeps chunks of an earlier build for a day', async () => {
  await buildBundle()
  const before = listChunks()
  fs.appendFileSync(path.join(folder, 'src/app/failing.ts'), 'export const added = 1\n')
  await buildBundle()
  expect(listChunks()).toEqual(expect.arrayContaining(before))
  const [old] = before as [string]
  const yesterday = new Date(Date.now() - 25 * 3_600_000)
  fs.utimesSync(path.join(folder, 'dist', old), yesterday, yesterday)
  fs.appendFileSync(path.join(folder, 'src/app/failing.ts'), 'export const another = 1\n')
  await buildBundle()
  expect(listChunks()).not.toContain(old)
})

test('shows the line of the source in a stack, and that of the bundle without its map', async () => {
  await buildBundle()
  expect(await runBundle()).toContain(`at fail (${path.join(folder, 'src/app/failing.ts')}:2:9)`)
  for (const chunk of listChunks()) fs.rmSync(path.join(folder, 'dist', `${chunk}.map`))
  expect(await runBundle()).toMatch(/at fail \(file:.*chunk-\w+\.mjs:\d+:\d+\)/)
})

test('only commands are loaded on demand: a server must not depend on files that a build replaces', () => {
  const sources = fs.readdirSync(path.join(projectRoot, 'src'), { recursive: true, encoding: 'utf8' })
  const lazy = sources.filter(
    (name) =>
      /(?<!\.test)\.ts$/.test(name) &&
      /[^.\w]import\(/.test(fs.readFileSync(path.join(projectRoot, 'src', name), 'utf8')),
  )
  // Binaries, undici and the client of the tool protocol are packages, not parts of the bundle. A server loads the examples before it listens (serve.ts).
  const allowed = [
    'app/api-examples.ts',
    'app/cli/commands.ts',
    'app/embedded/binaries.ts',
    'app/main.ts',
    'kernel/egress/egress.ts',
    'provider/tools/tool-connection.ts',
  ]
  expect(lazy.toSorted()).toEqual(allowed)
})
