/** The tools of this server: what the marked operations offer, for whom, and under which policy. */
import type { Tool as ToolDefinition } from '@modelcontextprotocol/server'
import type { Role } from '#kernel/auth/roles.ts'
import { listUsableTools, type ToolRule } from '#kernel/auth/tool-policy.ts'
import type { Route, ToolMark } from '#kernel/route.ts'
import { type Argument, buildInputSchema, buildOutputSchema, listArguments, type ObjectSchema } from './tool-schema.ts'

export interface Tool {
  readonly mark: ToolMark
  readonly route: Route
  readonly arguments: ReadonlyMap<string, Argument>
  readonly inputSchema: ObjectSchema
  readonly outputSchema: ObjectSchema
  /** What it takes in `tools/list`. */
  readonly bytes: number
}

export type ToolCatalogue = ReadonlyMap<string, Tool>

let built: { readonly routes: readonly Route[]; readonly tools: ToolCatalogue } | undefined

/** Built once: the routes of a process never change. */
export function getCatalogue(routes: readonly Route[]): ToolCatalogue {
  if (built?.routes !== routes) built = { routes, tools: buildCatalogue(routes) }
  return built.tools
}

export function buildCatalogue(routes: readonly Route[]): ToolCatalogue {
  const tools = new Map<string, Tool>()
  for (const route of routes) {
    if (!route.tool) continue
    const { name } = route.tool
    if (tools.has(name)) throw new Error(`two operations are offered as the tool ${name}`)
    const tool = {
      mark: route.tool,
      route,
      arguments: listArguments(route, route.tool),
      inputSchema: buildInputSchema(route, route.tool),
      outputSchema: buildOutputSchema(route),
    }
    tools.set(name, { ...tool, bytes: Buffer.byteLength(JSON.stringify(toToolView(tool))) })
  }
  return new Map([...tools].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** A model reads the whole list before its first answer. */
export const MAX_LISTED = 24
export const MAX_LIST_BYTES = 32_768
/** Of these, what the message around the tools may have. */
const ENVELOPE_BYTES = 300

/** Left out first where the list is full: people do this work in the console, or another tool gives most of it. */
export const leftOutFirst: readonly string[] = ['run_import_preview', 'start_batch', 'resolve_lists', 'list_quarantine']

export interface ToolSelection {
  readonly listed: readonly Tool[]
  /** Usable, but not in the list: they can be called by name, and `probity://tools/{tool}` describes them. */
  readonly left_out: readonly string[]
}

/** The tools that a caller can use now, of which `tools/list` gives as many as fit. */
export function selectTools(
  routes: readonly Route[],
  rules: readonly ToolRule[],
  held: readonly Role[],
): ToolSelection {
  const usable = new Set(listUsableTools(routes, rules, held))
  let listed = [...getCatalogue(routes).values()].filter(({ mark }) => usable.has(mark.name))
  const left_out: string[] = []
  while (!fitsList(listed, left_out)) {
    const next = leftOutFirst.find((name) => listed.some(({ mark }) => mark.name === name)) ?? listed.at(-1)?.mark.name
    listed = listed.filter(({ mark }) => mark.name !== next)
    left_out.push(next as string)
  }
  return { listed, left_out }
}

function fitsList(listed: readonly Tool[], left_out: readonly string[]): boolean {
  if (listed.length > MAX_LISTED) return false
  const separators = listed.length + left_out.reduce((sum, name) => sum + name.length + 3, 0)
  const bytes = listed.reduce((sum, tool) => sum + tool.bytes, separators + ENVELOPE_BYTES)
  return listed.length === 0 || bytes <= MAX_LIST_BYTES
}

/** What `tools/list` answers. */
export const toToolListing = ({ listed, left_out }: ToolSelection) => ({
  tools: listed.map(toToolView),
  ...(left_out.length > 0 && { _meta: { 'probity/callable_by_name': left_out } }),
})

/** As `tools/list` gives it. */
export function toToolView({ mark, route, inputSchema, outputSchema }: Omit<Tool, 'bytes'>): ToolDefinition {
  const storesNothing = route.method === 'GET' || route.stores_nothing === true
  return {
    name: mark.name,
    title: mark.title,
    description: mark.description,
    inputSchema: inputSchema as unknown as ToolDefinition['inputSchema'],
    outputSchema: outputSchema as unknown as NonNullable<ToolDefinition['outputSchema']>,
    // Of what only reads, the protocol asks nothing else; calls that store something repeat their effect by default.
    annotations: storesNothing
      ? { readOnlyHint: true, openWorldHint: false }
      : { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  }
}
