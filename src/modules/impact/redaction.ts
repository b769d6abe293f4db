/** Redacts impact runs for the roles of the caller: required actions are for their audience, names for those who read subjects. */
import type { RedactionContext } from '#kernel/declare-route.ts'
import { actionFilters } from '#modules/risk-matrices/index.ts'

interface Side {
  readonly required_actions: string[]
}
interface Sample {
  readonly name: string | null
  readonly external_id: string | null
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

/** Of the roles that read impact runs, the one that may not read subjects. */
const canReadSubjects = (roles: readonly string[]): boolean => roles.some((role) => role !== 'tenant_admin')

const withoutName = <S extends Sample>(sample: S): S => ({ ...sample, name: null, external_id: null })

export async function redactRun<R extends RunView>(found: R, reader: RedactionContext<'caches'>): Promise<R> {
  if (found.result === null) return found
  const run = canReadSubjects(reader.actor.roles)
    ? found
    : { ...found, result: { ...found.result, samples: found.result.samples.map(withoutName) } }
  const { required_actions, samples } = run.result as NonNullable<R['result']>
  const named = samples.flatMap(({ before, after }) => [...before.required_actions, ...after.required_actions])
  const filter = await actionFilters.getActionFilter(reader, [
    ...required_actions.map(({ action }) => action),
    ...named,
  ])
  if (!filter) return run as R
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
