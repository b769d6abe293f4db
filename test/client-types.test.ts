/** The client's types are those of the API that runs, or the build fails. `npm run docs` writes them. */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { generateClientTypes } from './support/client-types.ts'
import { projectRoot } from './support/database.ts'

test('client/types.ts describes every declared route', async () => {
  const wanted = await generateClientTypes(projectRoot, modules)
  for (const route of modules.flatMap((module) => module.routes)) expect(wanted).toContain(`operations["${route.id}"]`)
  const target = path.join(projectRoot, 'client/types.ts')
  if (process.env['PROBITY_WRITE_DOCS']) fs.writeFileSync(target, wanted)
  const found = fs.existsSync(target) ? fs.readFileSync(target, 'utf8') : ''
  expect(found === wanted, 'client/types.ts is stale: run "npm run docs" and commit it').toBe(true)
})
