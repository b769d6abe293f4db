/**
 * Gates that refuse a change which would leave an invalid definition in force: a changed list, or a version that does not
 * fit the lists. When the operator changes shared lists, tenants get findings instead.
 */
import type { DefinitionFamily, Finding } from '#decision/model.ts'
import { mapWithPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import type { FinishReview } from '#kernel/request/change-reviews.ts'
import { type activationStore, documentStore, type resolver, type versionStore } from '#modules/definitions/index.ts'
import { findResolution } from './binding/bind-definition.ts'
import type { DecideCapabilities } from './binding/decide-with.ts'
import { MAX_CASES } from './cases/golden-case.ts'
import { listCases } from './cases/queries.ts'
import { isDecisionFamily } from './decision-family.ts'
import { reviewPlugin } from './plugin-dependents.ts'
import { toPluginFinding } from './plugin-findings.ts'
import { collectFindings, toNotInForceFinding } from './proofs.ts'

/** Options of a check. */
interface CheckOptions extends resolver.Clocks {
  readonly cases: boolean
  readonly bypass_caches?: boolean
}
interface DefinitionKey {
  readonly family: DefinitionFamily
  readonly key: string
}
export interface DefinitionStatus extends DefinitionKey {
  /** Null when the content cannot be read. */
  readonly version: number | null
  readonly findings: readonly Finding[]
}

/**
 * Findings on the version in force; null when there is none. Golden cases are checked for definitions only, not for their
 * lists.
 */
export async function checkDefinitionInForce(
  kernel: DecideCapabilities,
  tx: Tx,
  definition_key: DefinitionKey,
  options: CheckOptions,
): Promise<DefinitionStatus | null> {
  try {
    return await validateInForce(kernel, tx, definition_key, options)
  } catch (error) {
    const code = error instanceof Problem ? error.code : null
    if (code === 'nothing_in_force' || code === 'not_found') return null
    if (code === 'content_corrupt') return { ...definition_key, version: null, findings: [corruptContent] }
    // A matrix whose plugin cannot run decides nothing, but lists and other definitions change as before.
    if (error instanceof Problem && code === 'plugin_invalid')
      return { ...definition_key, version: null, findings: [toPluginFinding(error, '')] }
    throw error
  }
}

const corruptContent: Finding = {
  code: 'content_corrupt',
  pointer: '',
  message: 'The stored content of the definition or of one of its lists does not match its hash.',
  severity: 'error',
}

async function validateInForce(
  kernel: DecideCapabilities,
  tx: Tx,
  definition_key: DefinitionKey,
  { cases: withCases, ...clocks }: CheckOptions,
): Promise<DefinitionStatus> {
  const found = await findResolution(kernel, tx, { ...definition_key, ...clocks })
  const { compiled, definition, missing } = found
  const missing_findings = compiled.references
    .filter(({ list_key }) => missing.includes(list_key))
    .map(({ list_key, pointer }) => toNotInForceFinding(list_key, pointer))
  const of = { tenant_id: definition.dataset_tenant_id, dataset_id: definition.dataset_id }
  const cases = withCases ? await listCases(tx, of, null, MAX_CASES) : []
  const findings =
    missing_findings.length > 0
      ? missing_findings
      : await collectFindings(kernel, tx, { of: found, findings: [] }, cases)
  return { ...definition_key, version: definition.version, findings }
}

const isDecisionKey = (definition_key: { family: string; key: string }): definition_key is DefinitionKey =>
  isDecisionFamily(definition_key.family)

const getErrors = (status: DefinitionStatus | null): Finding[] =>
  status?.findings.filter(({ severity }) => severity === 'error') ?? []
const toFaultId = ({ code, pointer }: Finding): string => `${code} ${pointer}`

/** Maximum number of later scheduled changes that are checked. */
const MAX_INSTANTS = 20

/** The instant of the change, and every later one at which the definition, one of its lists or a plugin changes. */
async function listCheckedInstants(
  tx: Tx,
  { family, key }: DefinitionKey,
  first: CheckOptions,
): Promise<CheckOptions[]> {
  const later = await documentStore.listUpcomingChanges(tx, { family, key }, first.valid_at ?? null, MAX_INSTANTS)
  return [first, ...later.map(({ at }) => ({ ...first, valid_at: at }))]
}

/** Called before a change of what is in force; the returned function runs after it in the same transaction. */
export async function reviewInForce(kernel: DecideCapabilities, tx: Tx, change: unknown): Promise<FinishReview> {
  const { family, list_key, effective_from } = change as activationStore.InForceChange
  // A scheduled change is checked as of its start.
  const later = effective_from !== null && Date.parse(effective_from) > Date.now()
  const first = { ...(later && { valid_at: effective_from }), cases: family !== 'list', bypass_caches: true }
  if (family !== 'list' && family !== 'plugin' && !isDecisionFamily(family)) return async () => []
  await documentStore.lockDefinitions(tx)
  if (family === 'plugin') return reviewPlugin(kernel, tx, list_key, later ? effective_from : undefined)
  if (family !== 'list') return () => checkProofGate(kernel, tx, { family, key: list_key }, first)
  const checks: Pick<StatusBefore, 'reader' | 'instant'>[] = []
  for (const reader of (await documentStore.listReferencingDefinitions(tx, list_key)).filter(isDecisionKey)) {
    for (const instant of await listCheckedInstants(tx, reader, first)) checks.push({ reader, instant })
  }
  const before = await mapWithPrecompute(checks, async ({ reader, instant }) => ({
    reader,
    instant,
    status: await checkDefinitionInForce(kernel, tx, reader, instant),
  }))
  return () => checkReadersGate(kernel, tx, list_key, before)
}

async function checkProofGate(
  kernel: DecideCapabilities,
  tx: Tx,
  definition: DefinitionKey,
  first: CheckOptions,
): Promise<versionStore.Gate[]> {
  const instants = await listCheckedInstants(tx, definition, first)
  const statuses = await mapWithPrecompute(instants, (instant) =>
    checkDefinitionInForce(kernel, tx, definition, instant),
  )
  for (const [index, instant] of instants.entries()) {
    const status = statuses[index] ?? null
    const [fault] = getErrors(status)
    if (!status || !fault) continue
    const from = instant.valid_at === undefined ? '' : ` from ${instant.valid_at} on`
    const named = status.version === null ? definition.key : `Version ${status.version} of ${definition.key}`
    const detail = `${named} does not hold${from}: ${fault.message}`
    const facts = { version: status.version, from: instant.valid_at ?? null, findings: status.findings.slice(0, 50) }
    return [{ gate: 'proof', detail: detail.slice(0, 1000), overridable: false, facts }]
  }
  return []
}

interface StatusBefore {
  readonly reader: DefinitionKey
  readonly instant: CheckOptions
  readonly status: DefinitionStatus | null
}

/** Reports only findings that the change introduces: an invalid definition must not block corrections of its lists. */
async function checkReadersGate(
  kernel: DecideCapabilities,
  tx: Tx,
  list_key: string,
  before: readonly StatusBefore[],
): Promise<versionStore.Gate[]> {
  const broken = new Map<
    DefinitionKey,
    DefinitionKey & { version: number | null; from: string | null; findings: Finding[] }
  >()
  const statuses = await mapWithPrecompute(before, ({ reader, instant }) =>
    checkDefinitionInForce(kernel, tx, reader, instant),
  )
  for (const [index, { reader, instant, status }] of before.entries()) {
    const after = statuses[index] ?? null
    const known = new Set(getErrors(status).map(toFaultId))
    const findings = getErrors(after).filter((fault) => !known.has(toFaultId(fault)))
    if (!after || findings.length === 0 || broken.has(reader)) continue
    const from = instant.valid_at ?? null
    broken.set(reader, { ...reader, version: after.version, from, findings: findings.slice(0, 20) })
  }
  const definitions = [...broken.values()]
  const [first] = definitions
  if (!first) return []
  const detail = `${definitions.map(({ family, key }) => `${family} ${key}`).join(', ')} would no longer hold: ${first.findings[0]?.message}`
  return [
    {
      gate: 'referenced-by',
      detail: detail.slice(0, 1000),
      overridable: false,
      facts: { list_key, definitions },
    },
  ]
}
