/** What is said about plugins: kinds, reasons why one cannot run, and the problem that names them. Pure. */
import type { ProbityProblem, Schemas } from '@probity/client'
import { formatOperation, toSentence, toWords } from '../format.ts'
import { formatEntryValue } from '../type-texts.ts'

export type Plugin = Schemas['Plugin']
export type PluginVersion = Schemas['PluginVersion']
export type PluginReason = Schemas['PluginReason']
export type PluginKind = NonNullable<Plugin['kind']>

export const kindNames: Readonly<Record<PluginKind, string>> = {
  factor: 'Factor of a matrix',
  adapter: 'Adapter of an import',
  provider: 'Provider of facts',
}

export const formatKind = (kind: PluginKind | null): string => (kind === null ? 'Kind unknown' : kindNames[kind])

const reasonTitles: Readonly<Record<string, string>> = {
  manifest_unreadable: 'The package cannot be read',
  manifest_invalid: 'The manifest has a fault',
  kind_unknown: 'Unknown kind of plugin',
  version_conflict: 'This version exists with another content',
  entry_missing: 'The source file is missing',
  package_unsafe: 'The package holds files that are not allowed',
  too_large: 'The package is too large',
  syntax: 'The source has a syntax error',
  imports: 'The source imports another module',
  export_missing: 'A function is missing',
  load_failed: 'The source fails when it is loaded',
  fuel: 'It computes for too long',
  memory: 'It uses too much memory',
  schema_invalid: 'A schema, or a value that it describes, has a fault',
  examples_missing: 'Golden examples are missing',
  example_mismatch: 'An example gives another output',
  example_failed: 'An example fails',
  output_invalid: 'An output breaks what the manifest declares',
  keeps_state: 'It keeps values of earlier runs',
  not_available: 'It uses something that plugins do not have',
  list_unknown: 'A list or field is unknown',
  permission_missing: 'Something is not granted',
  contract_violated: 'An example breaks the source contract',
  signature_invalid: 'The signature is not valid',
  output_not_json: 'An output is not JSON',
  native_loop: 'It cannot be stopped in time',
  threw: 'It failed with an error',
  output_too_large: 'The output is too large',
  list_undeclared: 'It looked up a list that the manifest does not name',
  not_in_force: 'No version is in force',
  disabled: 'Disabled',
  not_validated: 'Not validated yet',
  hash_mismatch: 'The stored content was altered',
}

export const describeReason = (code: string): string => reasonTitles[code] ?? toSentence(code)

/** What a user can do about a reason, where the author of the plugin is not needed. */
const remedies: Readonly<Record<string, string>> = {
  permission_missing: 'An administrator can grant it under “Settings”.',
  disabled: 'A compliance officer can enable it.',
}
export const getRemedy = (code: string): string | undefined => remedies[code]

/** Where a reason is: `line 3 of the source`, `/inputs/type of the manifest`. */
export function formatReasonPlace({ pointer, line }: Pick<PluginReason, 'pointer' | 'line'>): string | null {
  const places = [
    ...(line === undefined || line === 0 ? [] : [`line ${line} of the source`]),
    ...(pointer === undefined || pointer === '' ? [] : [`${pointer} of the manifest`]),
  ]
  return places.length === 0 ? null : places.join(', ')
}

export interface PluginProblem {
  readonly plugin_key: string
  readonly version: number | null
  readonly reasons: readonly PluginReason[]
}

const isReason = (value: unknown): value is PluginReason =>
  typeof value === 'object' && value !== null && typeof (value as { code?: unknown }).code === 'string'

/** The plugin that a problem names; null where it names none. */
export function getPluginProblem(problem: ProbityProblem | null): PluginProblem | null {
  if (problem?.code !== 'plugin_invalid' && problem?.code !== 'plugin_failed') return null
  const { plugin_key, version, reasons, reason } = problem.members
  if (typeof plugin_key !== 'string') return null
  return {
    plugin_key,
    version: typeof version === 'number' ? version : null,
    reasons: Array.isArray(reasons)
      ? reasons.filter(isReason)
      : typeof reason === 'string'
        ? [{ code: reason, message: problem.detail ?? '' }]
        : [],
  }
}

export const causeTexts: Readonly<Record<string, string>> = {
  evaluation: 'A decision',
  batch: 'A batch',
  impact: 'An impact analysis',
  import: 'An import',
  preview: 'The preview of an import',
  provider_call: 'A call of a provider',
  replay: 'A replay',
}

const causePages: Readonly<Record<string, string>> = {
  evaluation: '/evaluations',
  batch: '/batches',
  import: '/imports',
  provider_call: '/providers/calls',
}

/** The page of what a plugin was run for. */
export const getCausePage = ({
  kind,
  id,
}: {
  readonly kind: string
  readonly id: string | null
}): string | undefined => {
  const page = causePages[kind]
  return page === undefined || id === null ? undefined : `${page}/${id}`
}

const dependentPages: Readonly<Record<string, string>> = {
  matrix: '/matrices',
  rule: '/rules',
  provider: '/providers',
  list: '/datasets',
  import: '/imports',
  schedule: '/batches/schedules',
}

/** The page of what runs a plugin. */
export function getDependentPage({ kind, key }: { readonly kind: string; readonly key: string }): string | undefined {
  const page = dependentPages[kind]
  if (page === undefined) return undefined
  return kind === 'schedule' ? page : `${page}/${encodeURIComponent(key)}`
}

const operationTexts: Readonly<Record<string, string>> = {
  createEvaluation: 'Evaluate a subject',
  previewEvaluation: 'Preview a decision',
  startEvaluation: 'Evaluate with answers of providers',
  exploreEvaluation: 'What-if',
  reevaluateEvaluation: 'Re-evaluate',
  startBatchEvaluation: 'Evaluate a batch',
  estimateBatchEvaluation: 'Estimate a batch',
  resumeBatchEvaluation: 'Resume a batch',
  retryBatchItems: 'Retry failed items',
  startBatchSchedule: 'Run a schedule now',
  simulateRiskMatrixVersion: 'Simulate a version',
  testRiskMatrixVersion: 'Run golden cases',
  startRiskMatrixBacktest: 'Backtest',
  startDatasetImpact: 'Measure the impact of a list',
  startChangeRequestImpact: 'Measure the impact of a change',
  startImport: 'Import',
  previewAdapter: 'Preview an import',
  callProvider: 'Call the provider',
  approveToolCall: 'Approve the call of a tool',
  repeatProviderCall: 'Repeat a call',
  testProvider: 'Test the connection',
  verifyProviderCredential: 'Verify a credential',
  createInvestigation: 'Open an investigation',
  createInvestigationStep: 'Add a step to an investigation',
  retryInvestigationStep: 'Begin a step again',
  retryInvestigationSteps: 'Begin the remaining steps',
  settleInvestigationStep: 'Settle a step',
}

/** What a user would call an operation. */
export const describeOperation = (operation: string): string => operationTexts[operation] ?? formatOperation(operation)

/** As one sentence, each said once: several operations may do the same for a user. An import that has not ended has none. */
export function describeOperations(operations: readonly string[]): string {
  if (operations.length === 0) return 'Ends failed'
  const words = [...new Set(operations.map(describeOperation))].join(', ').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A value beside the score. Members of an object keep their names. */
export const formatPluginValue = (value: unknown): string =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
        .map(([name, part]) => `${toWords(name)} ${formatEntryValue(part)}`)
        .join('; ')
    : formatEntryValue(value)

export const formatDependentKind = (kind: string): string => toSentence(toWords(kind))
