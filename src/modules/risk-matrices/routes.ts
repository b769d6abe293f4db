/** All routes of one family of definitions: matrices and rules differ in their names only. */
import type { Route } from '../../kernel/route.ts'
import { activationRoutes } from './activations/routes.ts'
import { caseRoutes } from './cases/routes.ts'
import { definitionRoutes } from './definitions/routes.ts'
import { type DefinitionKind, schemasOf } from './schema.ts'
import { versionRoutes } from './versions/routes.ts'

export function routesOf(kind: DefinitionKind): Route[] {
  const schemas = schemasOf(kind)
  return [
    ...definitionRoutes(kind, schemas),
    ...versionRoutes(kind, schemas),
    ...caseRoutes(kind, schemas),
    ...activationRoutes(kind, schemas),
  ]
}
