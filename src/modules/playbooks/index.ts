/** Public interface of playbooks: what an investigation gathers, by when, and how it may end, as versioned definitions. */
import type { Module } from '#kernel/module.ts'
import { declareReview } from '#kernel/request/declare-review.ts'
import { activationStore, createDefinitionRoutes, definitionSearch } from '#modules/definitions/index.ts'
import { listPluginDependents, listProviderDependents, reviewInForce } from './dependents.ts'
import { playbookKind } from './playbook-kind.ts'
import { playbookRoutes } from './routes.ts'
import { evaluationStep, providerStep, taskStep } from './step-kinds.ts'

export { findApplicable, toProviderInput } from './applicable-steps.ts'
export { readSubjectFacts, type SubjectContent } from './conditions.ts'
export { loadPlaybook } from './load-playbook.ts'
export type * as playbookModel from './model.ts'
export { playbookKind } from './playbook-kind.ts'
export { readPlaybookSeeds, seedPlaybooks } from './playbook-seeds.ts'
export { findStepProviders } from './step-providers.ts'
export { checkAddedStep, listPlaybookProviders, validatePlaybook } from './validate-playbook.ts'

export const playbooks: Module = {
  name: 'playbooks',
  segments: ['playbooks'],
  tier: 'domain',
  summary:
    'Playbooks: what an investigation gathers, by when, and how it may end, versioned and put in force like matrices.',
  routes: [...playbookRoutes, ...createDefinitionRoutes(playbookKind)],
  definition_kinds: [playbookKind],
  jobs: [],
  plugin_dependents: listPluginDependents,
  provider_dependents: listProviderDependents,
  step_kinds: [providerStep, evaluationStep, taskStep],
  search: {
    sources: [
      definitionSearch.createDefinitionSource({
        kind: 'playbook',
        family: 'playbook',
        title: 'Playbooks',
        noun: 'Playbook',
        operation: playbookKind.operations.get,
      }),
    ],
    unsearched: { getPlaybookVersion: 'A version is opened from its playbook.' },
  },
  canary: async () => {},
  reviews: {
    [activationStore.IN_FORCE_REVIEW]: declareReview({
      uses: ['caches', 'forced_provider_mode', 'modules'],
      begin: reviewInForce,
    }),
  },
}
