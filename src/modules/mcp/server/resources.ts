/**
 * Resources: lists, matrices, explanations of decisions, definitions of tools and problem types; data is read through the same operations as
 * tools, under the same tool policy, and recorded like them.
 */
import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
  ResourceNotFoundError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { fail, Problem, type ProblemCode, problems } from '#kernel/problem.ts'
import { getCatalogue, type Tool, toToolView } from '../tools/catalogue.ts'
import { MAX_ITEMS } from '../tools/tool-schema.ts'
import { areAllowed, findReadProblem, findUsableTools } from './policy.ts'
import type { Session } from './session.ts'
import { callOperation, createCall, recordRefusal, type ToolCall } from './tool-call.ts'

interface ResourceKind {
  readonly uriTemplate: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly pattern: RegExp
  /** The operation that reads it, with the parameters of its path. */
  readonly operation: string
  readonly params: readonly string[]
  /** The tools that give the same data: the tool policy must allow each. The first is named in the call log. */
  readonly tools: readonly [string, ...string[]]
}

const KEY = '([a-z0-9][a-z0-9_-]{0,99})'

export const resourceKinds: readonly ResourceKind[] = [
  {
    uriTemplate: 'probity://lists/{list_key}/versions/{version}',
    name: 'list-version',
    title: 'A version of a list',
    description: 'Metadata and data of one version of a reference list.',
    pattern: new RegExp(`^probity://lists/${KEY}/versions/([a-z0-9]{1,20})$`),
    operation: 'getDatasetVersion',
    params: ['list_key', 'version'],
    tools: ['get_list', 'list_entries'],
  },
  {
    uriTemplate: 'probity://matrices/{matrix_key}',
    name: 'matrix',
    title: 'A risk matrix',
    description: 'What it rates, its versions, and the one in force.',
    pattern: new RegExp(`^probity://matrices/${KEY}$`),
    operation: 'getRiskMatrix',
    params: ['matrix_key'],
    tools: ['get_matrix'],
  },
  {
    uriTemplate: 'probity://evaluations/{evaluation_id}/explanation',
    name: 'explanation',
    title: 'The explanation of a decision',
    description:
      'Contributions of factors, triggers that fired, reasons in plain words, and the versions that decided.',
    pattern: /^probity:\/\/evaluations\/([0-9a-f-]{36})\/explanation$/,
    operation: 'getEvaluationExplanation',
    params: ['evaluation_id'],
    tools: ['explain_evaluation'],
  },
]

const ERROR_TEMPLATE = {
  uriTemplate: 'probity://errors/{code}',
  name: 'error',
  title: 'A problem type',
  description: 'What a problem code means and what to do about it.',
  mimeType: 'application/json',
}
/** Definitions are the same for every tenant, so reading one is not recorded. */
const TOOL_TEMPLATE = {
  uriTemplate: 'probity://tools/{tool}',
  name: 'tool',
  title: 'A tool',
  description: 'The definition of a tool that can be called by name, also where tools/list has no place for it.',
  mimeType: 'application/json',
}
const TOOL_PATTERN = /^probity:\/\/tools\/([a-z][a-z0-9_]{0,63})$/
const ERROR_PATTERN = /^probity:\/\/errors\/([a-z_]{1,100})$/

export async function listResourceTemplates(session: Session): Promise<ListResourceTemplatesResult> {
  const templates: ListResourceTemplatesResult['resourceTemplates'] = []
  for (const { uriTemplate, name, title, description, tools } of resourceKinds) {
    if (!(await areAllowed(session, tools))) continue
    templates.push({ uriTemplate, name, title, description, mimeType: 'application/json' })
  }
  return { resourceTemplates: [...templates, TOOL_TEMPLATE, ERROR_TEMPLATE] }
}

/** Undefined where there is no such template. */
export function listTemplateArguments(uri: string): readonly string[] | undefined {
  const known = [...resourceKinds, TOOL_TEMPLATE, ERROR_TEMPLATE].some(({ uriTemplate }) => uriTemplate === uri)
  return known ? [...uri.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name as string) : undefined
}

interface ListItem {
  readonly list_key: string
  readonly title: string
  readonly active?: { readonly version: number } | null
}
interface MatrixItem {
  readonly matrix_key: string
  readonly title: string
}

/** Reads a page of what can be completed or listed, as the tool does that the policy names. */
export interface Listing {
  readonly operation: string
  readonly tool: string
}
export const LISTS: Listing = { operation: 'listDatasets', tool: 'search_lists' }
/** No tool lists matrices; whoever may read each of them may see their keys. */
export const MATRICES: Listing = { operation: 'listRiskMatrices', tool: 'get_matrix' }

const NO_PAGE = { items: [], next_cursor: null }

/** Lists with a version in force, page by page; the first page begins with the matrices. Without what the policy keeps back. */
export async function listResources(
  session: Session,
  ctx: ServerContext,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const asked = { session, ctx, method: 'resources/list' }
  const [mayReadLists, mayReadMatrices] = await Promise.all([
    areAllowed(session, [LISTS.tool, ...getTools('list-version')]),
    areAllowed(session, getTools('matrix')),
  ])
  const query = { limit: MAX_ITEMS, ...(cursor && { cursor }) }
  const page = mayReadLists ? await readPage<ListItem>(asked, LISTS, query) : NO_PAGE
  const matrices =
    cursor || !mayReadMatrices ? NO_PAGE : await readPage<MatrixItem>(asked, MATRICES, { limit: MAX_ITEMS })
  const lists = page.items.flatMap(({ list_key, title, active }) =>
    active ? [toResource(`probity://lists/${list_key}/versions/${active.version}`, list_key, title)] : [],
  )
  return {
    resources: [
      ...matrices.items.map(({ matrix_key, title }) =>
        toResource(`probity://matrices/${matrix_key}`, matrix_key, title),
      ),
      ...lists,
    ],
    ...(page.next_cursor !== null && { nextCursor: page.next_cursor }),
  }
}

const getTools = (name: string): readonly string[] => resourceKinds.find((kind) => kind.name === name)?.tools ?? []

const toResource = (uri: string, name: string, title: string) => ({ uri, name, title, mimeType: 'application/json' })

interface ResourceRequest {
  readonly session: Session
  readonly ctx: ServerContext
  readonly method: string
}

/** One page, recorded like a call of the tool. */
export async function readPage<T>(
  { session, ctx, method }: ResourceRequest,
  { operation, tool }: Listing,
  query: Readonly<Record<string, unknown>>,
): Promise<{ items: readonly T[]; next_cursor: string | null }> {
  const call = createCall(session, ctx, { name: tool, given: query, resource: method })
  const body = await readOperation(call, operation, { params: undefined, query: { ...query } })
  return JSON.parse(body) as { items: readonly T[]; next_cursor: string | null }
}

/** Recorded like a call of the tool, refusals included. */
export async function readResource(session: Session, ctx: ServerContext, uri: string): Promise<ReadResourceResult> {
  const [, code] = ERROR_PATTERN.exec(uri) ?? []
  if (code !== undefined && Object.hasOwn(problems, code)) return toContents(uri, describeProblem(code as ProblemCode))
  const tool = await findUsableTool(session, uri)
  if (tool) return toContents(uri, JSON.stringify(toToolView(tool)))
  for (const { pattern, operation, params, tools, uriTemplate } of resourceKinds) {
    const match = pattern.exec(uri)
    if (!match) continue
    const named = Object.fromEntries(params.map((name, at) => [name, match[at + 1] as string]))
    const call = createCall(session, ctx, {
      name: tools[0],
      given: named,
      resource: uri,
      resource_template: uriTemplate,
    })
    const refused = await findReadProblem(session, tools)
    if (refused) {
      await recordRefusal(call, findRoute(call, operation), refused.code)
      throw refused
    }
    try {
      return toContents(uri, await readOperation(call, operation, { params: named, query: {} }))
    } catch (error) {
      // A resource of another tenant is answered exactly like one that does not exist.
      if (error instanceof Problem && error.status === 404) throw new ResourceNotFoundError(uri)
      throw error
    }
  }
  await recordRefusal(createCall(session, ctx, { name: 'resources/read', given: { uri } }), undefined, 'not_found')
  throw new ResourceNotFoundError(uri.slice(0, 300))
}

async function findUsableTool(session: Session, uri: string): Promise<Tool | undefined> {
  const [, name] = TOOL_PATTERN.exec(uri) ?? []
  if (name === undefined || !(await findUsableTools(session)).has(name)) return undefined
  return getCatalogue(session.kernel.routes).get(name)
}

const findRoute = ({ session }: ToolCall, operation: string) => ({
  route: session.kernel.routes.find(({ id }) => id === operation) ?? fail('not_found'),
})

async function readOperation(
  call: ToolCall,
  operation: string,
  { params, query }: { params: unknown; query: unknown },
): Promise<string> {
  const named = findRoute(call, operation)
  const inputs = { params, query: named.route.query ? query : undefined, body: undefined, idempotency_key: undefined }
  const response = await callOperation(call, named, inputs)
  return response.body ?? '{}'
}

const toContents = (uri: string, text: string): ReadResourceResult => ({
  contents: [{ uri, mimeType: 'application/json', text }],
})

function describeProblem(code: ProblemCode): string {
  const { status, title, advice } = problems[code]
  return JSON.stringify({ code, status, title, advice })
}
