/** What the demo data is made of: each step with what it comes after, and the part of the data that it belongs to. */
import type { DemoCalendar } from './demo-calendar.ts'
import type { DemoCaller } from './demo-caller.ts'
import { seedCases, seedReports } from './demo-cases.ts'
import { seedPluginDecisions, seedPluginImport, seedPluginMatrix, seedTools } from './demo-extensions.ts'
import type { DemoFiles } from './demo-files.ts'
import {
  renewImpact,
  seedApprovalPolicy,
  seedAuditVerification,
  seedDrafts,
  seedProposals,
  seedSchedule,
} from './demo-governance.ts'
import { seedLists } from './demo-lists.ts'
import { seedDemoPlugins } from './demo-plugins.ts'
import { seedContractsAndProviders, seedFactReaders, seedProviderCalls } from './demo-providers.ts'
import {
  planFirstPortfolio,
  planLastNight,
  planReviews,
  type SubjectIds,
  seedBatches,
  seedOnboardings,
  seedOverrides,
  seedSubjects,
} from './demo-ratings.ts'
import { seedAlerts, seedErasure, seedHeldDocument, seedRestriction } from './demo-work.ts'
import type { DependentStep } from './dependent-steps.ts'
import { buildPortfolio } from './portfolio.ts'

/** In the order in which releases added them. */
export const partNames = ['customers', 'providers', 'plugins', 'cases', 'work', 'extensions'] as const
export type PartName = (typeof partNames)[number]

type Steps = readonly DependentStep[]

/**
 * Lists of the tenant come into force before the approval policy, which would ask for approval. What is proposed is measured when
 * everything that it is measured against is in force.
 */
export function planSteps(
  caller: DemoCaller,
  files: DemoFiles,
  { calendar, isNew }: { readonly calendar: DemoCalendar; readonly isNew: boolean },
): Record<PartName, Steps> {
  // An earlier release may have proposed changes before what they are measured against was there.
  const onlyLater = (step: DependentStep): Steps => (isNew ? [] : [step])
  const { policy, providers, plugins, cases, work } = files
  return {
    customers: planCustomerSteps(caller, files, calendar),
    providers: [
      {
        // Their change requests need approval under any policy.
        name: 'source contracts and providers',
        after: [],
        run: () => seedContractsAndProviders(caller, providers),
      },
      {
        name: 'matrix and rule on facts',
        after: ['source contracts and providers', 'approval policy'],
        run: () => seedFactReaders(caller, providers),
      },
      {
        name: 'provider calls',
        after: ['matrix and rule on facts', 'customers'],
        run: () => seedProviderCalls(caller, providers),
      },
      ...onlyLater({
        name: 'impact of the pending change',
        after: ['matrix and rule on facts', 'change requests'],
        run: () => renewImpact(caller, policy.lists),
      }),
    ],
    plugins: [{ name: 'plugins', after: ['approval policy'], run: () => seedDemoPlugins(caller, plugins) }],
    cases: planCaseSteps(caller, cases),
    work: [
      { name: 'alerts', after: ['overrides'], run: () => seedAlerts(caller, work) },
      { name: 'document with evidence and a hold', after: ['alerts'], run: () => seedHeldDocument(caller, work) },
      { name: 'restriction', after: ['alerts'], run: () => seedRestriction(caller, work) },
      // Needs the database while a report, which takes longest, is typeset.
      { name: 'erasure', after: ['restriction', 'closed investigation'], run: () => seedErasure(caller, work) },
    ],
    extensions: [
      ...planExtensionSteps(caller, files),
      ...onlyLater({
        name: 'impact of the change proposed before',
        after: ['decisions with a plugin'],
        run: () => renewImpact(caller, policy.lists),
      }),
    ],
  }
}

/** Only the case that stays open asks a provider about a subject of its calls. */
function planCaseSteps(caller: DemoCaller, { cases }: DemoFiles['cases']): Steps {
  const closed = cases.filter(({ outcome }) => outcome)
  const open = cases.filter(({ outcome }) => !outcome)
  return [
    { name: 'closed investigation', after: ['overrides'], run: () => seedCases(caller, closed) },
    { name: 'report', after: ['closed investigation'], run: () => seedReports(caller, closed) },
    { name: 'open investigation', after: ['provider calls', 'overrides'], run: () => seedCases(caller, open) },
  ]
}

/** The matrix reads a list of which another version is proposed. */
const planExtensionSteps = (caller: DemoCaller, { extensions }: DemoFiles): Steps => [
  { name: 'matrix with a plugin', after: ['plugins'], run: () => seedPluginMatrix(caller, extensions) },
  {
    name: 'decisions with a plugin',
    after: ['matrix with a plugin', 'change requests'],
    run: () => seedPluginDecisions(caller, extensions),
  },
  {
    name: 'import with a plugin',
    after: ['plugins', 'change requests'],
    run: () => seedPluginImport(caller, extensions),
  },
  { name: 'tools', after: ['own lists', 'customers'], run: () => seedTools(caller, extensions) },
]

function planCustomerSteps(caller: DemoCaller, { portfolio, magic, policy }: DemoFiles, calendar: DemoCalendar): Steps {
  const customers = buildPortfolio({ portfolio, magic })
  let ids: SubjectIds = new Map()
  const addCustomers = async () => {
    ids = await seedSubjects(caller, customers)
  }
  const overrides = { overrides: policy.overrides, magic }
  return [
    {
      name: 'own lists',
      after: [],
      run: () => seedLists(caller, policy.lists, { calendar, names: portfolio }),
    },
    { name: 'customers', after: [], run: addCustomers },
    { name: 'approval policy', after: ['own lists'], run: () => seedApprovalPolicy(caller, policy) },
    // Customers of the first portfolio and those who came later are different ones.
    {
      name: 'first portfolio',
      after: ['own lists', 'customers'],
      run: () => seedBatches(caller, planFirstPortfolio(customers, calendar)),
    },
    {
      name: 'onboardings',
      after: ['own lists', 'customers'],
      run: () => seedOnboardings(caller, customers, { calendar, ids }),
    },
    {
      name: 'reviews',
      after: ['first portfolio', 'onboardings'],
      run: () => seedBatches(caller, planReviews(customers, calendar)),
    },
    { name: 'nightly batches', after: ['reviews'], run: () => seedBatches(caller, planLastNight(calendar)) },
    {
      name: 'overrides',
      after: ['nightly batches'],
      run: () => seedOverrides(caller, overrides, { customers, ids, calendar }),
    },
    { name: 'drafts', after: ['own lists'], run: () => seedDrafts(caller, policy.drafts) },
    { name: 'schedule', after: ['nightly batches'], run: () => seedSchedule(caller, policy.schedule) },
    {
      name: 'change requests',
      after: ['approval policy', 'overrides', 'matrix and rule on facts', 'matrix with a plugin'],
      run: () => seedProposals(caller, policy.lists),
    },
    { name: 'audit verification', after: ['change requests'], run: () => seedAuditVerification(caller) },
  ]
}
