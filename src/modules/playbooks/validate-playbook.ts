/** All findings on a playbook: the text itself, what it names as the tenant sees it, and the paths through it. */
import { mapWithPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { Module } from '#kernel/module.ts'
import type { Problem } from '#kernel/problem.ts'
import type { AnyStepKind, StepKind, StepReference } from '#kernel/step-kind.ts'
import { documentStore, resolver } from '#modules/definitions/index.ts'
import { loadConditionLists } from './applicable-steps.ts'
import { checkPaths, parseConditions } from './check-conditions.ts'
import {
  checkClocks,
  checkFacts,
  checkKeys,
  checkNeeds,
  checkSchema,
  checkShape,
  error,
  type Finding,
} from './check-playbook.ts'
import { subjectFacts } from './conditions.ts'
import {
  CALENDAR_LIST,
  CURRENCY_LIST,
  INVESTIGATION_AREA,
  type Playbook,
  type PlaybookStep,
  REASON_CODE_LIST,
} from './model.ts'
import { toPlaybook } from './playbook-parts.ts'
import { findExecutionRefusal } from './step-providers.ts'

export type PlaybookCapabilities = Capabilities<'caches' | 'forced_provider_mode' | 'modules'>

/** A step of any kind, with settings that only its kind knows. */
type AnyStep = Omit<PlaybookStep, 'kind' | 'with'> & { readonly kind: string; readonly with: unknown }
/** The settings have passed the schema of the kind before one of its functions gets them. */
type CheckedKind = StepKind<unknown>

export const listStepKinds = (modules: readonly Module[]): ReadonlyMap<string, CheckedKind> =>
  new Map(
    modules
      .flatMap(({ step_kinds = [] }): readonly AnyStepKind[] => step_kinds)
      .map((kind) => [kind.kind, kind as unknown as CheckedKind]),
  )

/** Every finding, with the lists that the version reads. */
export async function validatePlaybook(
  kernel: PlaybookCapabilities,
  tx: Tx,
  text: documentStore.DefinitionText,
): Promise<documentStore.Validation> {
  const shape = checkShape(text)
  if (shape.length > 0) return { findings: shape, list_keys: [], proof: {} }
  const playbook = toPlaybook(text)
  const inner = [
    ...checkKeys(playbook),
    ...checkFacts(playbook),
    ...checkClocks(playbook.clocks),
    ...checkNeeds(playbook),
  ]
  // Conditions and steps read facts by their declarations.
  if (inner.some(({ pointer }) => pointer.startsWith('/facts'))) return { findings: inner, list_keys: [], proof: {} }
  const parsed = parseConditions(playbook)
  const references = listReferences(playbook, parsed.references)
  const keys = [...new Set(references.map(({ list_key }) => list_key))].sort()
  const pointers = await resolver.findPointersInForce(tx, keys, {})
  const missing = references
    .filter(({ list_key }) => !pointers.has(list_key))
    .map(({ list_key, pointer }) =>
      error('list_not_in_force', pointer, `No version of the list ${list_key} is in force.`),
    )
  const before = [...inner, ...parsed.findings, ...missing]
  const lists = await loadConditionLists(
    kernel,
    tx,
    parsed.references.map(({ list_key }) => list_key),
  )
  const findings = [
    ...before,
    ...(await checkSteps(kernel, tx, playbook)),
    ...(await checkPolicyLists(kernel, tx, playbook)),
    ...(before.length === 0 ? checkPaths(playbook, parsed, lists) : []),
  ]
  return {
    findings,
    list_keys: [...pointers.keys()],
    proof: { steps: playbook.steps.length, lists: documentStore.toListVersions(pointers) },
  }
}

/** Every place at which a playbook reads a list. */
export function listReferences(
  { outcomes, clocks, steps }: Playbook,
  conditions: readonly documentStore.ListReference[],
): documentStore.ListReference[] {
  return [
    ...outcomes.map(({ code }, index) => ({
      list_key: REASON_CODE_LIST,
      pointer: `/outcomes/${index}`,
      key: code,
      field: null,
    })),
    ...clocks.flatMap((clock, index) =>
      'calendar' in clock && clock.calendar !== undefined
        ? [{ list_key: CALENDAR_LIST, pointer: `/clocks/${index}/calendar`, key: clock.calendar, field: null }]
        : [],
    ),
    ...steps.flatMap(({ max_cost }, index) =>
      max_cost
        ? [
            {
              list_key: CURRENCY_LIST,
              pointer: `/steps/${index}/max_cost/currency`,
              key: max_cost.currency,
              field: null,
            },
          ]
        : [],
    ),
    ...conditions,
  ]
}

async function checkSteps(kernel: PlaybookCapabilities, tx: Tx, playbook: Playbook): Promise<Finding[]> {
  const kinds = listStepKinds(kernel.modules)
  const facts = new Set([...subjectFacts, ...playbook.facts.map(({ name }) => name)])
  const findings: Finding[] = []
  const byKind = new Map<CheckedKind, { readonly step: AnyStep; readonly index: number }[]>()
  for (const [index, step] of (playbook.steps as readonly AnyStep[]).entries()) {
    const kind = kinds.get(step.kind)
    const faults = kind ? checkMembers(kind, step) : [findUnknownKind(kinds)]
    findings.push(...faults.map((fault) => ({ ...fault, pointer: `/steps/${index}${fault.pointer}` })))
    if (kind && faults.length === 0) byKind.set(kind, [...(byKind.get(kind) ?? []), { step, index }])
  }
  for (const [kind, steps] of byKind) {
    const checked = steps.map(({ step }) => ({ with: step.with, max_cost: step.max_cost, facts }))
    const found = await kind.check(kernel, tx, checked)
    for (const [at, { index }] of steps.entries())
      findings.push(...(found[at] ?? []).map((fault) => ({ ...fault, pointer: `/steps/${index}${fault.pointer}` })))
  }
  return findings
}

/** Findings on a step that is added to a case of this playbook. */
export const checkAddedStep = (
  kernel: PlaybookCapabilities,
  tx: Tx,
  playbook: Playbook,
  step: AnyStep,
): Promise<Finding[]> => checkSteps(kernel, tx, { ...playbook, steps: [step as PlaybookStep] })

const findUnknownKind = (kinds: ReadonlyMap<string, unknown>): Finding =>
  error('kind_unknown', '/kind', `There is no such kind of step. There are: ${[...kinds.keys()].join(', ')}.`)

function checkMembers(kind: CheckedKind, step: AnyStep): Finding[] {
  const findings = checkSchema(kind.schema, step.with, '/with', 'step_invalid')
  const useless = (member: string) =>
    error('member_useless', `/${member}`, `"${member}" has no meaning for the kind ${kind.kind}.`)
  if (step.reuse_days !== null && !kind.is_reusable) findings.push(useless('reuse_days'))
  if (step.max_cost !== null && !kind.has_cost) findings.push(useless('max_cost'))
  return findings
}

/** Reason codes, calendars and currencies that do not exist. A list that is not in force is reported elsewhere. */
async function checkPolicyLists(kernel: PlaybookCapabilities, tx: Tx, playbook: Playbook): Promise<Finding[]> {
  const references = listReferences(playbook, [])
  const lists = await loadConditionLists(
    kernel,
    tx,
    references.map(({ list_key }) => list_key),
  )
  return references.flatMap(({ list_key, key, pointer }): Finding[] => {
    const list = lists.get(list_key)
    if (!list || key === null) return []
    const found = list.get(key)
    const area = found?.entry['area']
    if (!found) return [error(unknownCodes[list_key] ?? 'entry_unknown', pointer, `${list_key} has no ${key}.`)]
    if (list_key !== REASON_CODE_LIST || area === INVESTIGATION_AREA) return []
    return [error('reason_code_area', pointer, `${key} belongs to the area ${area}, not to ${INVESTIGATION_AREA}.`)]
  })
}

const unknownCodes: Readonly<Record<string, string>> = {
  [REASON_CODE_LIST]: 'reason_code_unknown',
  [CALENDAR_LIST]: 'calendar_unknown',
  [CURRENCY_LIST]: 'currency_unknown',
}

/** Keys of the providers that a playbook may call; unknown kinds are left out. */
export async function listPlaybookProviders(
  kernel: PlaybookCapabilities,
  tx: Tx,
  { steps }: Playbook,
): Promise<string[]> {
  const kinds = listStepKinds(kernel.modules)
  const keys = new Set<string>()
  for (const step of steps as readonly AnyStep[]) {
    const kind = kinds.get(step.kind)
    if (!kind || checkMembers(kind, step).length > 0) continue
    for (const key of await kind.listProviders(kernel, tx, step.with)) keys.add(key)
  }
  return [...keys].sort()
}

export interface StepRefusal {
  readonly step: string
  readonly is_required: boolean
  readonly detail: string
  /** Null: it is a tool. */
  readonly plugin_key: string | null
  readonly reasons: readonly { readonly code: string; readonly message: string }[]
}

/** Steps whose plugin or tool cannot be executed now: what keeps a case from being opened is no fault of the playbook. */
export async function listStepRefusals(
  kernel: PlaybookCapabilities & Capabilities<'plugin_policy' | 'threads'>,
  tx: Tx,
  { steps }: Playbook,
): Promise<StepRefusal[]> {
  const kinds = listStepKinds(kernel.modules)
  const found = await mapWithPrecompute(steps as readonly AnyStep[], async (step): Promise<StepRefusal[]> => {
    const kind = kinds.get(step.kind)
    if (!kind?.expectExecutable || checkMembers(kind, step).length > 0) return []
    const asked = { with: step.with, is_restricted: false }
    const refusal = await findExecutionRefusal(() => kind.expectExecutable?.(kernel, tx, asked) ?? Promise.resolve())
    return refusal ? [toStepRefusal(step, refusal)] : []
  })
  return found.flat()
}

function toStepRefusal({ key, required }: Pick<AnyStep, 'key' | 'required'>, { extra }: Problem): StepRefusal {
  const { plugin_key = null, reasons = [] } = (extra.members ?? {}) as Partial<StepRefusal>
  const shown = reasons.map(({ code, message }) => ({ code, message: message.slice(0, 1000) }))
  return { step: key, is_required: required, detail: extra.detail ?? '', plugin_key, reasons: shown }
}

/** Definitions that steps name, with the step; unknown kinds are left out. */
export function listPlaybookReferences(
  modules: readonly Module[],
  { steps }: Playbook,
): (StepReference & { readonly step: string })[] {
  const kinds = listStepKinds(modules)
  return (steps as readonly AnyStep[]).flatMap((step) => {
    const kind = kinds.get(step.kind)
    if (!kind || checkMembers(kind, step).length > 0) return []
    return kind.listReferences(step.with).map((reference) => ({ ...reference, step: step.key }))
  })
}
