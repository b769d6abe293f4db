/** All modules in tier order. A module may use those above it, never those below. */
import type { Module } from '#kernel/module.ts'
import { access } from '#modules/access/index.ts'
import { alerts } from '#modules/alerts/index.ts'
import { analytics } from '#modules/analytics/index.ts'
import { audit } from '#modules/audit/index.ts'
import { auth } from '#modules/auth/index.ts'
import { batchEvaluations } from '#modules/batch-evaluations/index.ts'
import { breakGlass } from '#modules/break-glass/index.ts'
import { changeRequests } from '#modules/change-requests/index.ts'
import { definitions } from '#modules/definitions/index.ts'
import { documents } from '#modules/documents/index.ts'
import { evaluations } from '#modules/evaluations/index.ts'
import { events } from '#modules/events/index.ts'
import { holds } from '#modules/holds/index.ts'
import { impact } from '#modules/impact/index.ts'
import { investigations } from '#modules/investigations/index.ts'
import { jobs } from '#modules/jobs/index.ts'
import { mcp } from '#modules/mcp/index.ts'
import { playbooks } from '#modules/playbooks/index.ts'
import { plugins } from '#modules/plugins/index.ts'
import { providerCredentials } from '#modules/provider-credentials/index.ts'
import { providers } from '#modules/providers/index.ts'
import { referenceData } from '#modules/reference-data/index.ts'
import { reports } from '#modules/reports/index.ts'
import { restrictions } from '#modules/restrictions/index.ts'
import { riskMatrices } from '#modules/risk-matrices/index.ts'
import { rules } from '#modules/rules/index.ts'
import { search } from '#modules/search/index.ts'
import { sourceContracts } from '#modules/source-contracts/index.ts'
import { subjects } from '#modules/subjects/index.ts'
import { system } from '#modules/system/index.ts'
import { tenant } from '#modules/tenant/index.ts'
import { toolServers } from '#modules/tool-servers/index.ts'
import { work } from '#modules/work/index.ts'

export const modules: readonly Module[] = [
  // foundation
  system,
  auth,
  access,
  tenant,
  changeRequests,
  breakGlass,
  jobs,
  audit,
  events,
  restrictions,
  holds,
  search,

  // domain
  definitions,
  work,
  alerts,
  sourceContracts,
  plugins,
  referenceData,
  subjects,
  providerCredentials,
  toolServers,
  providers,
  riskMatrices,
  rules,
  evaluations,
  batchEvaluations,
  impact,
  documents,
  playbooks,
  investigations,

  // views
  analytics,
  reports,
  mcp,
]
