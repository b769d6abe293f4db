/** Every type of object that the audit record can name leads to a page of the console, or is listed with the reason. */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { hasObjectTarget, WITHOUT_PAGE } from '../../console/src/areas/audit/object-target.ts'
import { projectRoot } from '../support/database.ts'

/** An event of a route has the first part of its path as type; jobs and commands name theirs. */
function listObjectTypes(): string[] {
  const ofRoutes = modules.flatMap(({ routes }) =>
    routes
      .filter(
        ({ access, method, audited, stores_nothing }) =>
          access === 'tenant' && (method === 'GET' ? audited : !stores_nothing),
      )
      .map(({ path: at }) => at.split('/')[1] ?? ''),
  )
  const source = path.join(projectRoot, 'src')
  const ofOthers = fs
    .readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|fixtures\.ts$/.test(file))
    .flatMap((file) =>
      [...fs.readFileSync(path.join(source, file), 'utf8').matchAll(/object_type: '([a-z-]+)'/g)].map(
        ([, type]) => type ?? '',
      ),
    )
  return [...new Set([...ofRoutes, ...ofOthers])].sort()
}

test('every object type of the audit record has a page, or a reason why not', () => {
  const types = listObjectTypes()
  expect(types.length).toBeGreaterThan(25)
  expect(types.filter((type) => !hasObjectTarget(type) && !(type in WITHOUT_PAGE))).toEqual([])
  expect(types.filter((type) => hasObjectTarget(type) && type in WITHOUT_PAGE)).toEqual([])
  expect(Object.keys(WITHOUT_PAGE).filter((type) => !types.includes(type))).toEqual([])
})
