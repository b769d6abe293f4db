/**
 * Runs analyses of a decision that may take seconds in a worker thread, while no transaction is open. It has its own thread, so
 * that publishing, which computes proofs in another one, never waits for it.
 */
import type { ListSnapshot } from '#decision/analysis/analysis-request.ts'
import {
  type AnalysisRunner,
  type AttributionRequest,
  type AttributionResult,
  createAnalysisRunner,
} from '#decision/analysis/analysis-runner.ts'
import type { MinimalChanges } from '#decision/analysis/minimal-changes.ts'
import { failThreadUnavailable } from '#kernel/bounded-thread.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { declareThread } from '#kernel/worker-threads.ts'
import { resolver } from '#modules/definitions/index.ts'

/** Runs a function in a read transaction of the tenant. */
export type RunInTx = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

export type SearchArguments = Parameters<AnalysisRunner['search']>

const examinationThread = declareThread({ script: 'analysis-worker', create: createAnalysisRunner })

export const searchInThread = (kernel: Capabilities<'threads'>, search: SearchArguments): Promise<MinimalChanges> =>
  kernel.threads
    .get(examinationThread)
    .search(...search)
    .catch(failNotComputed)

export const attributeInThread = (
  kernel: Capabilities<'threads'>,
  attribution: AttributionRequest,
  caller: string,
): Promise<AttributionResult> =>
  kernel.threads.get(examinationThread).attribute(attribution, caller).catch(failNotComputed)

const failNotComputed = (error: unknown): never =>
  failThreadUnavailable(error, 'This could not be computed at this moment; repeat the request.')

/** A list as it is sent to the thread: all entries, or the named keys of a list that is too large. */
export async function toPlainList(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: resolver.ContentPointer,
  keys: (list_key: string) => Iterable<string>,
): Promise<ListSnapshot> {
  const { list_key, version, content_hash, overlay_hash } = pointer
  const whole = await resolver.loadList(kernel, tx, pointer)
  const found = whole?.entries ?? (await resolver.lookUpHashedEntries(kernel, tx, pointer, [...keys(list_key)]))
  const entries = [...found].map(([key, { entry, hash }]) => ({ key, entry, hash }))
  return { list_key, version, content_hash, overlay_hash, entries, whole: whole !== null }
}
