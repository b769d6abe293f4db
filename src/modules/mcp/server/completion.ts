/** Completion of keys in prompts and resource templates, as far as the caller may list them. */
import {
  type CompleteRequestParams,
  type CompleteResult,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { problems } from '#kernel/problem.ts'
import { MAX_ITEMS } from '../tools/tool-schema.ts'
import { areAllowed } from './policy.ts'
import { promptKinds } from './prompts.ts'
import { LISTS, type Listing, listTemplateArguments, MATRICES, readPage } from './resources.ts'
import { INVALID_PARAMS, type Session } from './session.ts'

const MAX_VALUES = 20

export async function complete(
  session: Session,
  ctx: ServerContext,
  { ref, argument }: Pick<CompleteRequestParams, 'ref' | 'argument'>,
): Promise<CompleteResult> {
  const taken = ref.type === 'ref/prompt' ? listPromptArguments(ref.name) : listTemplateArguments(ref.uri)
  if (!taken) throw new ProtocolError(INVALID_PARAMS, 'Unknown prompt or resource template')
  if (!taken.includes(argument.name)) throw new ProtocolError(INVALID_PARAMS, 'Unknown argument')
  const found = (await listValues(session, ctx, argument.name)).filter((value) => value.startsWith(argument.value))
  return { completion: { values: found.slice(0, MAX_VALUES), hasMore: found.length > MAX_VALUES } }
}

const listPromptArguments = (prompt: string): readonly string[] | undefined =>
  promptKinds.find(({ name }) => name === prompt)?.arguments.map(({ name }) => name)

async function listValues(session: Session, ctx: ServerContext, name: string): Promise<string[]> {
  if (name === 'code') return Object.keys(problems).sort()
  const listing = new Map([
    ['list_key', LISTS],
    ['matrix_key', MATRICES],
  ]).get(name)
  if (!listing || !(await areAllowed(session, [listing.tool]))) return []
  const items = await listAll<Readonly<Record<string, string>>>(session, ctx, listing)
  // A tenant's own list may have the key of a shared one.
  return [...new Set(items.flatMap((item) => item[name] ?? []))]
}

/** Tenants have tens of lists; a thousandth is not needed to complete a key. */
const MAX_PAGES = 4

async function listAll<T>(session: Session, ctx: ServerContext, listing: Listing): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  for (let page = 0; page < MAX_PAGES; page++) {
    const query: Record<string, unknown> = { limit: MAX_ITEMS * 4, ...(cursor !== null && { cursor }) }
    const read: { items: readonly T[]; next_cursor: string | null } = await readPage<T>(
      { session, ctx, method: 'completion/complete' },
      listing,
      query,
    )
    items.push(...read.items)
    cursor = read.next_cursor
    if (cursor === null) break
  }
  return items
}
