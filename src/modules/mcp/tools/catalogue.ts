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
    tools.set(name, {
      mark: route.tool,
      route,
      arguments: listArguments(route, route.tool),
      inputSchema: buildInputSchema(route, route.tool),
      outputSchema: buildOutputSchema(route),
    })
  }
  return new Map([...tools].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** The tools that a caller can use now. */
export function listTools(routes: readonly Route[], rules: readonly ToolRule[], held: readonly Role[]): Tool[] {
  const usable = new Set(listUsableTools(routes, rules, held))
  return [...getCatalogue(routes).values()].filter(({ mark }) => usable.has(mark.name))
}

/** As `tools/list` gives it. */
export function toToolView({ mark, route, inputSchema, outputSchema }: Tool): ToolDefinition {
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
