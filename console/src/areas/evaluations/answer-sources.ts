/** Where the facts of each source contract come from in a new evaluation. Pure. */
import type { Input } from '#console/ui/decision/definition-model.ts'

/** A provider that is asked now, an answer that was admitted before, or values that are typed. */
export type AnswerSource =
  | { readonly kind: 'ask'; readonly provider_key: string; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'call'; readonly call_id: string }
  | { readonly kind: 'typed' }

/** By the key of the contract. */
export type AnswerSources = Readonly<Record<string, AnswerSource>>

/** The contracts that the inputs name, each once. */
export const listContracts = (inputs: readonly Input[]): readonly string[] => [
  ...new Set(inputs.flatMap(({ from }) => (from ? [from.contract_key] : []))),
]

interface AnswerOptions {
  /** Admitted answers, newest first. */
  readonly calls: readonly { readonly call_id: string; readonly contract_key: string | null }[]
  readonly offered: readonly { readonly provider_key: string; readonly contract_key: string | null }[]
}

/** What was chosen for each contract; by default the newest answer, else a provider that can be asked, else typed values. */
export function chooseSources(
  contracts: readonly string[],
  chosen: AnswerSources,
  { calls, offered }: AnswerOptions,
): AnswerSources {
  const choose = (key: string): AnswerSource => {
    const call = calls.find(({ contract_key }) => contract_key === key)
    if (call) return { kind: 'call', call_id: call.call_id }
    const provider = offered.find(({ contract_key }) => contract_key === key)
    return provider ? { kind: 'ask', provider_key: provider.provider_key, input: {} } : { kind: 'typed' }
  }
  return Object.fromEntries(contracts.map((key) => [key, chosen[key] ?? choose(key)]))
}

/** Inputs that people give: an answer gives the others. */
export const listTypedInputs = (inputs: readonly Input[], sources: AnswerSources): readonly Input[] =>
  inputs.filter(({ from }) => !from || (sources[from.contract_key]?.kind ?? 'typed') === 'typed')

export function buildAnswerRequest(sources: AnswerSources) {
  const entries = Object.entries(sources)
  const asked = entries.flatMap(([key, source]) => (source.kind === 'ask' ? [[key, source] as const] : []))
  return {
    call_ids: entries.flatMap(([, source]) => (source.kind === 'call' ? [source.call_id] : [])),
    /** Null: no provider is asked. */
    ask:
      asked.length === 0
        ? null
        : {
            providers: Object.fromEntries(asked.map(([key, { provider_key }]) => [key, provider_key])),
            call_inputs: Object.fromEntries(asked.map(([key, { input }]) => [key, { ...input }])),
          },
  }
}
