/** Merges the inputs of a decision, and turns its findings into problem errors. */
import type { Finding, Input } from '#decision/model.ts'
import type { ProblemError } from '#kernel/problem.ts'

/** Inputs of the request win over attributes of the subject; only attributes that the definition declares are used. */
export function mergeInputs(
  declared: readonly Input[],
  attributes: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const known = declared.flatMap(({ name }) => (Object.hasOwn(attributes, name) ? [[name, attributes[name]]] : []))
  return { ...Object.fromEntries(known), ...given }
}

const MAX_ERRORS = 50

/** Faults of inputs point into the request; faults of the definition or its lists keep their pointer into the definition. */
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
