/** Names, comments, test titles, log lines, console and API texts, documents and commit subjects use plain engineering English. */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkSubject, readHistory } from './support/commit-subjects.ts'
import { findDenied } from './support/find-denied.ts'
import { findProjectTexts, readSourceTexts } from './support/source-texts.ts'

describe('texts of the project', () => {
  const hits = findProjectTexts().flatMap((text) => findDenied(text).map((word) => ({ ...text, word })))

  test('use no denied word', () => {
    const lines = hits.map(({ file, line, kind, word, text }) => `${file}:${line} ${kind} "${word}": ${text.trim()}`)
    expect(lines).toEqual([])
  })
})

describe('texts of one file', () => {
  test.each([
    ['src/a.ts', 'const tenantWall = 1', 'identifier'],
    ['src/a.ts', 'interface A { readonly wall_kind: string }', 'identifier'],
    ['src/a.ts', '/** Behind the wall. */\nconst a = 1', 'comment'],
    ['src/a.test.ts', "test('passes the wall', () => {})", 'test title'],
    ['src/a.test.ts', "test.each([1])('passes the wall', () => {})", 'test title'],
    ['src/a.test.ts', "describe.skipIf(a)('the wall', () => {})", 'test title'],
    ['src/a.ts', "log.warn({ a }, 'the wall is missing')", 'log line'],
    ['src/a.ts', "route({ summary: 'The wall' })", 'API text'],
    ['src/a.ts', `fail('a', { detail: \`The wall $\{name}\` })`, 'API text'],
    ['src/a.ts', "route({ description: 'Behind ' + 'the wall' })", 'API text'],
    ['src/a.ts', 'class A { #wall = 1 }', 'identifier'],
    ['src/a.ts', "const a = { 'first-wall': 1 }", 'identifier'],
    ['src/a.ts', "interface A { readonly 'first-wall': string }", 'identifier'],
    ['src/a.ts', "type A = 'wall' | 'queue'", 'literal type'],
    ['src/a.ts', "throw new Error('wall')", 'error text'],
    ['src/a.ts', "throw new InvalidExport('The wall is missing')", 'error text'],
    ['src/a.ts', "fail('a', 'wall')", 'error text'],
    ['src/a.ts', "metrics.addGauge({ help: 'Walls' })", 'API text'],
    ['src/a.ts', "const a = { message: 'wall' }", 'API text'],
    ['src/a.ts', "const a = { hint: 'wall' }", 'API text'],
    ['src/a.ts', 'const a = { reason: `wall` }', 'API text'],
    ['src/a.ts', "process.stdout.write('wall')", 'log line'],
    ['src/a.ts', "const a = [b, 'The wall ' + c]", 'prose'],
    ['src/a.ts', `const a = \`$\{ok ? 'The wall' : b} holds\``, 'prose'],
    ['console/src/a.tsx', 'const a = <p>The wall holds</p>', 'console text'],
    ['console/src/a.tsx', 'const a = <p title="The wall" />', 'console text'],
    ['console/src/a.ts', "const a = b ? 'The wall holds' : c", 'console text'],
  ] as const)('%s: finds the denied word in %s', (file, code, kind) => {
    const found = readSourceTexts(file, code).filter((text) => findDenied(text).length > 0)
    expect(found.map((text) => text.kind)).toEqual([kind])
  })

  test.each([
    "const key = 'wall'",
    "import { a } from './wall.ts'",
    'const requestsInFlight = 1',
    '// Measured by the wall clock, in flight, in app.wall().',
    'const wallet = outdoors',
  ])('finds nothing in %s', (code) => {
    expect(readSourceTexts('src/a.ts', code).flatMap(findDenied)).toEqual([])
  })

  test.each([
    'The row is decided anew',
    'stands twice, beside, here and after',
    'waits at the gate',
    'must lead through',
    'unless told otherwise',
    'the cause is mended',
    'forgetDestroyed',
    'rememberLoop',
    '.first-wall { color: red }',
  ])('finds the phrase in %s', (text) => {
    expect(findDenied({ kind: /\s/.test(text) && !text.startsWith('.') ? 'prose' : 'style', text })).not.toEqual([])
  })

  test('a name is split at capitals, underscores, hyphens and dots', () => {
    const names = ['FIRST_DOOR', 'firstDoor', 'HTTPDoor', 'src/first-door.ts', 'door']
    expect(names.flatMap((text) => findDenied({ kind: 'identifier', text }))).toEqual(names.map(() => 'door'))
  })
})

describe('subjects of commits', () => {
  test('name the change in plain words', ({ skip }) => {
    const history = readHistory()
    if ('unchecked' in history) return skip(`the history is shallow: ${history.unchecked} commits are not checked`)
    const faults = history.subjects.flatMap((subject) => checkSubject(subject).map((fault) => `"${subject}" ${fault}`))
    expect(faults).toEqual([])
  })

  test.each([
    ['jobs: add jitter to long-poll deadlines', []],
    ['console, docs: embed the font', []],
    ['new:module: focus on the first field', []],
    ['modules: pass at most four parameters', []],
    ["Merge branch 'widgets'", []],
    ['jobs: added jitter', ['begins with "added", which is no imperative']],
    ['jobs: kept the lock', ['begins with "kept", which is no imperative']],
    ['database: fixes the pool', ['begins with "fixes", which is no imperative']],
    ['database: renames the pool', ['begins with "renames", which is no imperative']],
    ['rename the pool', ['does not begin with the part that changes']],
    ['wip', ['does not begin with the part that changes', 'does not say what changes']],
    ['docs: regenerate', []],
    ['jobs: wip', ['does not say what changes']],
    ['src/kernel: renaming the pool', ['begins with "renaming", which is no imperative']],
    ['jobs: close the door', ['uses "door"']],
    [`jobs: add ${'a'.repeat(63)}`, ['has more than 72 characters']],
  ])('%s', (subject, faults) => {
    expect(checkSubject(subject)).toEqual(faults)
  })

  test('are read from the commit after the first, without merges', () => {
    const { git, folder } = createRepository()
    const first = git('rev-parse', 'HEAD').trim()
    git('commit', '--allow-empty', '-m', 'second')
    git('checkout', '-b', 'other', first)
    git('commit', '--allow-empty', '-m', 'third')
    git('merge', '--no-ff', '-m', 'merge', 'main')
    const history = readHistory(folder, first)
    expect('subjects' in history && history.subjects.toSorted()).toEqual(['second', 'third'])
  })

  test('are counted and not checked where the first commit is unknown', () => {
    const { folder } = createRepository()
    expect(readHistory(folder)).toEqual({ unchecked: 1 })
    expect(readHistory(os.tmpdir())).toEqual({ unchecked: 0 })
  })
})

function createRepository() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-git-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
  const git = (...args: string[]) =>
    execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
  git('init', '-b', 'main')
  git('commit', '--allow-empty', '-m', 'first')
  return { git, folder }
}
