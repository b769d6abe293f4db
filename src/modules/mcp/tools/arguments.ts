/** Turns the arguments of a tool call into the parts of a request, and the places of its faults back. */
import { isPlainText } from '#kernel/auth/token-verifier.ts'
import { failValidation } from '#kernel/http/validation.ts'
import type { ProblemError } from '#kernel/problem.ts'
import type { CallInputs } from '#kernel/request/operation-call.ts'
import type { Tool } from './catalogue.ts'
import { MAX_ITEMS, takesIdempotencyKey } from './tool-schema.ts'

export type Arguments = Readonly<Record<string, unknown>>

export interface ToolRequest extends CallInputs {
  readonly confirm: string | undefined
  readonly idempotency_key: string | undefined
}

export function toToolRequest(tool: Tool, given: Arguments): ToolRequest {
  const { route, mark } = tool
  const parts = {
    params: route.params ? ({} as Record<string, unknown>) : undefined,
    query: route.query ? ({} as Record<string, unknown>) : undefined,
    body: route.body ? ({} as Record<string, unknown>) : undefined,
  }
  const faults: ProblemError[] = []
  let confirm: string | undefined
  let idempotency_key: string | undefined
  for (const [name, value] of Object.entries(given)) {
    const argument = tool.arguments.get(name)
    if (argument) {
      // A path holds text only: a model that gives the number 3 means the text 3.
      const isNumber = argument.part === 'params' && typeof value === 'number'
      ;(parts[argument.part] as Record<string, unknown>)[argument.member] = isNumber ? String(value) : value
    } else if (name === 'confirm' && mark.confirm) {
      if (isPlainText(value)) confirm = value
      else faults.push(toFault(name, 'must be a text'))
    } else if (name === 'idempotency_key' && takesIdempotencyKey(route)) {
      if (typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value)) idempotency_key = value
      else faults.push(toFault(name, 'must be 1 to 255 visible ASCII characters'))
    } else faults.push(toFault(name.slice(0, 100), 'is not a known argument of this tool'))
  }
  const limit = parts.query?.['limit']
  if (typeof limit === 'number' && limit > MAX_ITEMS) faults.push(toFault('limit', `must be <= ${MAX_ITEMS}`))
  if (faults.length > 0) failValidation(faults)
  if (parts.query && tool.arguments.get('limit')?.part === 'query') parts.query['limit'] ??= MAX_ITEMS
  return { ...parts, confirm, idempotency_key }
}

const toFault = (name: string, detail: string): ProblemError => ({
  in: 'body',
  pointer: `#/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
  detail,
})

/** Names faults by their argument: callers know nothing of paths, queries and bodies. */
export function toArgumentErrors(tool: Tool, errors: readonly ProblemError[]): ProblemError[] {
  const renamed = Object.entries(tool.mark.rename ?? {})
  return errors.map((error) => {
    const rename = renamed.find(
      ([member]) => error.pointer === `#/${member}` || error.pointer.startsWith(`#/${member}/`),
    )
    const pointer = rename ? error.pointer.replace(`#/${rename[0]}`, `#/${rename[1]}`) : error.pointer
    return { ...error, in: 'body', pointer }
  })
}

/** The text that confirms a call: the pattern of the tool with its arguments. */
export const buildConfirmation = (pattern: string, given: Arguments): string =>
  pattern.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => String(given[name]))
