/** All routes of one family of definitions: matrices and rules differ in their names only. */
import type { Route } from '#kernel/route.ts'
import { createActivationRoutes } from './activation-routes.ts'
import { createCaseRoutes } from './cases/routes.ts'
import { createDefinitionRoutes } from './definitions/routes.ts'
import { createDefinitionSchemas, type DefinitionKind } from './schema.ts'
import { createVersionRoutes } from './versions/routes.ts'

export function createAllRoutes(kind: DefinitionKind): Route[] {
  const schemas = createDefinitionSchemas(kind)
  return [
    ...createDefinitionRoutes(kind, schemas),
    ...createVersionRoutes(kind, schemas),
    ...createCaseRoutes(kind, schemas),
    ...createActivationRoutes(kind, schemas),
  ]
}
