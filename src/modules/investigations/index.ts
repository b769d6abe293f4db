/** Public interface of investigations: cases that people work through by a playbook. */
import type { Module } from '#kernel/module.ts'
import { declareReview } from '#kernel/request/declare-review.ts'
import { activationStore } from '#modules/definitions/index.ts'
import { insertCanaryRows } from './canary.ts'
import { investigationEvents } from './events.ts'
import { deadWorkerScan } from './gathering/dead-workers.ts'
import { gatherJob } from './gathering/gather-job.ts'
import { casesClosed, openingsRefused, stepsEnded, stepsReleased } from './gathering/metrics.ts'
import { stepRoutes } from './gathering/routes.ts'
import { investigationErasure } from './lifecycle/end-erased.ts'
import { withFirstAction } from './lifecycle/first-act.ts'
import { resumeScan } from './lifecycle/resume-scan.ts'
import { lifecycleRoutes } from './lifecycle/routes.ts'
import { narrativeRoutes } from './narrative/routes.ts'
import { reviewOpeningLists } from './opening/list-review.ts'
import { triggerScan } from './opening/trigger-scan.ts'
import { escalates } from './opening/triggers.ts'
import { evidenceOwner, holdableInvestigation } from './owners.ts'
import { accessRoutes } from './people/access-routes.ts'
import { peopleRoutes } from './people/routes.ts'
import { investigationReport } from './report/investigation-report.ts'
import { investigationRoutes } from './routes.ts'
import { openDueJob } from './schedule/open-due-job.ts'
import { sealRoutes } from './seal/routes.ts'
import { investigationSource } from './search/investigation-source.ts'
import { statisticsRoutes } from './statistics/routes.ts'
import { taskRoutes } from './tasks/routes.ts'
import { workKinds } from './work-kinds.ts'

export { countGathering, countOpenCases } from './gathering/queries.ts'
export { countOfficers } from './queries.ts'
export { describeClosing, listClosingActors } from './report/case-closings.ts'
export { type CaseFindings, collectCaseFindings } from './report/case-findings.ts'
export { describeEvidenceContent, EVIDENCE_HASHES, listContentActors } from './report/evidence-content.ts'
export { writeParagraph } from './report/paragraph-text.ts'

export const investigations: Module = {
  name: 'investigations',
  segments: ['investigations', 'playbooks'],
  tier: 'domain',
  summary: 'Investigations: cases by a playbook, from opening and gathering to an outcome that a second person closes.',
  routes: withFirstAction([
    ...investigationRoutes,
    ...stepRoutes,
    ...lifecycleRoutes,
    ...narrativeRoutes,
    ...taskRoutes,
    ...peopleRoutes,
    ...accessRoutes,
    ...sealRoutes,
    ...statisticsRoutes,
  ]),
  scans: [resumeScan, triggerScan, deadWorkerScan],
  escalates,
  jobs: [gatherJob, openDueJob],
  metrics: [stepsEnded, stepsReleased, casesClosed, openingsRefused],
  erases: [investigationErasure],
  holdable: [holdableInvestigation],
  evidence_owners: [evidenceOwner],
  report_templates: [investigationReport],
  events: investigationEvents,
  work: workKinds,
  constraints: {
    investigation_four_eyes_ck: ['approval_own_request', 'Another person closes the investigation.'],
    investigation_waiver_four_eyes: [
      'approval_own_request',
      'Whoever waived a step that the outcome needs does not close the investigation.',
    ],
    investigation_subject_pkey: ['duplicate', 'The investigation is about this subject already.'],
    investigation_joined_key: ['conflict', 'Another investigation of this subject and playbook is open.'],
  },
  search: { sources: [investigationSource], unsearched: {} },
  reviews: {
    [activationStore.IN_FORCE_REVIEW]: declareReview({ uses: ['caches'], begin: reviewOpeningLists }),
  },
  canary_table: 'investigation',
  canary: insertCanaryRows,
}
