/** Redacts impact runs for the roles of the caller: required actions are shown to their audience only. */
import type { RedactionContext } from '#kernel/declare-route.ts'
import { actionFilters } from '#modules/risk-matrices/index.ts'

interface Side {
  readonly required_actions: string[]
}
interface Sample {
  readonly before: Side
  readonly after: Side
}
interface Count {
  readonly action: string
  readonly added: number
  readonly removed: number
}
interface RunView {
  readonly result: { readonly required_actions: Count[]; readonly samples: Sample[] } | null
}

export async function redactRun<R extends RunView>(run: R, reader: RedactionContext<'caches'>): Promise<R> {
  if (run.result === null) return run
  const { required_actions, samples } = run.result
  const named = samples.flatMap(({ before, after }) => [...before.required_actions, ...after.required_actions])
  const filter = await actionFilters.getActionFilter(reader, [
    ...required_actions.map(({ action }) => action),
    ...named,
  ])
  if (!filter) return run
  const filtered = samples.map((sample) => ({
    ...sample,
    before: actionFilters.filterActions(sample.before, filter),
    after: actionFilters.filterActions(sample.after, filter),
  }))
  return {
    ...run,
    result: { ...run.result, required_actions: mergeCounts(required_actions, filter), samples: filtered },
  }
}

/** Actions that are shown to the caller under one code are counted together. */
function mergeCounts(counts: readonly Count[], filter: actionFilters.ActionFilter): Count[] {
  const sums = new Map<string, Count>()
  for (const { action, added, removed } of counts) {
    for (const code of filter([action])) {
      const sum = sums.get(code)
      sums.set(code, { action: code, added: added + (sum?.added ?? 0), removed: removed + (sum?.removed ?? 0) })
    }
  }
  return [...sums.values()].sort((one, two) => (one.action < two.action ? -1 : 1))
}
