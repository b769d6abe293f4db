/** All routes of one kind of document definition. */
import type { Route } from '#kernel/route.ts'
import { createActivationRoutes } from './activation-routes.ts'
import type { DefinitionKind } from './kind.ts'
import { createDefinitionSchemas } from './schema.ts'
import { createSettingsRoutes } from './settings-routes.ts'
import { createVersionRoutes } from './version-routes.ts'

export function createDefinitionRoutes(kind: DefinitionKind): Route[] {
  const schemas = createDefinitionSchemas(kind)
  return [
    ...createSettingsRoutes(kind, schemas),
    ...createVersionRoutes(kind, schemas),
    ...createActivationRoutes(kind, schemas),
  ]
}
