/**
 * `npm run docs`: writes the documents generated from the declarations: docs/endpoints.md,
 * docs/proofs/vectors.json and db/migrations/checksums.txt.
 * `npm run docs -- schema`: also those read from a migrated database, docs/schema.sql and a table in docs/security.md, for
 * which a PostgreSQL is started. `npm run docs -- examples`: also the examples of the OpenAPI document in src/app/examples,
 * recorded from every operation and every problem. Tests compare all of them.
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
function runTests(options, setting) {
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
  const env = { ...process.env, [setting]: '1' }
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...options], { cwd: root, stdio: 'inherit', env })
  if (status !== 0) process.exitCode = status ?? 1
}

const runs = {
  schema: () => runTests(['test/documents.test.ts', 'test/deploy/documents.test.ts'], 'PROBITY_WRITE_DOCS'),
  examples: () =>
    runTests(
      ['test/isolation/endpoints.test.ts', 'test/http/problems.test.ts', '-t', 'succeeds with its fixture|provoked'],
      'PROBITY_WRITE_EXAMPLES',
    ),
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !Object.hasOwn(runs, name))
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. The options are ${Object.keys(runs).join(' and ')}.`)
  process.exitCode = 1
} else {
  await writeDeclaredDocuments()
  for (const name of wanted) runs[name]()
}
