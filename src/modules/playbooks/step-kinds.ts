/** The kinds of steps that exist from the start: calls of providers, decisions, and tasks of people. */
import type { CheckedStep, StepFinding, StepKind } from '#kernel/step-kind.ts'
import { resolver } from '#modules/definitions/index.ts'
import { listReadiness, type ProviderReadiness } from '#modules/provider-credentials/index.ts'
import { capabilities } from '#modules/providers/index.ts'
import { binding } from '#modules/risk-matrices/index.ts'
import { checkInput } from '#provider/check-input.ts'
import { appendStep } from '#provider/findings.ts'
import { EvaluationSettings, ProviderSettings, TaskSettings } from './model.ts'
import { runEvaluationStep } from './run-evaluation-step.ts'
import { runProviderStep } from './run-provider-step.ts'
import { chooseStepProvider, findExecutionRefusal, findStepProviders, isOffering } from './step-providers.ts'

const error = (code: string, pointer: string, message: string): StepFinding => ({
  code,
  pointer,
  message,
  severity: 'error',
})

export const providerStep: StepKind<ProviderSettings> = {
  kind: 'provider',
  title: 'Call of a provider',
  schema: ProviderSettings,
  is_reusable: true,
  has_cost: true,
  listReferences: ({ provider, capability }) =>
    provider === undefined
      ? [{ family: 'capability', key: capability, pointer: '/with/capability' }]
      : [{ family: 'provider', key: provider, pointer: '/with/provider' }],
  async check(kernel, tx, steps) {
    const all = await listReadiness(kernel, tx)
    return steps.map((step) => checkProviderStep(step, all))
  },
  listProviders: async (kernel, tx, settings) =>
    (await findStepProviders(kernel, tx, settings)).map(({ provider }) => provider.provider_key),
  async expectExecutable(kernel, tx, step) {
    const { refusal } = await chooseStepProvider(kernel, tx, step.with)
    if (refusal) throw refusal
  },
  run: runProviderStep,
}

function checkProviderStep(
  step: CheckedStep<ProviderSettings>,
  all: ReadonlyMap<string, ProviderReadiness>,
): StepFinding[] {
  const { capability, provider } = step.with
  const named = provider === undefined ? undefined : all.get(provider)
  if (provider !== undefined && !named)
    return [error('provider_not_in_force', '/with/provider', `No version of the provider ${provider} is in force.`)]
  const candidates = named ? [named] : [...all.values()]
  const offering = candidates.filter((each) => isOffering(each, capability))
  if (offering.length === 0) {
    const whose = named ? `The provider ${provider} has no` : 'No provider in force has the'
    return [error('capability_unknown', '/with/capability', `${whose} capability ${capability}.`)]
  }
  const findings = offering.flatMap((each) => checkOffer(step, each))
  if (named || offering.length === 1) return findings
  const keys = offering.map((each) => each.provider.provider_key).sort()
  const message = `${keys.join(', ')} have the capability ${capability}: the first that is ready is asked.`
  return [...findings, { code: 'provider_ambiguous', pointer: '/with', message, severity: 'warning' }]
}

/** Whether the call can be made from what the playbook knows, at no more than it may cost. */
function checkOffer(step: CheckedStep<ProviderSettings>, { provider }: ProviderReadiness): StepFinding[] {
  const offer = capabilities.findCapability(provider.manifest, step.with.capability)
  if (!offer) return []
  const { properties, required = [] } = capabilities.getInputSchema(offer)
  const input = step.with.input ?? {}
  const unknown = Object.keys(input).filter((member) => !Object.hasOwn(properties, member))
  const undeclared = Object.entries(input).filter(([, source]) => 'fact' in source && !step.facts.has(source.fact))
  const missing = required.filter((member) => !Object.hasOwn(input, member) && !step.facts.has(member))
  const given = Object.entries(input).flatMap(([member, source]) => ('value' in source ? [[member, source.value]] : []))
  const invalid = checkInput({ type: 'object', properties, additionalProperties: false }, Object.fromEntries(given))
  const { provider_key } = provider
  return [
    ...unknown.map((member) =>
      error(
        'input_unknown',
        appendStep('/with/input', member),
        `${step.with.capability} of ${provider_key} does not take "${member}".`,
      ),
    ),
    ...undeclared.map(([member]) =>
      error(
        'fact_undeclared',
        `${appendStep('/with/input', member)}/fact`,
        `The fact of "${member}" is not declared in "facts".`,
      ),
    ),
    ...missing.map((member) =>
      error(
        'input_missing',
        appendStep('/with/input', member),
        `${step.with.capability} of ${provider_key} needs "${member}": name its source, a value or a fact, or declare a fact of this name.`,
      ),
    ),
    ...invalid
      .filter(({ keyword }) => keyword !== 'additionalProperties')
      .map(({ pointer, message }) =>
        error(
          'input_invalid',
          `/with/input${pointer}/value`,
          `${step.with.capability} of ${provider_key} does not take this value of "${pointer.slice(1)}": it ${message}.`,
        ),
      ),
    ...checkCost(step, offer, provider_key),
  ]
}

function checkCost(
  { max_cost }: CheckedStep<ProviderSettings>,
  { cost, name }: capabilities.Capability,
  provider_key: string,
): StepFinding[] {
  if (!max_cost || !cost) return []
  const of = `${name} of ${provider_key}`
  if (cost.currency !== max_cost.currency)
    return [error('cost_currency', '/max_cost/currency', `${of} is charged in ${cost.currency}.`)]
  if (cost.minor <= capabilities.toMinor(max_cost.amount)) return []
  return [error('cost_above_limit', '/max_cost/amount', `${of} costs more than that: it would never be called.`)]
}

const toDecision = (settings: EvaluationSettings) =>
  'matrix' in settings
    ? ({ family: 'matrix', key: settings.matrix, pointer: '/with/matrix' } as const)
    : ({ family: 'rule', key: settings.rule, pointer: '/with/rule' } as const)

export const evaluationStep: StepKind<EvaluationSettings> = {
  kind: 'evaluation',
  title: 'Decision of a matrix or rule',
  schema: EvaluationSettings,
  is_reusable: false,
  has_cost: false,
  listReferences: (settings) => [toDecision(settings)],
  async check(_kernel, tx, steps) {
    const wanted = steps.map((step) => ('matrix' in step.with !== 'rule' in step.with ? toDecision(step.with) : null))
    const findKeys = async (family: 'matrix' | 'rule') => {
      const keys = wanted.flatMap((each) => (each?.family === family ? [each.key] : []))
      return resolver.findPointersInForce(tx, [...new Set(keys)], {}, family)
    }
    const in_force = { matrix: await findKeys('matrix'), rule: await findKeys('rule') }
    return wanted.map((each): StepFinding[] => {
      if (!each) return [error('step_invalid', '/with', 'Name either a matrix or a rule.')]
      const { family, key, pointer } = each
      if (in_force[family].has(key)) return []
      return [error(`${family}_not_in_force`, pointer, `No version of the ${family} ${key} is in force.`)]
    })
  },
  listProviders: async () => [],
  async expectExecutable(kernel, tx, { with: settings, is_restricted }) {
    // A restricted case makes no decision.
    if (is_restricted) return
    const { family, key } = toDecision(settings)
    const refusal = await findExecutionRefusal(() => binding.getResolution(kernel, tx, { family, key }))
    if (refusal) throw refusal
  },
  run: runEvaluationStep,
}

export const taskStep: StepKind<TaskSettings> = {
  kind: 'task',
  title: 'Task of a person',
  schema: TaskSettings,
  is_reusable: false,
  has_cost: false,
  listReferences: () => [],
  check: async (_kernel, _tx, steps) => steps.map(() => []),
  listProviders: async () => [],
  run: async ({ addTask }) => ({ state: 'given', store: addTask }),
}
