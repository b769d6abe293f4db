/** Resources: lists, matrices, explanations of decisions and problem types, read through the same operations as tools. */
import {
  type ListResourcesResult,
  type ReadResourceResult,
  ResourceNotFoundError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { type Problem, type ProblemCode, problems } from '#kernel/problem.ts'
import { MAX_ITEMS } from '../tools/tool-schema.ts'
import { getClientName, type Session, toProtocolError } from './session.ts'

interface ResourceKind {
  readonly uriTemplate: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly pattern: RegExp
  /** The operation that reads it, with the parameters of its path. */
  readonly operation: string
  readonly params: readonly string[]
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
  },
  {
    uriTemplate: 'probity://matrices/{matrix_key}',
    name: 'matrix',
    title: 'A risk matrix',
    description: 'What it rates, its versions, and the one in force.',
    pattern: new RegExp(`^probity://matrices/${KEY}$`),
    operation: 'getRiskMatrix',
    params: ['matrix_key'],
  },
  {
    uriTemplate: 'probity://evaluations/{evaluation_id}/explanation',
    name: 'explanation',
    title: 'The explanation of a decision',
    description: 'Contributions of factors, triggers that fired, reasons in plain words.',
    pattern: /^probity:\/\/evaluations\/([0-9a-f-]{36})\/explanation$/,
    operation: 'getEvaluationExplanation',
    params: ['evaluation_id'],
  },
]

const ERROR_TEMPLATE = {
  uriTemplate: 'probity://errors/{code}',
  name: 'error',
  title: 'A problem type',
  description: 'What a problem code means and what to do about it.',
  mimeType: 'application/json',
}
const ERROR_PATTERN = /^probity:\/\/errors\/([a-z_]{1,100})$/

export const listResourceTemplates = () => ({
  resourceTemplates: [
    ...resourceKinds.map(({ uriTemplate, name, title, description }) => ({
      uriTemplate,
      name,
      title,
      description,
      mimeType: 'application/json',
    })),
    ERROR_TEMPLATE,
  ],
})

interface ListItem {
  readonly list_key: string
  readonly title: string
  readonly active?: { readonly version: number } | null
}
interface MatrixItem {
  readonly matrix_key: string
  readonly title: string
}

/** Lists with a version in force, page by page; the first page begins with the matrices. */
export async function listResources(session: Session, cursor: string | undefined): Promise<ListResourcesResult> {
  try {
    const page = await readPage<ListItem>(session, 'listDatasets', { limit: MAX_ITEMS, ...(cursor && { cursor }) })
    const matrices = cursor ? [] : (await readPage<MatrixItem>(session, 'listRiskMatrices', { limit: MAX_ITEMS })).items
    const lists = page.items.flatMap(({ list_key, title, active }) =>
      active ? [toResource(`probity://lists/${list_key}/versions/${active.version}`, list_key, title)] : [],
    )
    return {
      resources: [
        ...matrices.map(({ matrix_key, title }) => toResource(`probity://matrices/${matrix_key}`, matrix_key, title)),
        ...lists,
      ],
      ...(page.next_cursor !== null && { nextCursor: page.next_cursor }),
    }
  } catch (error) {
    throw toProtocolError(error, session)
  }
}

const toResource = (uri: string, name: string, title: string) => ({ uri, name, title, mimeType: 'application/json' })

export async function readPage<T>(
  session: Session,
  operation: string,
  query: Readonly<Record<string, unknown>>,
): Promise<{ items: T[]; next_cursor: string | null }> {
  const inputs = { params: undefined, query: { ...query }, body: undefined }
  const response = await session.kernel.call(operation, session.actor, inputs, { via: 'mcp', request: session.request })
  return JSON.parse(response.body ?? '{}') as { items: T[]; next_cursor: string | null }
}

/** Leaves one audit event, like a call of a tool. */
export async function readResource(session: Session, ctx: ServerContext, uri: string): Promise<ReadResourceResult> {
  const [, code] = ERROR_PATTERN.exec(uri) ?? []
  if (code !== undefined && Object.hasOwn(problems, code)) return toContents(uri, describeProblem(code as ProblemCode))
  for (const { pattern, operation, params } of resourceKinds) {
    const match = pattern.exec(uri)
    if (!match) continue
    const named = Object.fromEntries(params.map((name, at) => [name, match[at + 1] as string]))
    return toContents(uri, await readOperation(session, ctx, uri, { operation, params: named }))
  }
  throw new ResourceNotFoundError(uri.slice(0, 300))
}

async function readOperation(
  session: Session,
  ctx: ServerContext,
  uri: string,
  { operation, params }: { operation: string; params: Record<string, string> },
): Promise<string> {
  const client = getClientName(session, ctx)
  const route = session.kernel.routes.find(({ id }) => id === operation)
  const inputs = { params, query: route?.query ? {} : undefined, body: undefined }
  try {
    const response = await session.kernel.call(operation, session.actor, inputs, {
      via: 'mcp',
      request: session.request,
      recorded: {
        detail: { via: 'mcp', resource: uri, ...(client !== null && { client }) },
        onEvent: () => undefined,
      },
    })
    return response.body ?? '{}'
  } catch (error) {
    // A resource of another tenant is answered exactly like one that does not exist.
    if ((error as Problem).status === 404) throw new ResourceNotFoundError(uri)
    throw toProtocolError(error, session)
  }
}

const toContents = (uri: string, text: string): ReadResourceResult => ({
  contents: [{ uri, mimeType: 'application/json', text }],
})

function describeProblem(code: ProblemCode): string {
  const { status, title, advice } = problems[code]
  return JSON.stringify({ code, status, title, advice })
}
