/** Runs a bound plugin in the sandbox, and keeps results: the same code, configuration, build and input give the same output. */
import { hash } from 'node:crypto'
import { failThreadUnavailable, ThreadFailure } from '#kernel/bounded-thread.ts'
import { declareCache } from '#kernel/cache/caches.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { restrictEntries } from '#plugin/inputs.ts'
import { getLimits } from '#plugin/manifest.ts'
import type { EntryPoint, SandboxItem, SandboxResult } from '#sandbox/model.ts'
import { MAX_TASK_ITEMS } from '#sandbox/sandbox-runner.ts'
import type { BoundPlugin, RunCapabilities } from './model.ts'
import { pluginFuel, pluginRuns } from './plugin-metrics.ts'
import { getSandboxThread } from './sandbox-threads.ts'

const CACHE_BYTES = 32 * 1024 * 1024

interface CachedResult {
  readonly result: SandboxResult
}

const pluginResults = declareCache<CachedResult>({
  name: 'plugin_results',
  summary: 'The result of one run of a plugin.',
  bound: { max_bytes: CACHE_BYTES, sizeOf: ({ result }) => 300 + JSON.stringify(result).length },
})

/** A list without a member is one that the plugin did not declare. */
const withDeclaredLists = ({ manifest }: BoundPlugin, item: SandboxItem): SandboxItem => ({
  ...item,
  entries: restrictEntries(manifest, item.entries),
})

const toResultKey = (bound: BoundPlugin, entry_point: EntryPoint, { args, entries = {} }: SandboxItem): string =>
  `${bound.content_hash} ${bound.configuration_hash} ${bound.sandbox_hash} ${entry_point} ` +
  hash('sha256', canonicalJson([args, entries]), 'hex')

/** The result of an earlier run, or undefined. Sends nothing to a thread. */
export function findPluginResult(
  kernel: Pick<RunCapabilities, 'caches'>,
  bound: BoundPlugin,
  entry_point: EntryPoint,
  item: SandboxItem,
): SandboxResult | undefined {
  const key = toResultKey(bound, entry_point, withDeclaredLists(bound, item))
  return kernel.caches.get(pluginResults).get(key)?.result
}

export interface PluginRunOptions {
  readonly signal?: AbortSignal
  /** The tenant: callers take turns. */
  readonly caller: string
}

/**
 * One result for each item. Runs outside any transaction. A fault of the plugin is a result; where the machine is too busy it fails
 * with `overloaded`, which is worth repeating.
 */
export async function runPlugin(
  kernel: RunCapabilities,
  bound: BoundPlugin,
  { entry_point, items }: { readonly entry_point: EntryPoint; readonly items: readonly SandboxItem[] },
  options: PluginRunOptions,
): Promise<readonly SandboxResult[]> {
  const cache = kernel.caches.get(pluginResults)
  const complete = items.map((item) => withDeclaredLists(bound, item))
  const keys = complete.map((item) => toResultKey(bound, entry_point, item))
  const results = keys.map((key) => cache.get(key)?.result)
  const open = [...new Map(keys.map((key, index) => [key, index])).values()].filter((index) => !results[index])
  const found = new Map<string, SandboxResult>()
  for (let start = 0; start < open.length; start += MAX_TASK_ITEMS) {
    const part = open.slice(start, start + MAX_TASK_ITEMS)
    const task = toTask(bound, entry_point)
    const ran = await kernel.threads
      .get(getSandboxThread(entry_point))
      .run({ ...task, items: part.map((index) => complete[index] as SandboxItem) }, options)
      .catch(failBusy)
    for (const [position, result] of ran.entries()) {
      const key = keys[part[position] as number] as string
      cache.set(key, { result })
      found.set(key, result)
      countRun(kernel, bound, result)
    }
  }
  return keys.map((key, index) => results[index] ?? found.get(key) ?? fail('internal'))
}

export const toTask = ({ source, manifest, sandbox_hash }: BoundPlugin, entry_point: EntryPoint) => ({
  source,
  entry_point,
  limits: getLimits(manifest),
  sandbox_hash,
})

const BUSY = 'The plugin could not be run at this moment; nothing was changed.'

/** The backstop by the clock is never counted against the plugin: what is its own fault comes as a result. */
export function failBusy(error: unknown): never {
  if (error instanceof ThreadFailure && error.reason === 'time') {
    throw Object.assign(new Problem('overloaded', { detail: BUSY, retry_after_s: BUSY_RETRY_S }), { cause: error })
  }
  return failThreadUnavailable(error, BUSY)
}
const BUSY_RETRY_S = 10

function countRun({ metrics }: RunCapabilities, { manifest: { kind } }: BoundPlugin, result: SandboxResult): void {
  // It is run again with the entries: only the last run counts.
  if (!result.ok && result.reason === 'needs_entries') return
  metrics.increment(pluginRuns, { kind, outcome: result.ok ? 'ok' : 'failed' })
  metrics.observe(pluginFuel, { kind }, result.fuel)
}

/** Ends the operation with 503: nothing is decided without the plugin. */
export function failPlugin(
  { plugin_key, version }: Pick<BoundPlugin, 'plugin_key' | 'version'>,
  { reason, message, fuel }: { readonly reason: string; readonly message: string; readonly fuel: number },
): never {
  return fail('plugin_failed', {
    detail: `The plugin ${plugin_key} failed (${reason}): ${message.slice(0, 200).replace(/[\s.]+$/, '')}.`,
    members: { plugin_key, version, reason, fuel },
  })
}
