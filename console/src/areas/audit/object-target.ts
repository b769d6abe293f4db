/** The page of the object that an audit event concerns, and what its type is called. Pure. */
import type { OperationId } from '@probity/client'
import { toSentence } from '#console/ui/format.ts'

interface ObjectTarget {
  readonly to: string
  readonly label: string
  /** What reads the page. */
  readonly needs: OperationId
}

interface AuditedObject {
  readonly object_type: string
  readonly object_id: string
  readonly operation: string
  /** The change request that was proposed or executed. */
  readonly cr_id: string | null
}

const isId = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text)

/** Gives the page by what the event names; null where that has none. */
type Find = (id: string, operation: string, object_id: string) => ObjectTarget | null

const toPage =
  (path: string, label: string, needs: OperationId): Find =>
  (id) => ({ to: `${path}/${id}`, label: `Open the ${label}`, needs })

/** Definitions have a key; what is named by an id beside them has no page. */
const toKeyPage =
  (path: string, label: string, needs: OperationId): Find =>
  (id, _, object_id) =>
    isId(object_id) ? null : { to: `${path}/${id}`, label: `Open the ${label}`, needs }

/** By the first pattern that the operation matches. */
const byOperation =
  (rows: readonly (readonly [pattern: RegExp, find: Find | null])[]): Find =>
  (id, operation, object_id) =>
    rows.find(([pattern]) => pattern.test(operation))?.[1]?.(id, operation, object_id) ?? null

const toList =
  (path: string, label: string, needs: OperationId): Find =>
  () => ({ to: path, label: `Open the ${label}`, needs })

const targets: Readonly<Record<string, Find>> = {
  alerts: byOperation([
    [/Suppression/, toList('/inbox/suppressions', 'suppressions', 'listAlertSuppressions')],
    [/SecondLook/, toList('/inbox/second-looks', 'second looks', 'listAlertSecondLooks')],
    [/^updateAlerts$/, null],
    [/./, toPage('/inbox/alerts', 'alert', 'getAlert')],
  ]),
  'batch-evaluations': byOperation([
    [/Schedule/, toList('/batches/schedules', 'schedules', 'listBatchSchedules')],
    [/^estimate/, null],
    [/./, toPage('/batches', 'batch', 'getBatchEvaluation')],
  ]),
  'change-requests': toPage('/change-requests', 'change request', 'getChangeRequest'),
  documents: toPage('/documents', 'document', 'getDocument'),
  erasures: toPage('/erasures', 'erasure', 'getErasure'),
  evaluations: byOperation([
    [/^(preview|compare)/, null],
    [/./, toPage('/evaluations', 'decision', 'getEvaluation')],
  ]),
  holds: toPage('/holds', 'legal hold', 'getHold'),
  investigations: toPage('/investigations', 'case', 'getInvestigation'),
  jobs: toPage('/jobs', 'job', 'getJob'),
  mcp: byOperation([
    [/ToolCall$/, toList('/tools/approvals', 'calls that wait', 'listToolApprovals')],
    [/ToolServer$|ServerTools?$/, toKeyPage('/tools/servers', 'tool server', 'getToolServer')],
  ]),
  'mlro-designations': toList('/mlro', 'designations', 'listMlroDesignations'),
  playbooks: toKeyPage('/playbooks', 'playbook', 'getPlaybook'),
  plugins: toKeyPage('/plugins', 'plugin', 'getPlugin'),
  'provider-credentials': toPage('/provider-credentials', 'credential', 'getProviderCredential'),
  providers: (id, _, object_id) =>
    isId(object_id)
      ? { to: `/providers/calls/${id}`, label: 'Open the call', needs: 'getProviderCall' }
      : { to: `/providers/${id}`, label: 'Open the provider', needs: 'getProvider' },
  'reference-data': byOperation([
    [/DatasetType|^validateEntries$/, toKeyPage('/types', 'type', 'getDatasetType')],
    [/Import$/, toPage('/imports', 'import', 'getImport')],
    [/Adapter|Export|^detect/, null],
    [/./, toKeyPage('/datasets', 'list', 'getDataset')],
  ]),
  reports: byOperation([
    [/Schedule/, toList('/reports', 'reports', 'listReports')],
    [/./, toPage('/reports', 'report', 'getReport')],
  ]),
  restrictions: toPage('/restrictions', 'restriction', 'getRestriction'),
  'risk-matrices': toKeyPage('/matrices', 'matrix', 'getRiskMatrix'),
  rules: toKeyPage('/rules', 'rule', 'getRule'),
  // Payloads in quarantine belong to the type of their contract and have an id; a contract has a key.
  'source-contracts': (id, _, object_id) =>
    isId(object_id)
      ? { to: `/source-contracts/quarantine/${id}`, label: 'Open the payload', needs: 'getQuarantinedPayload' }
      : { to: `/source-contracts/${id}`, label: 'Open the source contract', needs: 'getSourceContract' },
  subjects: byOperation([
    [/^startSubjectBulk$/, toPage('/subjects/upload', 'upload', 'getSubjectBulk')],
    [/./, toPage('/subjects', 'subject', 'getSubject')],
  ]),
  users: toPage('/users', 'person', 'getUser'),
}

/** Object types whose objects have no page, with the reason. */
export const WITHOUT_PAGE: Readonly<Record<string, string>> = {
  'api-keys': 'keys are rows of one page, and a revoked one is not among them',
  audit: 'verifications and exports are rows of the pages of the audit record',
  auth: 'a session has no page',
  backups: 'made on the command line',
  'break-glass-reviews': 'an emergency change is acknowledged on the home page and then gone from it',
  evidence: 'evidence is shown on the page of what it is attached to, which the event does not name',
  'integrity-keys': 'changed on the command line',
  'master-keys': 'changed on the command line',
  'signing-keys': 'changed on the command line',
  tenant: 'the event is about the tenant as a whole',
  'tenant-keys': 'changed on the command line',
  uploads: 'a file is shown by what it became',
  work: 'a part of the work of many people, or the settings of the tenant',
}

/** Null where the object has no page, or the event concerns the tenant as a whole. */
export function findObjectTarget(event: AuditedObject, tenant_id: string): ObjectTarget | null {
  const { object_type, object_id, operation, cr_id } = event
  if (object_id === tenant_id) return null
  const id = encodeURIComponent(object_id)
  // What is proposed does not exist yet: the event names its request.
  if (object_id === cr_id)
    return { to: `/change-requests/${id}`, label: 'Open the change request', needs: 'getChangeRequest' }
  return targets[object_type]?.(id, operation, object_id) ?? null
}

export const hasObjectTarget = (object_type: string): boolean => object_type in targets

/** Types whose words say too little, or are written otherwise. */
const typeNames: Readonly<Record<string, string>> = {
  'api-keys': 'API keys',
  auth: 'Sign-in',
  'batch-evaluations': 'Batches',
  backups: 'made on the command line',
  'break-glass-reviews': 'Emergency changes',
  holds: 'Legal holds',
  mcp: 'MCP',
  'mlro-designations': 'MLRO designations',
  'reference-data': 'Lists and types',
  'risk-matrices': 'Matrices',
}

export const formatObjectType = (object_type: string): string => typeNames[object_type] ?? toSentence(object_type)
