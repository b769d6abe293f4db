/** Every column that can hold content about a subject is listed with what becomes of it. A new column needs a decision. */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { columnsWithoutPersonalData } from './support/columns-without-personal-data.ts'
import { projectRoot } from './support/database.ts'

const read = (file: string): string => fs.readFileSync(path.join(projectRoot, file), 'utf8')

/** Columns of text, JSON or bytes, as `table.column`. Tables of the kind `system` hold no data of tenants. */
function listContentColumns(schema: string): string[] {
  let table = ''
  let isSystem = false
  return schema.split('\n').flatMap((line) => {
    table = /^create table app\.(\w+)/.exec(line)?.[1] ?? table
    isSystem = line.startsWith('-- ') ? line.endsWith(': system') : isSystem
    const column = /^ {2}(?!constraint )(\w+) (?:text|jsonb?|bytea)(?:\[\])?(?:[ ,]|$)/.exec(line)?.[1]
    // Variables of functions come before the first table.
    return column === undefined || isSystem || table === '' ? [] : [`${table}.${column}`]
  })
}

const listed = [...read('docs/security.md').matchAll(/^\| `(\w+\.\w+)` \| (copy|live) \| \S.*\|$/gm)]
const without = Object.entries(columnsWithoutPersonalData).flatMap(([table, columns]) =>
  columns.split(' ').map((column) => `${table}.${column}`),
)

test('every column of text, JSON or bytes is in docs/security.md or listed as holding no personal data', () => {
  const columns = listContentColumns(read('docs/schema.sql'))
  expect(columns.length).toBeGreaterThan(300)
  expect([...listed.map(([, column]) => column), ...without].sort()).toEqual(columns.sort())
})

/** An erasure changes them too, and they hold no text that somebody typed. */
const withoutText = new Set([
  ...['alert.changes_since', 'alert.facts_salt', 'document.updated_by'],
  ...['change_request.content_hash', 'change_request.decided_by', 'change_request.state'],
])

test('a text that an erasure overwrites is listed, with its kind', () => {
  const live = new Set(listed.map(([, column]) => column))
  const content = new Set(listContentColumns(read('docs/schema.sql')))
  const overwritten = modules.flatMap(({ erases = [] }) => erases).flatMap(({ columns }) => columns)
  const missing = new Set(
    overwritten.filter((column) => content.has(column) && !live.has(column) && !withoutText.has(column)),
  )
  expect([...missing].sort()).toEqual([])
})

test('a column that is in neither list is found', () => {
  const schema =
    'create table app.alert (\n  alert_id uuid not null,\n  story text not null,\n  constraint alert_ck CHECK (true)\n);'
  expect(listContentColumns(schema)).toEqual(['alert.story'])
})
