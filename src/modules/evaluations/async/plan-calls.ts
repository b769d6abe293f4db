/**
 * Which providers an evaluation asks before it decides: one call for each source contract that the inputs name. Everything that can
 * be refused is refused before a call or a job exists.
 */
import type { Input } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail, Problem, type ProblemError } from '#kernel/problem.ts'
import { expectReady, type ReadyProvider } from '#modules/provider-credentials/index.ts'
import {
  type ContractProvider,
  expectExecutable,
  expectRenderable,
  listContractProviders,
} from '#modules/providers/index.ts'
import type { SubjectRow } from '#modules/subjects/index.ts'

export interface PlannedCall extends NeededContract {
  readonly provider: ReadyProvider
  readonly capability: string
  readonly input: Readonly<Record<string, unknown>>
}

/** A contract whose inputs all have a default, and whose provider cannot be asked or found nothing. */
export interface SkippedContract {
  readonly contract_key: string
  readonly reason: string
}

export interface CallPlan {
  readonly calls: readonly PlannedCall[]
  readonly skipped: readonly SkippedContract[]
}

interface PlanRequest {
  readonly declared: readonly Input[]
  readonly subject: Pick<SubjectRow, 'attributes' | 'external_id' | 'name'> | null
  readonly inputs: Readonly<Record<string, unknown>>
  /** Contracts whose facts cited calls give already. */
  readonly cited: readonly string[]
  /** The provider to ask for a contract, where several could answer. */
  readonly providers: Readonly<Record<string, string>>
  /** Input of the call for a contract; members that are absent come from the subject. */
  readonly call_inputs: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

interface NeededContract {
  readonly contract_key: string
  /** All inputs that come from it have a default. */
  readonly is_optional: boolean
}

function listNeededContracts({ declared, inputs, cited }: PlanRequest): NeededContract[] {
  const keys = [...new Set(declared.flatMap(({ from }) => (from ? [from.contract_key] : [])))].sort()
  return keys.flatMap((contract_key) => {
    const reading = declared.filter(({ from }) => from?.contract_key === contract_key)
    const open = reading.filter(({ name }) => !Object.hasOwn(inputs, name))
    if (cited.includes(contract_key) || open.length === 0) return []
    return [{ contract_key, is_optional: open.every((input) => input.default !== undefined) }]
  })
}

/**
 * 422 for what is said about a contract that is not needed, 409 where no provider or several could answer, then 424 with every credential that is missing, then 503 where a plugin or tool may
 * not be used. Optional contracts are skipped where no provider can be asked.
 */
export async function planCalls(
  kernel: Capabilities<'caches' | 'forced_provider_mode' | 'plugin_policy' | 'threads'>,
  tx: Tx,
  request: PlanRequest,
): Promise<CallPlan> {
  const needed = listNeededContracts(request)
  expectNeeded(request, needed)
  const found = await listContractProviders(
    kernel,
    tx,
    needed.map(({ contract_key }) => contract_key),
  )
  const errors: ProblemError[] = []
  const skipped: SkippedContract[] = []
  const chosen: (ContractProvider & NeededContract)[] = []
  for (const { contract_key, is_optional } of needed) {
    const candidates = found.filter((each) => each.contract_key === contract_key)
    const wanted = request.providers[contract_key]
    const possible = wanted === undefined ? candidates : candidates.filter((each) => each.provider_key === wanted)
    const [only] = possible
    if (only && possible.length === 1) {
      const { gap } = only.readiness
      if (gap && is_optional) skipped.push({ contract_key, reason: `${only.provider_key}: ${gap.reason}` })
      else chosen.push({ ...only, is_optional })
    } else if (possible.length === 0 && is_optional) skipped.push({ contract_key, reason: 'no provider in force' })
    else errors.push(describeChoice(contract_key, wanted, possible))
  }
  if (errors.length > 0) {
    fail('inputs_refused', { detail: `Nothing was started. ${errors[0]?.detail ?? ''}`, errors })
  }
  const ready = await expectReady(
    kernel,
    tx,
    chosen.map(({ provider_key }) => provider_key),
  )
  const calls: PlannedCall[] = []
  for (const each of chosen) {
    const { contract_key, is_optional, provider_key, capability } = each
    const provider = ready.get(provider_key) as ReadyProvider
    const input = buildInput(each, request)
    try {
      expectRenderable(provider, { capability, input })
      await expectExecutable(kernel, tx, provider, { capability, input })
      calls.push({ contract_key, is_optional, provider, capability, input })
    } catch (error) {
      if (!is_optional) throw locateRefusedInput(error, contract_key)
      skipped.push({ contract_key, reason: `${provider_key}: ${describeRefusedInput(error)}` })
    }
  }
  return { calls, skipped }
}

/** 422 for a provider or an input of a contract that nothing is asked about: it would be ignored without a word. */
function expectNeeded({ providers, call_inputs }: PlanRequest, needed: readonly NeededContract[]): void {
  const isNeeded = (key: string): boolean => needed.some(({ contract_key }) => contract_key === key)
  const errors = Object.entries({ providers, call_inputs }).flatMap(([member, named]) =>
    Object.keys(named)
      .filter((key) => !isNeeded(key))
      .map((key): ProblemError => {
        const detail = `Nothing is asked about the source contract ${key}: no input comes from it, or its inputs are given.`
        return { in: 'body', pointer: `#/${member}/${key}`, detail, keyword: 'contract_not_needed' }
      }),
  )
  if (errors.length > 0) fail('validation_failed', { detail: errors[0]?.detail ?? '', errors })
}

const INPUT_POINTER = '#/input'

/** The error with places in this request, which has the input of each call under its contract. */
function locateRefusedInput(error: unknown, contract_key: string): unknown {
  if (!(error instanceof Problem) || !error.extra.errors) return error
  const errors = error.extra.errors.map((one) => {
    if (!one.pointer.startsWith(INPUT_POINTER)) return one
    return { ...one, pointer: `#/call_inputs/${contract_key}${one.pointer.slice(INPUT_POINTER.length)}` }
  })
  return new Problem(error.code, { ...error.extra, errors })
}

/** Codes with which the manifest of a provider, or its plugin, refuses an input. */
const REFUSED_INPUTS: readonly string[] = ['validation_failed', 'conflict']

/** Why no request can be made from the input, by the places of its members. Throws every other error again. */
function describeRefusedInput(error: unknown): string {
  if (!(error instanceof Problem) || !REFUSED_INPUTS.includes(error.code)) throw error
  const places = (error.extra.errors ?? []).map(({ pointer }) => (pointer ?? '').replace('#/input/', ''))
  return `input refused: ${[...new Set(places)].join(', ')}`
}

function describeChoice(
  contract_key: string,
  wanted: string | undefined,
  possible: readonly ContractProvider[],
): ProblemError {
  const pointer = `#/providers/${contract_key}`
  if (possible.length === 0) {
    const detail =
      wanted === undefined
        ? `No provider in force answers under the source contract ${contract_key}.`
        : `The provider ${wanted} does not answer under the source contract ${contract_key}.`
    return { in: 'body', pointer, detail, keyword: 'provider_absent' }
  }
  const names = possible.map(({ provider_key, capability }) => `${provider_key} (${capability})`).join(', ')
  const detail = `Several could answer under ${contract_key}: ${names}. Name one in "providers".`
  return { in: 'body', pointer, detail, keyword: 'provider_ambiguous' }
}

/** By the names that the provider declares: as given for this contract, then attributes of the subject, its external id and name. */
function buildInput(
  { members, contract_key }: ContractProvider,
  { subject, call_inputs }: PlanRequest,
): Record<string, unknown> {
  const known: Record<string, unknown> = {
    ...(subject && { name: subject.name, external_id: subject.external_id ?? undefined, ...subject.attributes }),
  }
  const fromSubject = members.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]]))
  return { ...Object.fromEntries(fromSubject), ...call_inputs[contract_key] }
}
