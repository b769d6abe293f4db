/** Runs an item again with the entries that it looks up, read from the lists in force. */
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { resolver } from '#modules/definitions/index.ts'
import type { EntryPoint, EntryReference, SandboxResult, SuppliedEntries } from '#sandbox/model.ts'
import type { BoundPlugin, RunCapabilities } from './model.ts'
import { runPlugin } from './run-plugin.ts'

const MAX_ROUNDS = 16
export const MAX_ENTRIES = 64

interface EntryScope {
  readonly read: <T>(body: (tx: Tx) => Promise<T>) => Promise<T>
  readonly tenant_id: string
  readonly signal?: AbortSignal
}

type FinalResult = Exclude<SandboxResult, { readonly reason: 'needs_entries' }>

export async function runWithEntries(
  kernel: RunCapabilities,
  { read, tenant_id, signal }: EntryScope,
  bound: BoundPlugin,
  item: { readonly entry_point: EntryPoint; readonly args: readonly string[]; readonly entries: SuppliedEntries },
): Promise<FinalResult> {
  let entries = item.entries
  let looked_up = 0
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const [result] = await runPlugin(
      kernel,
      bound,
      { entry_point: item.entry_point, items: [{ args: item.args, entries }] },
      { caller: tenant_id, ...(signal && { signal }) },
    )
    if (!result) return fail('internal')
    if (result.ok || result.reason !== 'needs_entries') return result
    looked_up += result.needed.length
    if (looked_up > MAX_ENTRIES) return toLimitFault(result.fuel)
    const found = await read((tx) => loadEntries(kernel, tx, result.needed))
    entries = mergeEntries(entries, found)
  }
  return toLimitFault(0)
}

const toLimitFault = (fuel: number): FinalResult => ({
  ok: false,
  reason: 'threw',
  message: `It looks up more than ${MAX_ENTRIES} entries`,
  line: null,
  stack: null,
  fuel,
})

/** Null for a key that the list does not have, and for every key of a list that is not in force. */
export async function loadEntries(
  kernel: Pick<RunCapabilities, 'caches'>,
  tx: Tx,
  needed: readonly EntryReference[],
): Promise<SuppliedEntries> {
  const keys = [...new Set(needed.map(({ list_key }) => list_key))]
  const pointers = await resolver.findPointersInForce(tx, keys, {})
  const found: Record<string, Record<string, Record<string, unknown> | null>> = {}
  for (const list_key of keys) {
    const wanted = needed.filter((reference) => reference.list_key === list_key).map(({ key }) => key)
    const pointer = pointers.get(list_key)
    const entries = pointer ? await resolver.lookUpEntries(kernel, tx, pointer, wanted) : new Map()
    found[list_key] = Object.fromEntries(wanted.map((key) => [key, entries.get(key) ?? null]))
  }
  return found
}

const mergeEntries = (before: SuppliedEntries, found: SuppliedEntries): SuppliedEntries => ({
  ...before,
  ...Object.fromEntries(
    Object.entries(found).map(([list_key, entries]) => [list_key, { ...before[list_key], ...entries }]),
  ),
})
