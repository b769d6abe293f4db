/** Every list of the console has an empty state. ListTable and PlainTable require one; this finds lists that use neither. */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = import.meta.dirname
const sources = fs
  .readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.tsx'))
  .map((file) => ({ file: file.split(path.sep).join('/'), text: fs.readFileSync(path.join(root, file), 'utf8') }))

/** Tables whose rows exist whenever they are shown. */
const ALWAYS_FILLED = [
  'areas/api-keys/usage-dialog.tsx',
  'areas/audit/event-page.tsx',
  'areas/audit/proof.tsx',
  'areas/home/portfolio-chart.tsx',
  'areas/tenant/approval-policy-page.tsx',
  'areas/tenant/isolation-page.tsx',
  'areas/tenant/retention-policy-page.tsx',
]
const components = ['ui/list.tsx', 'ui/plain-table.tsx']
const hasEmptyState = (text: string): boolean => /\bempty=\{|<EmptyState\b/.test(text)
const list = (wanted: (text: string) => boolean): string[] =>
  sources
    .filter(({ file, text }) => !components.includes(file) && wanted(text))
    .map(({ file }) => file)
    .sort()

test('a file that reads a paginated list shows an empty state', () => {
  expect(list((text) => /\busePages[<(]/.test(text)).length).toBeGreaterThan(15)
  expect(list((text) => /\busePages[<(]/.test(text) && !hasEmptyState(text))).toEqual([])
})

test('a table that is neither a ListTable nor a PlainTable always has rows', () => {
  expect(list((text) => /<Table\s+aria-label/.test(text))).toEqual(ALWAYS_FILLED)
})

test('an empty state says what is missing and what it is for', () => {
  const texts = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/(?:empty=\{\{|<EmptyState)\s+title(?:=|: )["']([^"']+)["']/g)].map(([, title = '']) => ({
      file,
      title,
    })),
  )
  expect(texts.length).toBeGreaterThan(20)
  expect(texts.filter(({ title }) => title.length < 8 || title.endsWith('.'))).toEqual([])
})
