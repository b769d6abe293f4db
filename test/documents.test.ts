/** Generated documents are current. `npm run docs` writes those that come from the declarations. */
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { projectRoot } from './support/database.ts'
import { renderDeclaredDocuments } from './support/declared-documents.ts'
import { CHECKSUMS_FILE } from './support/landed.ts'
import { dumpSchema } from './support/schema-dump.ts'

const readDocument = (file: string): string => {
  const target = path.join(projectRoot, file)
  return fs.existsSync(target) ? fs.readFileSync(target, 'utf8') : ''
}

test('documents generated from the declarations are current', () => {
  const documents = Object.entries(renderDeclaredDocuments(projectRoot))
  expect(documents.map(([file]) => file)).toEqual(['docs/endpoints.md', 'docs/proofs/vectors.json', CHECKSUMS_FILE])
  const stale = documents.filter(([file, wanted]) => readDocument(file) !== wanted).map(([file]) => file)
  expect(stale, 'run "npm run docs" and commit them').toEqual([])
})

test('docs/endpoints.md lists endpoints with files, without line numbers', () => {
  const rows = readDocument('docs/endpoints.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  expect(rows.length).toBeGreaterThan(30)
  expect(rows.filter((row) => !/ src\/modules\/[\w/-]+\.ts \|$/.test(row))).toEqual([])
})

test('docs/schema.sql is the schema of a migrated database', async () => {
  const client = new pg.Client(inject('connections').postgres)
  await client.connect()
  const wanted = await dumpSchema(client).finally(() => client.end())
  if (process.env['PROBITY_WRITE_DOCS']) fs.writeFileSync(path.join(projectRoot, 'docs/schema.sql'), wanted)
  expect(
    readDocument('docs/schema.sql') === wanted,
    'docs/schema.sql is stale: run "npm run docs -- schema" and commit it',
  ).toBe(true)
})
