/** All routes of a decision kind: those of every definition, and validation, simulation and golden cases. */
import type { Route } from '#kernel/route.ts'
import { createDefinitionRoutes } from '#modules/definitions/index.ts'
import { createCaseRoutes } from './cases/routes.ts'
import type { DecisionKind } from './decision-kind.ts'

export const createDecisionRoutes = (kind: DecisionKind): Route[] => [
  ...createDefinitionRoutes(kind),
  ...createCaseRoutes(kind),
]
