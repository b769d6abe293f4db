/** Plugins in a re-evaluation: which of them changed, and what each side says for the inputs of the decision. */
import type { Side, SidedResult } from '#decision/analysis/analysis-task.ts'
import type { PinnedPlugin } from '#decision/document.ts'
import type { Inputs, PluginResult, PluginResults } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { resolver } from '#modules/definitions/index.ts'
import { binding } from '#modules/risk-matrices/index.ts'
import { isEqualJson } from '#registry/content/json-patch.ts'

type PinnedResolution = binding.Resolution<resolver.ContentPointer>
type BoundPlugin = NonNullable<ReturnType<binding.BoundPlugins['get']>>

interface Sides {
  readonly pinned: PinnedResolution
  readonly today: PinnedResolution
}

export interface ChangedPlugin {
  readonly plugin_key: string
  readonly from: BoundPlugin | undefined
  readonly to: BoundPlugin | undefined
}

/** A plugin changes with its version, configuration and sandbox, and with the lists that it looks up. */
export function findChangedPlugins({ pinned, today }: Sides): ChangedPlugin[] {
  const keys = [...new Set([...pinned.plugins.keys(), ...today.plugins.keys()])].sort()
  return keys.flatMap((plugin_key) => {
    const [from, to] = [pinned.plugins.get(plugin_key), today.plugins.get(plugin_key)]
    return isEqualJson(toIdentity(from, pinned), toIdentity(to, today)) ? [] : [{ plugin_key, from, to }]
  })
}

const toIdentity = (bound: BoundPlugin | undefined, { lists }: PinnedResolution) =>
  bound && [
    bound.content_hash,
    bound.configuration_hash,
    bound.sandbox_hash,
    binding.getPluginLists(bound).map((list_key) => {
      const list = lists.get(list_key)
      return list ? [list.dataset_id, list.version, list.content_hash, list.overlay_hash] : null
    }),
  ]

/** Every plugin of either side with the inputs that either definition passes to it. */
export async function findSidedResults(
  kernel: binding.DecideCapabilities,
  tx: Tx,
  { pinned, today }: Sides,
  inputs: Inputs,
): Promise<SidedResult[]> {
  if (pinned.plugins.size + today.plugins.size === 0) return []
  const sides = { old: pinned, young: today } as const
  const found: SidedResult[] = []
  for (const definition of ['old', 'young'] as const) {
    for (const plugin of ['old', 'young'] as const) {
      const of = mixSides(sides[definition], sides[plugin], sides[plugin === 'old' ? 'young' : 'old'])
      const [decision] = (await binding.decideAll(kernel, tx, of, [inputs])) as [binding.PinnedDecision]
      found.push(...toSidedResults(decision.plugins ?? [], definition, plugin))
    }
  }
  return found
}

/** The definition of one side with plugins and lists of another; what that one does not have is of the remaining one. */
function mixSides(definition: PinnedResolution, first: PinnedResolution, second: PinnedResolution): binding.Bindable {
  const plugins = new Map([...second.plugins, ...first.plugins])
  const lists = new Map([...second.lists, ...first.lists])
  const { compiled, identity } = definition
  return { compiled, identity, plugins, lists }
}

const toSidedResults = (plugins: readonly PinnedPlugin[], definition: Side, plugin: Side): SidedResult[] =>
  plugins.map((pinned) => ({ definition, plugin, factor: pinned.factor, result: toResult(pinned) }))

/** Which entries it read does not matter for the outcome. */
const toResult = ({ result }: PinnedPlugin): PluginResult => ({ ...result, read: [] })

export const toPluginResults = (plugins: readonly PinnedPlugin[] | undefined): PluginResults =>
  new Map((plugins ?? []).map((pinned) => [pinned.factor, toResult(pinned)]))
