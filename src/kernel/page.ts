/**
 * Keyset pagination: one row more than requested shows whether there is a next page; its cursor is bound to tenant, route and
 * filters.
 */

import type { Capabilities } from './kernel.ts'
import type { Actor } from './route.ts'

export type PagePosition = readonly (string | number)[] | null

interface PageInput {
  readonly actor: Actor
  readonly kernel: Capabilities<'cursors'>
  readonly query: { readonly limit?: number; readonly cursor?: string }
}

/**
 * `order` names the members of a row that form its position, unique together. `readRows` gets the position to continue after (null
 * for the first page) and the number of rows to read.
 */
export async function paginate<Row extends object>(
  input: PageInput,
  route: string,
  order: readonly (keyof Row & string)[],
  readRows: (after: PagePosition, count: number) => Promise<Row[]>,
): Promise<{ items: Row[]; next_cursor: string | null }> {
  const { limit = 50, cursor, ...binding } = input.query
  const bound = { tenant_id: input.actor.tenant_id, route, binding }
  const after = cursor === undefined ? null : input.kernel.cursors.decode(cursor, bound)
  const rows = await readRows(after, limit + 1)
  if (rows.length <= limit) return { items: rows, next_cursor: null }
  const items = rows.slice(0, limit)
  const last = items.at(-1) as Row
  const position = order.map((name) => last[name] as string | number)
  return { items, next_cursor: input.kernel.cursors.encode({ ...bound, position }) }
}
