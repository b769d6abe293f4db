/**
 * `npm run docs`: writes the documents generated from the declarations: docs/endpoints.md and docs/proofs/vectors.json.
 * `npm run docs -- schema`: also those read from a migrated database, docs/schema.sql and a table in docs/security.md, for
 * which a PostgreSQL is started. Tests compare all of them.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { importBundled } from './bundled-import.mjs'

const root = path.resolve(import.meta.dirname, '..')

async function writeDeclaredDocuments() {
  const { renderDeclaredDocuments } = await importBundled(
    `export { renderDeclaredDocuments } from '#test/support/declared-documents.ts'`,
  )
  for (const [file, text] of Object.entries(renderDeclaredDocuments(root))) {
    const target = path.join(root, file)
    if (fs.existsSync(target) && fs.readFileSync(target, 'utf8') === text) continue
    fs.writeFileSync(target, text)
    console.log(`wrote ${file}`)
  }
}

/** The tests that compare these documents write them instead, with the database the tests start. */
function writeDatabaseDocuments() {
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
  const command = [vitest, 'run', 'test/documents.test.ts', 'test/deploy/documents.test.ts']
  const env = { ...process.env, PROBITY_WRITE_DOCS: '1' }
  const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit', env })
  process.exitCode = status ?? 1
}

const unknown = process.argv.slice(2).filter((argument) => argument !== 'schema')
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. The only option is "schema".`)
  process.exitCode = 1
} else {
  await writeDeclaredDocuments()
  if (process.argv.includes('schema')) writeDatabaseDocuments()
}
