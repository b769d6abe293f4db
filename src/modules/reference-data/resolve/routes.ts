/**
 * Routes of the resolver: which version of a list is in force for this tenant at a valid time, as known at another, and its
 * entries.
 */
import { createHash } from 'node:crypto'
import type { Static } from 'typebox'
import { everyone } from '#kernel/auth/roles.ts'
import { requestScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import type { Actor } from '#kernel/route.ts'
import { registrySchemas, resolver } from '#modules/definitions/index.ts'
import { normaliseKey } from '#registry/types/text-rules.ts'

import {
  LookupReply,
  LookupRequest,
  ReceiptParams,
  ReceiptReply,
  ResolvedEntry,
  ResolveEntryQuery,
  ResolveManyReply,
  ResolveQuery,
  ResolveReply,
  ResolveRequest,
} from './schema.ts'

const toReceiptView = ({ manifest: _, ...receipt }: resolver.ReceiptRow) => receipt
const toHashedEtag = (...parts: readonly unknown[]): Record<string, string> => ({
  etag: `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 32)}"`,
})

/** One statement in one round trip, unless `known_at` is so recent that activations may still be in progress. */
async function getPointer(
  kernel: Capabilities<'transactions' | 'caches'>,
  actor: Actor,
  { list_key, ...clocks }: resolver.Clocks & { readonly list_key: string },
  write: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>,
): Promise<resolver.VersionPointer> {
  const scope = requestScope(actor)
  const keys = [list_key]
  const is_now = clocks.valid_at === undefined && clocks.known_at === undefined
  const cachedResult = is_now
    ? await kernel.transactions.one(scope, (tx) =>
        resolver.getCachedPointers(kernel, tx, [{ family: 'list', key: list_key }]),
      )
    : null
  const [pointer] =
    cachedResult ??
    (resolver.isRecent(clocks.known_at)
      ? await write((tx) => resolver.resolveVersions(tx, keys, clocks))
      : await kernel.transactions.one(scope, async (tx) => {
          const rows = await resolver.listPointers(tx, keys, {
            valid_at: clocks.valid_at ?? null,
            known_at: clocks.known_at ?? null,
          })
          if (is_now) resolver.cachePointers(kernel, tx, rows)
          return resolver.assertInForce(rows, keys)
        }))
  return pointer ?? fail('not_found')
}

export const resolveRoutes = [
  tenantRoute('GET /reference-data/resolve/:list_key', {
    id: 'resolveList',
    summary: 'The version in force for this tenant, at valid_at as known at known_at, and why',
    roles: everyone,
    tx: 'self',
    uses: ['transactions', 'caches'],
    params: registrySchemas.ListKeyParams,
    query: ResolveQuery,
    reply: [200, ResolveReply],
    cacheable: true,
    headers: ({ valid_at: _v, known_at: _k, ...resolved }) => toHashedEtag(resolved),
    problems: ['not_found', 'nothing_in_force'],
  }).handle(async ({ params, query, actor, kernel, write }) => {
    const found = await getPointer(kernel, actor, { ...params, ...query }, write)
    return Object.assign(resolver.toResolvedListView(found), {
      valid_at: query.valid_at ?? found.now,
      known_at: query.known_at ?? null,
    })
  }),

  tenantRoute('GET /reference-data/resolve/:list_key/entry', {
    id: 'resolveEntry',
    summary: 'The entry of one key in the list in force; stores no receipt',
    roles: everyone,
    tx: 'self',
    uses: ['transactions', 'caches'],
    params: registrySchemas.ListKeyParams,
    query: ResolveEntryQuery,
    reply: [200, ResolvedEntry],
    cacheable: true,
    headers: ({ list, key, entry }) => toHashedEtag(list, key, entry),
    problems: ['not_found', 'nothing_in_force', 'content_corrupt'],
  }).handle(async ({ params, query, actor, kernel, read, write }) => {
    const list = await getPointer(kernel, actor, { ...params, ...query }, write)
    // Versions are immutable, so the entry and the pointer need no common snapshot.
    const known = resolver.getCachedList(kernel, actor.tenant_id, list)
    const key = normaliseKey(query.key)
    if (known)
      return { list: resolver.toResolvedListView(list), key: query.key, entry: known.entries.get(key)?.entry ?? null }
    const lookUp = (tx: Tx) => resolver.lookUpEntries(kernel, tx, list, [key])
    const entries = resolver.isSingleStatementLookup(list)
      ? await kernel.transactions.one(requestScope(actor), lookUp)
      : await read(lookUp)
    return { list: resolver.toResolvedListView(list), key: query.key, entry: entries.get(key) ?? null }
  }),

  tenantRoute('POST /reference-data/resolve', {
    id: 'resolveLists',
    summary: 'Resolve many lists consistently, and store the receipt',
    tool: {
      name: 'resolve_lists',
      title: 'Resolve lists',
      description:
        'Which version of each named list is in force for this tenant, at valid_at as known at known_at, and ' +
        'why. Stores a receipt that proves what was consulted.',
      effect: 'read',
    },
    roles: everyone,
    tx: 'write',
    body: ResolveRequest,
    reply: [201, ResolveManyReply],
    location: ({ receipt }) => `/reference-data/receipts/${receipt.receipt_id}`,
    problems: ['not_found', 'nothing_in_force'],
  }).handle(async ({ tx, body }) => {
    const pointers = await resolver.resolveVersions(tx, body.list_keys, body)
    const receipt = await resolver.createReceipt(tx, body.consumer ?? 'api', pointers, body)
    return { receipt: toReceiptView(receipt), lists: pointers.map(resolver.toResolvedListView) }
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
    const receipt = (await resolver.findReceipt(tx, params.receipt_id)) ?? fail('not_found')
    if (createHash('sha256').update(receipt.manifest).digest('hex') !== receipt.manifest_hash) fail('content_corrupt')
    const lists = JSON.parse(receipt.manifest) as (Static<typeof ReceiptReply>['lists'][number] &
      resolver.PinnedVersion)[]
    return {
      ...toReceiptView(receipt),
      lists: lists.map(({ dataset_tenant_id: _t, dataset_id: _d, overlay_dataset_id: _o, ...list }) => list),
    }
  }),

  tenantRoute('POST /reference-data/lookup', {
    id: 'lookUpEntries',
    summary: 'Look up values in the lists in force, and store the receipt',
    tool: {
      name: 'lookup',
      title: 'Look up entries',
      description:
        'Looks up keys in the lists in force, such as a country code in a rating list. Returns the entry of ' +
        'each key or null, and stores a receipt that proves what was consulted.',
      effect: 'read',
    },
    roles: everyone,
    tx: 'write',
    uses: ['caches'],
    body: LookupRequest,
    reply: [201, LookupReply],
    location: ({ receipt }) => `/reference-data/receipts/${receipt.receipt_id}`,
    problems: ['not_found', 'nothing_in_force', 'content_corrupt'],
  }).handle(async ({ tx, body, kernel }) => {
    const list_keys = [...new Set(body.lookups.map(({ list_key }) => list_key))]
    const pointers = await resolver.resolveVersions(tx, list_keys, body)
    const byKey = new Map(pointers.map((pointer) => [pointer.list_key, pointer]))
    const results = []
    for (const { list_key, keys } of body.lookups) {
      const pointer = byKey.get(list_key) ?? fail('not_found')
      const entries = await resolver.lookUpEntries(kernel, tx, pointer, [...new Set(keys.map(normaliseKey))])
      results.push({
        list: resolver.toResolvedListView(pointer),
        entries: keys.map((key) => ({ key, entry: entries.get(normaliseKey(key)) ?? null })),
      })
    }
    const receipt = await resolver.createReceipt(tx, body.consumer ?? 'api', pointers, body)
    return { receipt: toReceiptView(receipt), results }
  }),
]
