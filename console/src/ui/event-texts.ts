/** What people call the operations of the audit record and the kinds of jobs. Pure. */
import { formatOperation, toSentence } from './format.ts'

/** Operations whose name says too little, or something else than what people do. */
const sentences: Readonly<Record<string, string>> = {
  acknowledgeBreakGlassReview: 'Emergency change acknowledged',
  checkIsolation: 'Tenant isolation checked',
  compareEvaluations: 'Decisions compared',
  createAlert: 'Alert reported',
  createAuditExport: 'Export of the audit record started',
  createAuditVerification: 'Verification of the audit record started',
  createBreakGlassAccess: 'Emergency access given',
  createDemoSession: 'Signed in (demo)',
  createErasure: 'Erasure requested',
  createEvaluation: 'Decision made',
  createHold: 'Legal hold placed',
  createInvestigation: 'Case opened',
  createReport: 'Report requested',
  createRiskOverride: 'Rating overridden',
  createToken: 'Access token issued',
  createUpload: 'File uploaded',
  createUser: 'User invited',
  decideAlertSecondLook: 'Second look at an alert decided',
  deleteActivation: 'Scheduled activation of a list cancelled',
  deleteApiKey: 'API key revoked',
  deleteRestrictionAccess: 'Access to a restriction revoked',
  deleteRiskOverride: 'Override of a rating ended',
  getCertificate: 'Certificate of a decision read',
  overrideEvaluation: 'Rating overridden',
  reevaluateEvaluation: 'Decision made again',
  releaseHold: 'Legal hold released',
  startEvaluation: 'Decision with answers of providers started',
  startExport: 'Export of lists started',
  startSubjectBulk: 'Upload of subjects started',
  updateAlerts: 'Several alerts changed',
  updateDatasetVersion: 'Version of a list deprecated or withdrawn',
  updateRestrictionAccess: 'Access to a restriction changed',
  updateTenant: 'Profile of the tenant changed',
  waitInvestigation: 'Case set to wait',
}

const jobNames: Readonly<Record<string, string>> = {
  'alert-bulk': 'Change of several alerts',
  'audit-export': 'Export of the audit record',
  'audit-verification': 'Verification of the audit record',
  'batch-evaluation': 'Batch',
  'contract-drift': 'Check of payloads for drift',
  'contract-reprocess': 'Repeated check of a payload',
  'credential-cleanup': 'Removal of ended credentials',
  'dataset-export': 'Export of lists',
  'dataset-import': 'Import of a list',
  'dataset-index': 'Search index of a list',
  'difference-summary': 'Comparison of two versions',
  'document-check': 'Check of documents',
  'document-processing': 'Processing of a document',
  'encrypt-copies': 'Encryption of stored copies',
  evaluation: 'Decision with answers of providers',
  housekeeping: 'Removal of expired records',
  'impact-run': 'Impact analysis',
  'investigation.gather': 'Gathering of evidence for a case',
  'investigation.open-due': 'Opening of scheduled cases',
  'plugin-check': 'Check of plugins',
  'portfolio-days': 'Figures of the portfolio',
  'provider-call': 'Call of a provider',
  report: 'Report',
  'report-verification': 'Verification of a report',
  'scheduled-batch': 'Start of a scheduled batch',
  'scheduled-report': 'Start of a scheduled report',
  'subject-bulk': 'Upload of subjects',
  'subject-erasure': 'Erasure of a subject',
  'tool-check': 'Check of tools',
  'tool-discovery': 'Discovery of tools',
}

/** Where the verb is not regular, or people use another one. */
const participles: Readonly<Record<string, string>> = {
  activate: 'put in force',
  cancel: 'cancelled',
  download: 'read',
  fulfil: 'fulfilled',
  get: 'read',
  impose: 'put in force',
  infer: 'inferred',
  list: 'read',
  lookUp: 'looked up',
  override: 'overridden',
  pin: 'pinned',
  rollBack: 'rolled back',
  run: 'run',
  submit: 'proposed to be put in force',
  unpin: 'unpinned',
  update: 'changed',
  wake: 'woken up',
  withdraw: 'withdrawn',
}

const toParticiple = (verb: string): string =>
  participles[verb] ??
  (verb.endsWith('e') ? `${verb}d` : /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ied` : `${verb}ed`)

/** Words of the program, by what people say; those that begin like another one come first. */
const nouns: readonly (readonly [RegExp, string])[] = [
  [/\bbatch evaluation\b/, 'batch'],
  [/\bevaluation\b/, 'decision'],
  [/\bdataset type\b/, 'type'],
  [/\bdataset\b/, 'list'],
  [/\brisk matrix\b/, 'matrix'],
  [/\binvestigation\b/, 'case'],
  [/\bapi\b/, 'API'],
  [/\bmlro\b/, 'MLRO'],
  [/\bodcs\b/, 'ODCS'],
]

/** Parts that are named before the whole: `matrix version` → `version of a matrix`. */
const parts: Readonly<Record<string, string>> = {
  activation: 'scheduled activation',
  backtest: 'backtest',
  case: 'golden case',
  draft: 'draft',
  impact: 'impact analysis',
  version: 'version',
}

const withArticle = (noun: string): string => `${/^[aeio]/i.test(noun) ? 'an' : 'a'} ${noun}`

function toNoun(name: string): string {
  const spaced = name
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll(/\d+/g, ' $&')
    .trim()
  const said = nouns.reduce((text, [pattern, word]) => text.replace(pattern, word), spaced)
  const [, whole, part] = /^(.+) ([a-z]+)$/.exec(said) ?? []
  const partName = parts[part ?? '']
  return partName === undefined || whole === undefined ? said : `${partName} of ${withArticle(whole)}`
}

/** `dataset-import` → `Import of a list`. */
export const formatJobKind = (kind: string): string => jobNames[kind] ?? toSentence(kind.replaceAll('.', ' '))

interface Progress {
  readonly done: number
  readonly total: number | null
  readonly unit: string | null
}

/** `3 of 40 entries`; a share of the whole is no count of things: `40 %`. */
export function formatProgress({ done, total, unit }: Progress): string {
  if (unit === 'percent') return `${done.toLocaleString('en')} %`
  const words = [done.toLocaleString('en'), total === null ? '' : `of ${total.toLocaleString('en')}`, unit ?? '']
  return words.filter(Boolean).join(' ')
}

/** What an event of the audit record says was done: `createDataset` → `List created`, `job:report` → `Report (job)`. */
export function formatEvent(operation: string): string {
  if (operation.startsWith('job:')) return `${formatJobKind(operation.slice('job:'.length))} (job)`
  const sentence = sentences[operation]
  if (sentence !== undefined) return sentence
  const [, verb, name] = /^(rollBack|lookUp|[a-z]+)([A-Z].*)$/.exec(operation) ?? []
  if (verb === undefined || name === undefined) return formatOperation(operation)
  const participle = verb === 'delete' && name.endsWith('Activation') ? 'cancelled' : toParticiple(verb)
  return toSentence(`${toNoun(name)} ${participle}`)
}
