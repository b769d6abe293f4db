/**
 * The areas of the console in the order of the navigation. Routes, navigation and search are built from this table. An
 * area is visible to users who may call the operation it `needs`.
 */
import type { OperationId } from '@probity/client'
import type { ComponentType } from 'react'
import type { IconName } from './ui/icons.tsx'

export const groups = ['Work', 'Policy', 'Evidence', 'Administration', 'Developers'] as const

type LoadPage = () => Promise<{ default: ComponentType }>

export interface Area {
  readonly path: string
  readonly title: string
  readonly about: string
  readonly icon: IconName
  readonly group: (typeof groups)[number] | null
  /** operationId, or null if every signed-in user may open the area. */
  readonly needs: OperationId | null
  /** Shown without signing in. */
  readonly isPublic?: true
  /** Found by search and by links only, not in the navigation. */
  readonly isUnlisted?: true
  /** Each page is a separate chunk, loaded when it is opened. */
  readonly pages: Readonly<Record<string, LoadPage>>
}

export const areas: readonly Area[] = [
  {
    path: '/',
    title: 'Home',
    about: 'What needs you today, and the portfolio',
    icon: 'home',
    group: null,
    needs: null,
    isPublic: true,
    pages: { '/': () => import('./areas/home/home-page.tsx') },
  },
  {
    path: '/guide',
    title: 'Guided start',
    about: 'Bring in a list, rate a customer, change a threshold and replay the decision',
    icon: 'check',
    group: null,
    needs: null,
    isUnlisted: true,
    pages: { '/guide': () => import('./areas/guide/guide-page.tsx') },
  },
  {
    path: '/change-requests',
    title: 'Change requests',
    about: 'Changes waiting for approval',
    icon: 'approve',
    group: 'Work',
    needs: 'listChangeRequests',
    pages: {
      '/change-requests': () => import('./areas/change-requests/change-requests-page.tsx'),
      '/change-requests/$cr_id': () => import('./areas/change-requests/change-request-page.tsx'),
    },
  },
  {
    path: '/subjects',
    title: 'Subjects',
    about: 'Customers and other parties: records, ratings, overrides',
    icon: 'person',
    group: 'Work',
    needs: 'listSubjects',
    pages: {
      '/subjects': () => import('./areas/subjects/subjects-page.tsx'),
      '/subjects/upload': () => import('./areas/subjects/new-upload-page.tsx'),
      '/subjects/upload/$bulk_id': () => import('./areas/subjects/upload-page.tsx'),
      '/subjects/$subject_id': () => import('./areas/subjects/subject-page.tsx'),
    },
  },
  {
    path: '/evaluations',
    title: 'Evaluations',
    about: 'Decisions and their reasons: explanation, replay, what-if, certificate',
    icon: 'scale',
    group: 'Work',
    needs: 'listEvaluations',
    pages: {
      '/evaluations': () => import('./areas/evaluations/evaluations-page.tsx'),
      '/evaluations/new': () => import('./areas/evaluations/new-evaluation-page.tsx'),
      '/evaluations/compare': () => import('./areas/evaluations/compare-page.tsx'),
      '/evaluations/$evaluation_id': () => import('./areas/evaluations/evaluation-page.tsx'),
    },
  },
  {
    path: '/batches',
    title: 'Batches',
    about: 'Bulk evaluations: distribution, migration, failures',
    icon: 'batch',
    group: 'Work',
    needs: 'listBatchEvaluations',
    pages: {
      '/batches': () => import('./areas/batches/batches-page.tsx'),
      '/batches/new': () => import('./areas/batches/new-batch-page.tsx'),
      '/batches/schedules': () => import('./areas/batches/schedules-page.tsx'),
      '/batches/compare': () => import('./areas/batches/compare-page.tsx'),
      '/batches/$batch_id': () => import('./areas/batches/batch-page.tsx'),
    },
  },
  {
    path: '/jobs',
    title: 'Jobs',
    about: 'Background jobs: progress, results, errors',
    icon: 'work',
    group: 'Work',
    needs: 'listJobs',
    pages: {
      '/jobs': () => import('./areas/jobs/jobs-page.tsx'),
      '/jobs/$job_id': () => import('./areas/jobs/job-page.tsx'),
    },
  },
  {
    path: '/matrices',
    title: 'Matrices',
    about: 'How subjects are rated: factors, weights, bands, triggers',
    icon: 'grid',
    group: 'Policy',
    needs: 'listRiskMatrices',
    pages: {
      '/matrices': () => import('./areas/matrices/matrices-page.tsx'),
      '/matrices/$key': () => import('./areas/matrices/matrix-page.tsx'),
      '/matrices/$key/draft': () => import('./areas/matrices/matrix-draft-page.tsx'),
      '/matrices/$key/diff': () => import('./areas/matrices/matrix-difference-page.tsx'),
    },
  },
  {
    path: '/rules',
    title: 'Rules',
    about: 'Decision tables that return hit or no hit',
    icon: 'rule',
    group: 'Policy',
    needs: 'listRules',
    pages: {
      '/rules': () => import('./areas/rules/rules-page.tsx'),
      '/rules/import': () => import('./areas/rules/import-rules-page.tsx'),
      '/rules/$key': () => import('./areas/rules/rule-page.tsx'),
      '/rules/$key/draft': () => import('./areas/rules/rule-draft-page.tsx'),
      '/rules/$key/diff': () => import('./areas/rules/rule-difference-page.tsx'),
    },
  },
  {
    path: '/source-contracts',
    title: 'Source contracts',
    about: 'What answers of providers must look like: facts, quarantine, lineage, drift',
    icon: 'contract',
    group: 'Policy',
    needs: 'listSourceContracts',
    pages: {
      '/source-contracts': () => import('./areas/source-contracts/contracts-page.tsx'),
      '/source-contracts/new': () => import('./areas/source-contracts/new-contract-page.tsx'),
      '/source-contracts/quarantine': () => import('./areas/source-contracts/quarantine-page.tsx'),
      '/source-contracts/quarantine/$payload_id': () => import('./areas/source-contracts/quarantine-item-page.tsx'),
      '/source-contracts/$key': () => import('./areas/source-contracts/contract-page.tsx'),
      '/source-contracts/$key/draft': () => import('./areas/source-contracts/contract-draft-page.tsx'),
      '/source-contracts/$key/diff': () => import('./areas/source-contracts/contract-difference-page.tsx'),
    },
  },
  {
    path: '/datasets',
    title: 'Lists',
    about: 'Reference lists used by decisions: versions, differences, activations',
    icon: 'lists',
    group: 'Policy',
    needs: 'listDatasets',
    pages: {
      '/datasets': () => import('./areas/datasets/datasets-page.tsx'),
      '/datasets/$list_key': () => import('./areas/datasets/dataset-page.tsx'),
      '/datasets/$list_key/diff': () => import('./areas/datasets/diff-page.tsx'),
    },
  },
  {
    path: '/imports',
    title: 'Imports',
    about: 'List imports: preview, progress, rejected rows',
    icon: 'bring',
    group: 'Policy',
    needs: 'listImports',
    pages: {
      '/imports': () => import('./areas/imports/imports-page.tsx'),
      '/imports/new': () => import('./areas/imports/new-import-page.tsx'),
      '/imports/$import_id': () => import('./areas/imports/import-page.tsx'),
    },
  },
  {
    path: '/resolver',
    title: 'Resolver',
    about: 'Which version of a list was in force at a given time, and its entries',
    icon: 'clock',
    group: 'Policy',
    needs: 'resolveList',
    pages: { '/resolver': () => import('./areas/resolver/resolver-page.tsx') },
  },
  {
    path: '/types',
    title: 'Types',
    about: 'The fields and keys of list entries',
    icon: 'shape',
    group: 'Policy',
    needs: 'listDatasetTypes',
    pages: {
      '/types': () => import('./areas/types/types-page.tsx'),
      '/types/new': () => import('./areas/types/new-type-page.tsx'),
      '/types/$type_key': () => import('./areas/types/type-page.tsx'),
      '/types/$type_key/new-version': () => import('./areas/types/new-version-page.tsx'),
    },
  },
  {
    path: '/providers',
    title: 'Providers',
    about: 'Sources of facts outside: registers, screening services; status, budget, calls',
    icon: 'provider',
    group: 'Policy',
    needs: 'listProviders',
    pages: {
      '/providers': () => import('./areas/providers/providers-page.tsx'),
      '/providers/new': () => import('./areas/providers/new-provider-page.tsx'),
      '/providers/calls': () => import('./areas/providers/calls-page.tsx'),
      '/providers/calls/$call_id': () => import('./areas/providers/call-page.tsx'),
      '/providers/$key': () => import('./areas/providers/provider-page.tsx'),
      '/providers/$key/draft': () => import('./areas/providers/provider-draft-page.tsx'),
      '/providers/$key/diff': () => import('./areas/providers/provider-difference-page.tsx'),
    },
  },
  {
    path: '/plugins',
    title: 'Plugins',
    about:
      'Code of your own: scores of matrices, adapters of imports, providers; whether it runs and what depends on it',
    icon: 'plugin',
    group: 'Policy',
    needs: 'listPlugins',
    pages: {
      '/plugins': () => import('./areas/plugins/plugins-page.tsx'),
      '/plugins/new': () => import('./areas/plugins/new-plugin-page.tsx'),
      '/plugins/$key': () => import('./areas/plugins/plugin-page.tsx'),
      '/plugins/$key/upload': () => import('./areas/plugins/new-version-page.tsx'),
      '/plugins/$key/diff': () => import('./areas/plugins/plugin-difference-page.tsx'),
    },
  },
  {
    path: '/tools',
    title: 'AI tools',
    about: 'What AI assistants may do here, calls that wait for a person, and tool servers of other parties',
    icon: 'tools',
    group: 'Policy',
    needs: 'listTools',
    pages: {
      '/tools': () => import('./areas/tools/tools-page.tsx'),
      '/tools/approvals': () => import('./areas/tools/approvals-page.tsx'),
      '/tools/calls': () => import('./areas/tools/calls-page.tsx'),
      '/tools/calls/$call_id': () => import('./areas/tools/call-page.tsx'),
      '/tools/servers': () => import('./areas/tools/servers-page.tsx'),
      '/tools/servers/$server_key': () => import('./areas/tools/server-page.tsx'),
      '/tools/servers/$server_key/tools/$tool_name': () => import('./areas/tools/server-tool-page.tsx'),
    },
  },
  {
    path: '/audit',
    title: 'Audit record',
    about: 'Who changed what, with proof of integrity',
    icon: 'record',
    group: 'Evidence',
    needs: 'listAuditEvents',
    pages: {
      '/audit': () => import('./areas/audit/events-page.tsx'),
      '/audit/events/$event_id': () => import('./areas/audit/event-page.tsx'),
      '/audit/objects/$object_type/$object_id': () => import('./areas/audit/object-page.tsx'),
      '/audit/verify': () => import('./areas/audit/verify-page.tsx'),
      '/audit/exports': () => import('./areas/audit/exports-page.tsx'),
      '/audit/checkpoints': () => import('./areas/audit/checkpoints-page.tsx'),
    },
  },
  {
    path: '/restrictions',
    title: 'Restrictions',
    about: 'Who may see an investigation and what belongs to it: access lists, emergency access, access log',
    icon: 'lock',
    group: 'Evidence',
    needs: 'listRestrictions',
    pages: {
      '/restrictions': () => import('./areas/restrictions/restrictions-page.tsx'),
      '/restrictions/$restriction_id': () => import('./areas/restrictions/restriction-page.tsx'),
    },
  },
  {
    path: '/holds',
    title: 'Legal holds',
    about: 'What must not be deleted or erased until another person releases it',
    icon: 'hold',
    group: 'Evidence',
    needs: 'listHolds',
    pages: {
      '/holds': () => import('./areas/holds/holds-page.tsx'),
      '/holds/$hold_id': () => import('./areas/holds/hold-page.tsx'),
    },
  },
  {
    path: '/mlro',
    title: 'MLRO',
    about: 'Who is the designated money laundering reporting officer, confirmed by a second person',
    icon: 'person',
    group: 'Administration',
    needs: 'listMlroDesignations',
    pages: { '/mlro': () => import('./areas/restrictions/mlro-page.tsx') },
  },
  {
    path: '/users',
    title: 'Users',
    about: 'Users, roles and access',
    icon: 'people',
    group: 'Administration',
    needs: 'listUsers',
    pages: {
      '/users': () => import('./areas/users/users-page.tsx'),
      '/users/$user_id': () => import('./areas/users/user-page.tsx'),
    },
  },
  {
    path: '/api-keys',
    title: 'API keys',
    about: 'Keys for machine clients: rotation and usage',
    icon: 'key',
    group: 'Administration',
    needs: 'listApiKeys',
    pages: { '/api-keys': () => import('./areas/api-keys/api-keys-page.tsx') },
  },
  {
    path: '/provider-credentials',
    title: 'Provider credentials',
    about: 'Keys and certificates for providers: what is missing and what it blocks',
    icon: 'key',
    group: 'Administration',
    needs: 'listProviderCredentials',
    pages: {
      '/provider-credentials': () => import('./areas/provider-credentials/credentials-page.tsx'),
      '/provider-credentials/$credential_id': () => import('./areas/provider-credentials/credential-page.tsx'),
    },
  },
  {
    path: '/tenant',
    title: 'Tenant settings',
    about: 'Profile, approval policy, retention, tenant isolation',
    icon: 'tenant',
    group: 'Administration',
    needs: 'getTenant',
    pages: {
      '/tenant': () => import('./areas/tenant/profile-page.tsx'),
      '/tenant/approval-policy': () => import('./areas/tenant/approval-policy-page.tsx'),
      '/tenant/retention-policy': () => import('./areas/tenant/retention-policy-page.tsx'),
      '/tenant/isolation': () => import('./areas/tenant/isolation-page.tsx'),
    },
  },
  {
    path: '/operations',
    title: 'Operations',
    about: 'Server status and running jobs',
    icon: 'pulse',
    group: 'Administration',
    needs: 'createUser',
    pages: { '/operations': () => import('./areas/operations/operations-page.tsx') },
  },
  {
    path: '/api-docs',
    title: 'API documentation',
    about: 'Every operation, with requests you can send',
    icon: 'docs',
    group: 'Developers',
    needs: null,
    isPublic: true,
    pages: { '/api-docs': () => import('./areas/api-docs/api-docs-page.tsx') },
  },
]

/** Pages that are not in the navigation. */
export const unlistedPages: Readonly<Record<string, LoadPage>> = {
  '/search': () => import('./areas/search/search-page.tsx'),
  '/sign-in': () => import('./areas/sign-in/sign-in-page.tsx'),
  '/sign-in/callback': () => import('./areas/sign-in/callback-page.tsx'),
}

export function findArea(path: string): Area | undefined {
  return areas.find((area) =>
    area.path === '/' ? path === '/' : path === area.path || path.startsWith(`${area.path}/`),
  )
}

/** Without known permissions, only public areas are offered. */
export function filterAreas(operations: readonly string[] | null): readonly Area[] {
  return areas.filter((area) =>
    operations === null ? area.isPublic === true : area.needs === null || operations.includes(area.needs),
  )
}
