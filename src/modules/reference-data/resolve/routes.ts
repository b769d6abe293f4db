/** The resolver: which version of a list governs for this tenant, at one instant, as known at another, and what it says. */
import { createHash } from 'node:crypto'
import { everyone } from '../../../kernel/auth/roles.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { fail } from '../../../kernel/problem.ts'
import { type Actor, tenantRoute } from '../../../kernel/route.ts'
import { normaliseKey } from '../../../registry/types/text-rules.ts'
import { recall, remember } from '../memory/actions.ts'
import { keepReceipt } from '../receipts/actions.ts'
import { ListKeyParams } from '../schema.ts'
import {
  type Clocks,
  expectInForce,
  isLookedUpAtOnce,
  isRecent,
  knownWhole,
  lookUp,
  type Pointer,
  resolve,
  shown,
} from './actions.ts'
import { findReceipt, type ReceiptRow, resolveLists } from './queries.ts'
import {
  EntryAt,
  EntryAtQuery,
  LookupOrder,
  LookupReply,
  ReceiptParams,
  ReceiptReply,
  ResolveManyReply,
  ResolveOrder,
  ResolveQuery,
  ResolveReply,
} from './schema.ts'

const receiptOf = ({ manifest: _, ...receipt }: ReceiptRow) => receipt
const etagOf = (...parts: readonly unknown[]): Record<string, string> => ({
  etag: `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 32)}"`,
})

const scopeOf = (actor: Actor) => ({ tenant_id: actor.tenant_id, actor: actor.principal })

/** One statement in one round trip, unless the instant asked for is so near that activations may still be under way. */
async function pointerTo(
  kernel: Kernel,
  actor: Actor,
  list_key: string,
  clocks: Clocks,
  write: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>,
): Promise<Pointer> {
  const scope = scopeOf(actor)
  const keys = [list_key]
  const is_now = clocks.valid_at === undefined && clocks.known_at === undefined
  const recalled = is_now
    ? await kernel.transactions.one(scope, (tx) => recall(kernel, tx, [{ family: 'list', key: list_key }]))
    : null
  const [pointer] =
    recalled ??
    (isRecent(clocks.known_at)
      ? await write((tx) => resolve(tx, keys, clocks))
      : await kernel.transactions.one(scope, async (tx) => {
          const rows = await resolveLists(tx, keys, {
            valid_at: clocks.valid_at ?? null,
            known_at: clocks.known_at ?? null,
          })
          if (is_now) remember(kernel, tx, rows)
          return expectInForce(rows, keys)
        }))
  return pointer ?? fail('not_found')
}

export const resolveRoutes = [
  tenantRoute('GET /reference-data/resolve/:list_key', {
    id: 'resolveList',
    summary: 'The version in force for this tenant, at valid_at as known at known_at, and why',
    roles: everyone,
    tx: 'self',
    params: ListKeyParams,
    query: ResolveQuery,
    reply: [200, ResolveReply],
    cacheable: true,
    headers: ({ valid_at: _v, known_at: _k, ...resolved }) => etagOf(resolved),
    problems: ['not_found', 'nothing_in_force'],
  }).handle(async ({ params, query, actor, kernel, write }) => {
    const found = await pointerTo(kernel, actor, params.list_key, query, write)
    return Object.assign(shown(found), { valid_at: query.valid_at ?? found.now, known_at: query.known_at ?? null })
  }),

  tenantRoute('GET /reference-data/resolve/:list_key/entry', {
    id: 'resolveEntry',
    summary: 'What the list in force says of one key; keeps no receipt',
    roles: everyone,
    tx: 'self',
    params: ListKeyParams,
    query: EntryAtQuery,
    reply: [200, EntryAt],
    cacheable: true,
    headers: ({ list, key, entry }) => etagOf(list, key, entry),
    problems: ['not_found', 'nothing_in_force', 'content_corrupt'],
  }).handle(async ({ params, query, actor, kernel, read, write }) => {
    const list = await pointerTo(kernel, actor, params.list_key, query, write)
    // A version never changes, so what it says of a key needs no common snapshot with the pointer to it.
    const known = knownWhole(kernel, actor.tenant_id, list)
    const key = normaliseKey(query.key)
    if (known) return { list: shown(list), key: query.key, entry: known.entries.get(key)?.entry ?? null }
    const ask = (tx: Tx) => lookUp(kernel, tx, list, [key])
    const entries = isLookedUpAtOnce(list) ? await kernel.transactions.one(scopeOf(actor), ask) : await read(ask)
    return { list: shown(list), key: query.key, entry: entries.get(key) ?? null }
  }),

  tenantRoute('POST /reference-data/resolve', {
    id: 'resolveLists',
    summary: 'Resolve many lists at once, never a torn set, and keep the receipt',
    roles: everyone,
    tx: 'write',
    body: ResolveOrder,
    reply: [201, ResolveManyReply],
    location: ({ receipt }) => `/reference-data/receipts/${receipt.receipt_id}`,
    problems: ['not_found', 'nothing_in_force'],
  }).handle(async ({ tx, body }) => {
    const pointers = await resolve(tx, body.list_keys, body)
    const receipt = await keepReceipt(tx, body.consumer ?? 'api', pointers, body)
    return { receipt: receiptOf(receipt), lists: pointers.map(shown) }
  }),

  tenantRoute('GET /reference-data/receipts/:receipt_id', {
    id: 'getReceipt',
    summary: 'What one decision consulted: lists, versions, hashes',
    roles: everyone,
    tx: 'one',
    params: ReceiptParams,
    reply: [200, ReceiptReply],
    problems: ['not_found', 'content_corrupt'],
  }).handle(async ({ tx, params }) => {
    const receipt = (await findReceipt(tx, params.receipt_id)) ?? fail('not_found')
    if (createHash('sha256').update(receipt.manifest).digest('hex') !== receipt.manifest_hash) fail('content_corrupt')
    const lists = JSON.parse(receipt.manifest) as Record<string, unknown>[]
    return {
      ...receiptOf(receipt),
      lists: lists.map(({ dataset_tenant_id: _t, dataset_id: _d, overlay_dataset_id: _o, ...list }) => list as never),
    }
  }),

  tenantRoute('POST /reference-data/lookup', {
    id: 'lookUpEntries',
    summary: 'Look values up in the lists in force, and keep the receipt',
    roles: everyone,
    tx: 'write',
    body: LookupOrder,
    reply: [201, LookupReply],
    location: ({ receipt }) => `/reference-data/receipts/${receipt.receipt_id}`,
    problems: ['not_found', 'nothing_in_force', 'content_corrupt'],
  }).handle(async ({ tx, body, kernel }) => {
    const list_keys = [...new Set(body.lookups.map(({ list_key }) => list_key))]
    const pointers = await resolve(tx, list_keys, body)
    const byKey = new Map(pointers.map((pointer) => [pointer.list_key, pointer]))
    const results = []
    for (const { list_key, keys } of body.lookups) {
      const pointer = byKey.get(list_key) ?? fail('not_found')
      const entries = await lookUp(kernel, tx, pointer, [...new Set(keys.map(normaliseKey))])
      results.push({
        list: shown(pointer),
        entries: keys.map((key) => ({ key, entry: entries.get(normaliseKey(key)) ?? null })),
      })
    }
    const receipt = await keepReceipt(tx, body.consumer ?? 'api', pointers, body)
    return { receipt: receiptOf(receipt), results }
  }),
]
