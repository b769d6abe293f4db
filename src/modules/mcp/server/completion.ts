/** Completion of keys in prompts and resource templates, as far as the caller may list them. */
import type { CompleteResult } from '@modelcontextprotocol/server'
import { problems } from '#kernel/problem.ts'
import { MAX_ITEMS } from '../tools/tool-schema.ts'
import { readPage } from './resources.ts'
import { type Session, toProtocolError } from './session.ts'

const MAX_VALUES = 20

export async function complete(session: Session, argument: { name: string; value: string }): Promise<CompleteResult> {
  const found = (await listValues(session, argument.name)).filter((value) => value.startsWith(argument.value))
  return { completion: { values: found.slice(0, MAX_VALUES), hasMore: found.length > MAX_VALUES } }
}

async function listValues(session: Session, name: string): Promise<string[]> {
  if (name === 'code') return Object.keys(problems).sort()
  try {
    if (name === 'list_key') {
      return (await listAll<{ list_key: string }>(session, 'listDatasets')).map(({ list_key }) => list_key)
    }
    if (name === 'matrix_key') {
      return (await listAll<{ matrix_key: string }>(session, 'listRiskMatrices')).map(({ matrix_key }) => matrix_key)
    }
  } catch (error) {
    throw toProtocolError(error, session)
  }
  return []
}

/** Tenants have tens of lists; a thousandth is not needed to complete a key. */
const MAX_PAGES = 4

async function listAll<T>(session: Session, operation: string): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  for (let page = 0; page < MAX_PAGES; page++) {
    const query: Record<string, unknown> = { limit: MAX_ITEMS * 4, ...(cursor !== null && { cursor }) }
    const read: { items: T[]; next_cursor: string | null } = await readPage<T>(session, operation, query)
    items.push(...read.items)
    cursor = read.next_cursor
    if (cursor === null) break
  }
  return items
}
