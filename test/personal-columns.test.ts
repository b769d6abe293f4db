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

/** Listed as live and in no class of erasures: what removes them, or why nothing has to. */
const SUBJECT =
  'The last step of an erasure overwrites the record and the reasons of its ratings, and removes its words.'
const STAFF = 'People who work with the service, who are no subjects; administrators change them.'
const PATH = 'What a path names: ids, and keys of configuration.'
const reachedOtherwise: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['external_id', 'name', 'segment', 'attributes', 'offboard_reason'].map((column) => [`subject.${column}`, SUBJECT]),
  ),
  'subject.earlier_content': 'Never stored.',
  'subject_word.word': SUBJECT,
  'rating.reason': SUBJECT,
  'erasure.reason': 'Removed when the erasure is done; those of withdrawn ones by the last step.',
  'change_request.params': PATH,
  'break_glass_review.params': PATH,
  'change_request.client': 'The name of a program.',
  'upload_chunk.bytes': 'Removed with its upload, which is searched.',
  ...Object.fromEntries(['subject', 'email', 'name', 'team'].map((column) => [`user_account.${column}`, STAFF])),
  'name_word.word': 'Follows the names of people who work with the service, and of lists.',
}

/** Columns that no erasure reaches, although personal data may stay in them. */
function listUnreached(live: readonly string[], erased: readonly string[]): string[] {
  const reached = new Set([...erased, ...Object.keys(reachedOtherwise)])
  return live.filter((column) => !reached.has(column) && !reached.has(`${column.split('.')[0]}.*`))
}

const erasedColumns = modules.flatMap(({ erases = [] }) => erases).flatMap(({ columns }) => columns)
const liveColumns = listed.flatMap(([, column = '', kind]) => (kind === 'live' ? [column] : []))

test('a text that stays readable is reached by an erasure, or has a reason why not', () => {
  expect(liveColumns.length).toBeGreaterThan(90)
  expect(listUnreached(liveColumns, erasedColumns)).toEqual([])
  // A reason that is no longer needed is removed, and so is one of a column that is gone.
  const needed = new Set(liveColumns.filter((column) => !erasedColumns.includes(column)))
  expect(Object.keys(reachedOtherwise).filter((column) => !needed.has(column))).toEqual([])
})

test('a text that no erasure reaches is found', () => {
  expect(listUnreached([...liveColumns, 'alert.story', 'upload.story'], erasedColumns)).toEqual(['alert.story'])
})

test('a column that is in neither list is found', () => {
  const schema =
    'create table app.alert (\n  alert_id uuid not null,\n  story text not null,\n  constraint alert_ck CHECK (true)\n);'
  expect(listContentColumns(schema)).toEqual(['alert.story'])
})
