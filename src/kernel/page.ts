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
  const position = toPosition(items.at(-1) as Row, order)
  return { items, next_cursor: input.kernel.cursors.encode({ ...bound, position }) }
}

interface Chunk<Row> {
  readonly rows: readonly Row[]
  /** Position of the last row that was examined; null: there are no more. */
  readonly examined: PagePosition
}

interface ExaminedOptions<Row> {
  readonly route: string
  readonly order: readonly (keyof Row & string)[]
  readonly most_chunks: number
}

/**
 * A page of rows that no index finds: rows are examined in chunks until `limit` of them are found or `most_chunks` are read, so that
 * a request has a bounded cost. A page may therefore be short, or empty, and still name a next one. `order` forms the position of a
 * row as in `paginate`; rows come in that order.
 */
export async function paginateExamined<Row extends object>(
  input: PageInput,
  { route, order, most_chunks }: ExaminedOptions<Row>,
  readChunk: (after: PagePosition) => Promise<Chunk<Row>>,
): Promise<{ items: Row[]; next_cursor: string | null }> {
  const { limit = 50, cursor, ...binding } = input.query
  const bound = { tenant_id: input.actor.tenant_id, route, binding }
  let after = cursor === undefined ? null : input.kernel.cursors.decode(cursor, bound)
  const found: Row[] = []
  for (let chunks = 0; chunks < most_chunks && found.length <= limit; chunks++) {
    const { rows, examined } = await readChunk(after)
    found.push(...rows)
    after = examined
    if (examined === null) break
  }
  const items = found.slice(0, limit)
  const position = found.length > limit ? toPosition(items.at(-1) as Row, order) : after
  return { items, next_cursor: position && input.kernel.cursors.encode({ ...bound, position }) }
}

const toPosition = <Row extends object>(row: Row, order: readonly (keyof Row & string)[]) =>
  order.map((name) => row[name] as string | number)
