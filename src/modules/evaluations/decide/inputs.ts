/** What a decision is asked to decide on, and how a refusal is told. */
import type { Finding, Input } from '#decision/model.ts'
import type { ProblemError } from '#kernel/problem.ts'

/** What is sent wins over what is known of the subject; of that, only what the definition reads is taken. */
export function mergeInputs(
  declared: readonly Input[],
  attributes: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const known = declared.flatMap(({ name }) => (Object.hasOwn(attributes, name) ? [[name, attributes[name]]] : []))
  return { ...Object.fromEntries(known), ...given }
}

const MAX_ERRORS = 50

/** Faults of inputs are located in the request; faults of the definition or its lists keep the definition's pointer. */
export const toProblemErrors = (findings: readonly Finding[]): ProblemError[] =>
  findings
    .filter(({ severity }) => severity === 'error')
    .slice(0, MAX_ERRORS)
    .map(({ code, pointer, message }) => ({
      in: 'body' as const,
      pointer: code.startsWith('input_') ? `#/inputs${pointer}` : `#${pointer}`,
      detail: message,
      keyword: code,
    }))
