/** The pages of the console with addresses that exist, read from its table of areas. */
import fs from 'node:fs'
import path from 'node:path'
import { projectRoot } from '#test/support/database.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { fixtures } from '#test/support/fixtures.ts'

/** Read as text, because the pages it imports need the build of the console. */
export function readPagePaths(): string[] {
  const read = (file: string) => fs.readFileSync(path.join(projectRoot, 'console/src', file), 'utf8')
  const text = read('areas.ts') + read('policy-areas.ts')
  return [...text.matchAll(/'(\/[^']*)': \(\) => import\(/g)].map(([, page = '']) => page)
}

/** Views that only a query shows: tabs, differences, filters. */
export const viewsByQuery: readonly string[] = [
  '/datasets/demo-sanctions?tab=entries',
  '/matrices/customer-risk-person?tab=versions',
  '/datasets/demo-sanctions/diff?from=1&to=3',
  '/matrices/customer-risk-company?tab=simulate',
  '/change-requests?view=all',
  '/providers/prohibited-jurisdiction-check?tab=versions',
  '/plugins/$key?tab=examples',
  '/matrices/customer-risk-person/diff?from=1&to=2',
  '/source-contracts/company-registry?tab=lineage',
  '/source-contracts/quarantine?state=all',
  '/plugins/$key?tab=settings',
  '/source-contracts/company-registry?tab=drift',
  '/investigations/$investigation_id?tab=timeline',
  '/investigations/$investigation_id?tab=related',
]

/** The operation whose fixture makes what a page shows. The most specific path comes first. */
const sources: readonly (readonly [page: RegExp, operation: string])[] = [
  [/^\/matrices\/\$key/, 'updateRiskMatrixDraft'],
  [/^\/rules\/\$key/, 'updateRuleDraft'],
  [/^\/source-contracts\/\$key/, 'updateSourceContractDraft'],
  [/\$payload_id/, 'getQuarantinedPayload'],
  [/^\/providers\/\$key\/draft/, 'updateProviderDraft'],
  [/^\/providers\/\$key/, 'getProvider'],
  [/^\/plugins\/\$key/, 'getPlugin'],
  [/^\/playbooks\/\$key\/draft/, 'updatePlaybookDraft'],
  [/^\/playbooks\/\$key/, 'getPlaybook'],
  [/^\/tools\/approvals/, 'listToolApprovals'],
  [/^\/tools\/calls\/\$call_id/, 'getToolCall'],
  [/\$tool_name/, 'getServerTool'],
  [/\$server_key/, 'getToolServer'],
  [/\$call_id/, 'getProviderCall'],
  [/\$credential_id/, 'getProviderCredential'],
  [/\$document_id/, 'getDocument'],
  [/\$report_id/, 'getReport'],
  [/\$object_type\/\$object_id/, 'listAuditObjectEvents'],
  [/\$cr_id/, 'getChangeRequest'],
  [/\$bulk_id/, 'getSubjectBulk'],
  [/\$subject_id/, 'getSubject'],
  [/\$evaluation_id/, 'getEvaluation'],
  [/\$batch_id\/items/, 'getBatchItemExplanation'],
  [/\$batch_id/, 'getBatchEvaluation'],
  [/\$job_id/, 'getJob'],
  [/\$import_id/, 'getImport'],
  [/\$list_key/, 'getDataset'],
  [/\$type_key/, 'getDatasetType'],
  [/\$event_id/, 'getAuditEvent'],
  [/^\/inbox\/second-looks/, 'listAlertSecondLooks'],
  [/^\/inbox\/suppressions/, 'listAlertSuppressions'],
  [/^\/inbox\/settings/, 'getWorkSettings'],
  [/^\/inbox/, 'getAlert'],
  [/^\/investigations/, 'getInvestigation'],
  [/\$erasure_id/, 'getErasure'],
  [/\$hold_id/, 'getHold'],
  [/\$restriction_id/, 'getRestriction'],
  [/^\/mlro/, 'listMlroDesignations'],
  [/\$user_id/, 'getUser'],
]

/** The address of a page, with the identifiers of the tenant. */
export async function toAddress(tenant: ExampleTenant, page: string): Promise<string> {
  const operation = sources.find(([pattern]) => pattern.test(page))?.[1]
  if (operation === undefined && !page.includes('$')) return page
  const fixture = operation === undefined ? undefined : fixtures[operation]
  if (fixture === undefined) throw new Error(`${page}: name the operation whose fixture makes what the page shows`)
  const { params = {} } = await fixture(tenant, 'compliance_officer')
  return page.replaceAll(/\$([a-z_]+)/g, (_all, name: string) =>
    encodeURIComponent(
      params[name] ??
        params['matrix_key'] ??
        params['rule_key'] ??
        params['contract_key'] ??
        params['provider_key'] ??
        params['plugin_key'] ??
        params['playbook_key'] ??
        '',
    ),
  )
}
