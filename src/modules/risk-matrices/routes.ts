/** All routes of matrices, and of rules: those of every definition, and trying one before it is published. */
import type { Route } from '#kernel/route.ts'
import { createDefinitionRoutes } from '#modules/definitions/index.ts'
import { createCaseRoutes } from './cases/routes.ts'
import type { DecisionKind } from './decision-kind.ts'

export const createDecisionRoutes = (kind: DecisionKind): Route[] => [
  ...createDefinitionRoutes(kind),
  ...createCaseRoutes(kind),
]
