/** What a tool may be used for: its state against its pin, and what keeps it from being pinned or called. */

import type { ToolDefinition } from '#provider/tools/tool-definition.ts'
import { isJsonObject } from '#provider/tools/tool-messages.ts'
import { findLimitFaults, findPatternLimitFault } from '#registry/types/schema-limits.ts'
import type { ToolRow } from './queries.ts'

export const toolStates = ['pinned', 'new', 'changed', 'vanished'] as const
export type ToolState = (typeof toolStates)[number]

/** A tool in quarantine stays there when the server returns to what was pinned: a person looks at it first. */
export function getToolState({ pinned, offered, quarantined_at }: ToolRow): ToolState {
  if (pinned === null) return 'new'
  if (quarantined_at === null) return 'pinned'
  return offered === null ? 'vanished' : 'changed'
}

export interface ToolReason {
  readonly code: string
  readonly message: string
  /** JSON pointer into the definition of the tool. */
  readonly pointer?: string
}

/** Dialects whose keywords mean the same, as far as they are allowed. */
const DIALECTS = /^https?:\/\/json-schema\.org\/(draft-07|draft\/2019-09|draft\/2020-12)\/schema#?$/

/** The output schema as results are checked by it: without the name of its dialect. */
export function getOutputSchema({ outputSchema }: ToolDefinition): Readonly<Record<string, unknown>> {
  const { $schema, ...schema } = isJsonObject(outputSchema) ? outputSchema : {}
  return typeof $schema === 'string' && DIALECTS.test($schema) ? schema : { ...(outputSchema as object) }
}

const MAX_REASONS = 20

/** Everything that keeps a tool from being pinned. */
export function findUnusable(definition: ToolDefinition): ToolReason[] {
  const { inputSchema, outputSchema } = definition
  if (!isJsonObject(inputSchema)) {
    return [
      { code: 'input_schema_missing', pointer: '/inputSchema', message: 'The tool declares no schema of its input.' },
    ]
  }
  if (!isJsonObject(outputSchema)) {
    const message = 'The tool declares no schema of its output, so its results cannot be checked.'
    return [{ code: 'output_schema_missing', pointer: '/outputSchema', message }]
  }
  const schema = getOutputSchema(definition)
  const beyond = findPatternLimitFault(schema)
  return (beyond ? [beyond] : findLimitFaults(schema))
    .slice(0, MAX_REASONS)
    .map(({ code, pointer, message }) => ({ code, pointer: `/outputSchema${pointer}`, message }))
}

/** Why a pinned tool may not be called now; empty: it may. */
export function findToolReasons(tool: ToolRow | undefined): ToolReason[] {
  if (!tool) return [{ code: 'tool_unknown', message: 'The server offers no tool of this name.' }]
  switch (getToolState(tool)) {
    case 'pinned':
      return []
    case 'new':
      return [{ code: 'tool_not_pinned', message: 'The definition of the tool was never pinned.' }]
    case 'vanished':
      return [{ code: 'tool_vanished', message: 'The server no longer offers the tool that was pinned.' }]
    case 'changed':
      return [
        { code: 'tool_changed', message: 'The server offers, or offered since, something else than what was pinned.' },
      ]
  }
}
