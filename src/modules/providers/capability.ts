/** One capability of a manifest as calls need it: what it promises, costs and allows. */
import type { documentStore } from '#modules/definitions/index.ts'
import { listCurrencies } from '#provider/check-use.ts'
import {
  type BuiltinCapability,
  getTimeoutMs,
  type HttpCapability,
  type HttpManifest,
  type InputSchema,
  type McpCapability,
  type McpManifest,
  type PluginCapability,
  type PluginProviderManifest,
  type ProviderManifest,
  toCapabilityPromise,
} from '#provider/manifest.ts'
import type { SendLimits } from './limits/send-gate.ts'
import type { AttemptOutcome, Promised } from './queries.ts'

interface CapabilityView {
  readonly name: string
  readonly contract_key: string | null
  readonly promise: Promised
  readonly limits: SendLimits
  readonly timeout_ms: number
}

export interface BuiltinLookup extends CapabilityView {
  readonly kind: 'builtin'
  readonly cost: null
  readonly declared: BuiltinCapability
}

interface CalledCapability extends CapabilityView {
  readonly cost: { readonly minor: number; readonly currency: string; readonly per: 'answered' | 'sent' } | null
}

export interface HttpOperation extends CalledCapability {
  readonly kind: 'http'
  readonly declared: HttpCapability
  readonly manifest: HttpManifest
}

/** HTTP too; a plugin makes the request and reads the response. */
export interface PluginOperation extends CalledCapability {
  readonly kind: 'plugin'
  readonly declared: PluginCapability
  readonly manifest: PluginProviderManifest
}

/** A tool of a registered server. */
export interface ToolOperation extends CalledCapability {
  readonly kind: 'mcp'
  readonly declared: McpCapability
  readonly manifest: McpManifest
}

/** What is asked over the network. */
export type CalledOperation = HttpOperation | PluginOperation | ToolOperation
export type Capability = BuiltinLookup | CalledOperation

const DEFAULT_BREAKER = { failures: 5, window_s: 30, open_s: 30 }
const NO_LIMITS: SendLimits = {
  rate: null,
  concurrent: null,
  breaker: DEFAULT_BREAKER,
  calls_per_day: null,
  spend_per_month_minor: null,
}

/** In hundredths of the currency, rounded up: a budget is never exceeded by rounding. */
export const toMinor = (amount: string): number => Math.ceil(Number(amount) * 100 - 1e-9)

/** A published manifest was checked; its type is that of the library. */
const toManifest = (text: documentStore.DefinitionText): ProviderManifest => text as unknown as ProviderManifest

export function getLimits(text: documentStore.DefinitionText): SendLimits {
  const manifest = toManifest(text)
  if (manifest.kind === 'builtin') return NO_LIMITS
  const { limits = {}, budget = {}, breaker = {} } = manifest
  const { per_second, burst, concurrent } = limits
  return {
    rate: per_second === undefined ? null : { per_second, burst: burst ?? Math.max(1, Math.ceil(per_second)) },
    concurrent: concurrent ?? null,
    breaker: { ...DEFAULT_BREAKER, ...breaker },
    calls_per_day: budget.calls_per_day ?? null,
    spend_per_month_minor: budget.spend_per_month ? toMinor(budget.spend_per_month.amount) : null,
  }
}

/** Of the budget and of every cost. Null where there is neither, or where an earlier release admitted several currencies. */
export function getCurrency(text: documentStore.DefinitionText): string | null {
  const manifest = toManifest(text)
  const [currency = null, ...others] = manifest.kind === 'builtin' ? [] : listCurrencies(manifest)
  return others.length === 0 ? currency : null
}

/** A request that the provider charges only when it answers, and has not answered. An unknown outcome counts as charged. */
export const isUncharged = ({ cost }: Pick<Capability, 'cost'>, outcome: AttemptOutcome | null): boolean =>
  cost?.per === 'answered' && (outcome === 'failed' || outcome === 'refused')

/** Undefined where the manifest has no capability of this name. */
export function findCapability(text: documentStore.DefinitionText, name: string): Capability | undefined {
  const manifest = toManifest(text)
  if (!Object.hasOwn(manifest.capabilities, name)) return undefined
  const limits = getLimits(text)
  if (manifest.kind === 'builtin') {
    const declared = manifest.capabilities[name] as BuiltinCapability
    const contract_key = declared.contract_key ?? null
    return { name, kind: 'builtin', contract_key, promise: 'free', cost: null, limits, timeout_ms: 0, declared }
  }
  const declared = manifest.capabilities[name] as HttpCapability | PluginCapability | McpCapability
  const { contract_key, cost } = declared
  const kind = manifest.kind ?? 'http'
  return {
    name,
    kind,
    contract_key,
    promise: toCapabilityPromise(declared),
    cost: cost ? { minor: toMinor(cost.amount), currency: cost.currency, per: cost.per ?? 'sent' } : null,
    limits,
    timeout_ms: getTimeoutMs(declared),
    declared,
    manifest,
  } as CalledOperation
}

/** Built-in look-ups take the key. */
const LOOKUP_INPUT: InputSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['key'],
  properties: { key: { type: 'string', minLength: 1, maxLength: 1000 } },
}

/** The schema of what a capability is asked with. */
export const getInputSchema = (capability: Capability): InputSchema =>
  capability.kind === 'builtin' ? LOOKUP_INPUT : capability.declared.input
