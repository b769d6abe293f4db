/**
 * Architecture rules of the console: one module calls the server, areas do not import each other, file names and sizes.
 */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = import.meta.dirname
const sources = fs
  .readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.ts$/.test(file))
  .map((file) => ({ file: file.split(path.sep).join('/'), text: fs.readFileSync(path.join(root, file), 'utf8') }))

/** The imports of a file from the console, as paths below src. */
const listImports = ({ file, text }: (typeof sources)[number]): string[] =>
  [...text.matchAll(/(?:from|import)\s*\(?'(\.|#console\/)([^']+)'/g)].map(([, start, to]) =>
    start === '.' ? path.posix.join(path.posix.dirname(file), `.${to}`) : (to as string),
  )
const getArea = (file: string): string | undefined => /^areas\/([^/]+)\//.exec(file)?.[1]

test('finds the source files', () => {
  expect(sources.length).toBeGreaterThan(50)
  expect(sources.flatMap(listImports).length).toBeGreaterThan(200)
})

test('only the client calls the server', () => {
  const direct = sources.filter(({ text }) => /\bfetch\(|XMLHttpRequest|EventSource|WebSocket/.test(text))
  expect(direct.map(({ file }) => file)).toEqual(['oidc.ts'])
})

test('dates are formatted in one place', () => {
  const own = sources.filter(({ text }) =>
    /Intl\.DateTimeFormat\(.*\{|toLocale(Date|Time)String|toLocaleString\(undefined/.test(text),
  )
  expect(own.map(({ file }) => file)).toEqual(['ui/date-format.ts'])
})

test('areas import session and ui, which import no area', () => {
  const wrong = sources.flatMap((source) => {
    const from = getArea(source.file)
    // The table of areas imports every page, and the shell imports the sign-in page.
    if (['areas.ts', 'policy-areas.ts', 'shell/require-sign-in.tsx'].includes(source.file)) return []
    return (
      listImports(source)
        .filter((to) => getArea(to) !== undefined && getArea(to) !== from)
        // The home page offers the guided start.
        .filter((to) => !(from === 'home' && to === 'areas/guide/guided-start.tsx'))
        .map((to) => `${source.file} → ${to}`)
    )
  })
  expect(wrong).toEqual([])
})

test('files are short, start with a comment and have kebab-case names', () => {
  const odd = sources.filter(
    ({ file, text }) =>
      text.split('\n').length > 400 || !text.startsWith('/**') || !/^[a-z0-9-]+\.tsx?$/.test(path.posix.basename(file)),
  )
  expect(odd.map(({ file }) => file)).toEqual([])
})

/** Areas are folders even with one page: the check of imports between areas goes by the folder. */
const oneFileAreas = ['areas/api-docs', 'areas/search']

test('a folder has more than one file, apart from areas of one page', () => {
  const counts = new Map<string, number>()
  for (const { file } of sources) {
    const folder = path.posix.dirname(file)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  const single = [...counts].filter(([, count]) => count === 1).map(([folder]) => folder)
  expect(single.toSorted()).toEqual(oneFileAreas)
})
