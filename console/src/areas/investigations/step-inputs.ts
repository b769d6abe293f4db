/** Values that a call of a provider is given in a step: by hand, or from what is known of the subject. Pure. */
import type { CallInput } from '#console/ui/provider/input-fields.tsx'
import type { InputSchema } from '#console/ui/provider/manifest.ts'

interface KnownSubject {
  readonly name: string
  readonly subject_type: string
  readonly external_id?: string | null
  readonly segment?: string | null
  readonly attributes?: Readonly<Record<string, unknown>>
}

interface Fact {
  readonly name?: unknown
  readonly default?: unknown
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/** Facts that the playbook declares, as the subject has them, and those that every subject has. */
export function listKnownInputs(playbook: object | undefined, subject: KnownSubject): CallInput {
  const declared = (playbook as { readonly facts?: unknown } | undefined)?.facts
  const facts: readonly Fact[] = Array.isArray(declared) ? declared : []
  const { attributes = {}, name, subject_type, external_id, segment } = subject
  const values = facts.map((fact) => [String(fact.name), attributes[String(fact.name)] ?? fact.default] as const)
  const all = [...values, ...Object.entries({ name, subject_type, external_id, segment })]
  return Object.fromEntries(all.filter(([, value]) => isGiven(value)))
}

/** Required members that are neither given nor known. */
export const listMissingInputs = ({ required }: InputSchema, input: CallInput, known: CallInput): readonly string[] =>
  required.filter((name) => !isGiven(input[name]) && !isGiven(known[name]))

const typeNames: Readonly<Record<string, string>> = { integer: 'number' }

/** Attributes of the subject that the playbook does not declare, with which the form begins: whoever adds the step sees and sends them. */
export function suggestInputs(
  { properties }: InputSchema,
  known: CallInput,
  { attributes = {} }: KnownSubject,
): CallInput {
  const fits = (name: string, type: string) => typeof attributes[name] === (typeNames[type] ?? type)
  const names = Object.entries(properties).flatMap(([name, { type }]) => (fits(name, type) ? [name] : []))
  return Object.fromEntries(names.filter((name) => !isGiven(known[name])).map((name) => [name, attributes[name]]))
}

/** As the settings of a step name them. */
export const toInputSources = (input: CallInput) =>
  Object.fromEntries(Object.entries(input).map(([name, value]) => [name, { value }]))
