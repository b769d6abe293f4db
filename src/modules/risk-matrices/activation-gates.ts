/**
 * Gates that refuse a change which would leave an invalid definition in force: a changed list, or a version that does not
 * fit the lists. When the operator changes shared lists, tenants get findings instead.
 */
import type { DefinitionFamily, Finding } from '#decision/model.ts'
import { mapWithPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import type { FinishReview } from '#kernel/request/change-reviews.ts'
import { type activationStore, documentStore, type resolver, type versionStore } from '#modules/definitions/index.ts'
import { findResolution } from './binding/bind-definition.ts'
import { MAX_CASES } from './cases/golden-case.ts'
import { listCases } from './cases/queries.ts'
import { isDecisionFamily } from './decision-family.ts'
import { collectFindings, toNotInForceFinding } from './proofs.ts'

/** Options of a check. */
interface CheckOptions extends resolver.Clocks {
  readonly cases: boolean
  readonly unsettled?: boolean
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
  kernel: Capabilities<'caches' | 'threads'>,
  tx: Tx,
  named: DefinitionKey,
  asking: CheckOptions,
): Promise<DefinitionStatus | null> {
  try {
    return await validateInForce(kernel, tx, named, asking)
  } catch (error) {
    const code = error instanceof Problem ? error.code : null
    if (code === 'nothing_in_force' || code === 'not_found') return null
    if (code === 'content_corrupt') return { ...named, version: null, findings: [corruptContent] }
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
  kernel: Capabilities<'caches' | 'threads'>,
  tx: Tx,
  named: DefinitionKey,
  { cases: withCases, ...clocks }: CheckOptions,
): Promise<DefinitionStatus> {
  const found = await findResolution(kernel, tx, { ...named, ...clocks })
  const { compiled, definition, missing } = found
  const absent = compiled.references
    .filter(({ list_key }) => missing.includes(list_key))
    .map(({ list_key, pointer }) => toNotInForceFinding(list_key, pointer))
  const of = { tenant_id: definition.dataset_tenant_id, dataset_id: definition.dataset_id }
  const cases = withCases ? await listCases(tx, of, null, MAX_CASES) : []
  const findings = absent.length > 0 ? absent : await collectFindings(kernel, tx, { of: found, findings: [] }, cases)
  return { ...named, version: definition.version, findings }
}

const isDecision = (named: { family: string; key: string }): named is DefinitionKey => isDecisionFamily(named.family)

const getErrors = (standing: DefinitionStatus | null): Finding[] =>
  standing?.findings.filter(({ severity }) => severity === 'error') ?? []
const faultId = ({ code, pointer }: Finding): string => `${code} ${pointer}`

/** Maximum number of later scheduled changes that are checked. */
const MAX_INSTANTS = 20

/** The instant of the change, and every later one at which the definition or one of its lists changes. */
async function listMoments(tx: Tx, { family, key }: DefinitionKey, first: CheckOptions): Promise<CheckOptions[]> {
  const later = await documentStore.listUpcomingChanges(tx, { family, key }, first.valid_at ?? null, MAX_INSTANTS)
  return [first, ...later.map(({ at }) => ({ ...first, valid_at: at }))]
}

/** Called before a change of what is in force; the returned function runs after it in the same transaction. */
export async function reviewInForce(
  kernel: Capabilities<'caches' | 'threads'>,
  tx: Tx,
  change: unknown,
): Promise<FinishReview> {
  const { family, list_key, effective_from } = change as activationStore.InForceChange
  // A scheduled change is checked as of its start.
  const later = effective_from !== null && Date.parse(effective_from) > Date.now()
  const first = { ...(later && { valid_at: effective_from }), cases: family !== 'list', unsettled: true }
  if (family !== 'list' && !isDecisionFamily(family)) return async () => []
  await documentStore.lockDefinitions(tx)
  if (family !== 'list') return () => checkProofGate(kernel, tx, { family, key: list_key }, first)
  const asked: Pick<StatusBefore, 'reader' | 'moment'>[] = []
  for (const reader of (await documentStore.listReferencingDefinitions(tx, list_key)).filter(isDecision)) {
    for (const moment of await listMoments(tx, reader, first)) asked.push({ reader, moment })
  }
  const before = await mapWithPrecompute(asked, async ({ reader, moment }) => ({
    reader,
    moment,
    standing: await checkDefinitionInForce(kernel, tx, reader, moment),
  }))
  return () => checkReadersGate(kernel, tx, list_key, before)
}

async function checkProofGate(
  kernel: Capabilities<'caches' | 'threads'>,
  tx: Tx,
  definition: DefinitionKey,
  first: CheckOptions,
): Promise<versionStore.Gate[]> {
  const moments = await listMoments(tx, definition, first)
  const standings = await mapWithPrecompute(moments, (moment) => checkDefinitionInForce(kernel, tx, definition, moment))
  for (const [index, moment] of moments.entries()) {
    const standing = standings[index] ?? null
    const [fault] = getErrors(standing)
    if (!standing || !fault) continue
    const from = moment.valid_at === undefined ? '' : ` from ${moment.valid_at} on`
    const detail = `Version ${standing.version} of ${definition.key} does not hold${from}: ${fault.message}`
    const facts = { version: standing.version, from: moment.valid_at ?? null, findings: standing.findings.slice(0, 50) }
    return [{ gate: 'proof', detail: detail.slice(0, 1000), overridable: false, facts }]
  }
  return []
}

interface StatusBefore {
  readonly reader: DefinitionKey
  readonly moment: CheckOptions
  readonly standing: DefinitionStatus | null
}

/** Reports only findings that the change introduces: an invalid definition must not block corrections of its lists. */
async function checkReadersGate(
  kernel: Capabilities<'caches' | 'threads'>,
  tx: Tx,
  list_key: string,
  before: readonly StatusBefore[],
): Promise<versionStore.Gate[]> {
  const broken = new Map<
    DefinitionKey,
    DefinitionKey & { version: number | null; from: string | null; findings: Finding[] }
  >()
  const standings = await mapWithPrecompute(before, ({ reader, moment }) =>
    checkDefinitionInForce(kernel, tx, reader, moment),
  )
  for (const [index, { reader, moment, standing }] of before.entries()) {
    const after = standings[index] ?? null
    const known = new Set(getErrors(standing).map(faultId))
    const findings = getErrors(after).filter((fault) => !known.has(faultId(fault)))
    if (!after || findings.length === 0 || broken.has(reader)) continue
    const from = moment.valid_at ?? null
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
