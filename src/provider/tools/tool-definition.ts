/** What a tool server offers, and the hash that it is pinned by. Texts of a server are data: they are stored and shown, never obeyed. */
import { hash } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { isJsonObject, type JsonObject } from './tool-messages.ts'

const pinnedMembers = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const

/** The members of a tool that decide what it does and how it is understood; others, such as icons, may change. */
export interface ToolDefinition {
  readonly name: string
  readonly title?: unknown
  readonly description?: unknown
  readonly inputSchema?: unknown
  readonly outputSchema?: unknown
  readonly annotations?: unknown
}

/** ASCII only: two names that look alike are the same name. */
export const TOOL_NAME_PATTERN = '^[A-Za-z0-9_.-]{1,128}$'
const TOOL_NAME = new RegExp(TOOL_NAME_PATTERN)
export const MAX_DEFINITION_BYTES = 64 * 1024
export const MAX_TOOLS = 500

/** Why a listed tool is not offered to anybody. */
export const refusedReasons = [
  'name_missing',
  'name_not_allowed',
  'name_repeated',
  'definition_too_large',
  'text_not_storable',
] as const
export type RefusedReason = (typeof refusedReasons)[number]

export interface RefusedTool {
  /** At most 100 characters, anything but visible ASCII written as an escape; null: it has none. */
  readonly name: string | null
  readonly reason: RefusedReason
}

export interface OfferedTools {
  readonly tools: ReadonlyMap<string, ToolDefinition>
  readonly refused: readonly RefusedTool[]
}

/** The tools of a list by name. A name that is listed twice names neither of them. */
export function readTools(listed: readonly unknown[]): OfferedTools {
  const tools = new Map<string, ToolDefinition>()
  const refused: RefusedTool[] = []
  const names = listed.map((tool) => (isJsonObject(tool) ? tool['name'] : undefined))
  const counts = new Map<unknown, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  for (const tool of listed) {
    const reason = findRefusal(tool, counts)
    if (reason) refused.push({ name: showName(isJsonObject(tool) ? tool['name'] : undefined), reason })
    else tools.set((tool as ToolDefinition).name, toDefinition(tool as JsonObject))
  }
  return { tools, refused }
}

function findRefusal(tool: unknown, counts: ReadonlyMap<unknown, number>): RefusedReason | null {
  const name = isJsonObject(tool) ? tool['name'] : undefined
  if (typeof name !== 'string' || name === '') return 'name_missing'
  if (!TOOL_NAME.test(name)) return 'name_not_allowed'
  if ((counts.get(name) ?? 0) > 1) return 'name_repeated'
  const text = canonicalJson(toDefinition(tool as JsonObject))
  if (Buffer.byteLength(text) > MAX_DEFINITION_BYTES) return 'definition_too_large'
  // PostgreSQL has no U+0000.
  return text.includes('\\u0000') ? 'text_not_storable' : null
}

/** What is listed beside these members is neither pinned nor stored. */
function toDefinition(tool: JsonObject): ToolDefinition {
  return Object.fromEntries(
    pinnedMembers.flatMap((name) => (Object.hasOwn(tool, name) ? [[name, tool[name]]] : [])),
  ) as unknown as ToolDefinition
}

export const hashDefinition = (definition: ToolDefinition): string => hash('sha256', canonicalJson(definition), 'hex')

/** A name that is not allowed may hold anything: it is shown in a form that cannot be mistaken for another. */
function showName(name: unknown): string | null {
  if (typeof name !== 'string' || name === '') return null
  const shown = [...name.slice(0, 100)].map((each) =>
    /^[\x20-\x7e]$/.test(each) ? each : `\\u{${(each.codePointAt(0) as number).toString(16)}}`,
  )
  return shown.join('').slice(0, 100)
}

/** A tool that says of itself that it changes nothing, or that repeating it changes nothing more. It counts only once it is pinned. */
export function isDeclaredRepeatable({ annotations }: ToolDefinition): boolean {
  if (!isJsonObject(annotations)) return false
  return annotations['readOnlyHint'] === true || annotations['idempotentHint'] === true
}

export interface DefinitionChange {
  /** JSON pointer into the definition. */
  readonly pointer: string
  readonly pinned?: unknown
  readonly offered?: unknown
}

const MAX_CHANGES = 200

/** The smallest members that differ, at most 200 of them. */
export function diffDefinitions(pinned: unknown, offered: unknown, pointer = ''): DefinitionChange[] {
  if (isJsonObject(pinned) && isJsonObject(offered)) {
    const names = [...new Set([...Object.keys(pinned), ...Object.keys(offered)])].sort()
    return names
      .flatMap((name) => {
        const at = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
        const [before, after] = [getOwn(pinned, name), getOwn(offered, name)]
        return diffDefinitions(before, after, at)
      })
      .slice(0, MAX_CHANGES)
  }
  if (pinned === undefined && offered === undefined) return []
  if (pinned !== undefined && offered !== undefined && canonicalJson(pinned) === canonicalJson(offered)) return []
  return [{ pointer, ...(pinned !== undefined && { pinned }), ...(offered !== undefined && { offered }) }]
}

const getOwn = (object: JsonObject, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined)
