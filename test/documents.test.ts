/** Generated documents are true, or the build fails. `npm run docs` writes them. */
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { projectRoot } from './support/database.ts'
import { renderEndpoints } from './support/endpoints-document.ts'
import { renderProofVectors } from './support/proof-vectors.ts'
import { dumpSchema } from './support/schema-dump.ts'

function expectCurrent(file: string, wanted: string): void {
  const target = path.join(projectRoot, file)
  if (process.env['PROBITY_WRITE_DOCS']) fs.writeFileSync(target, wanted)
  const found = fs.existsSync(target) ? fs.readFileSync(target, 'utf8') : ''
  expect(found === wanted, `${file} is stale: run "npm run docs" and commit it`).toBe(true)
}

test('docs/endpoints.md lists every declared route', () => {
  const document = renderEndpoints(projectRoot, modules)
  expect(document.split('\n').filter((line) => line.startsWith('| `')).length).toBeGreaterThan(30)
  expectCurrent('docs/endpoints.md', document)
})

test('docs/proofs/vectors.json are the proofs the code makes', () => {
  expectCurrent('docs/proofs/vectors.json', renderProofVectors())
})

test('docs/schema.sql is the schema of a migrated database', async () => {
  const client = new pg.Client(inject('connections').postgres)
  await client.connect()
  try {
    expectCurrent('docs/schema.sql', await dumpSchema(client))
  } finally {
    await client.end()
  }
})
