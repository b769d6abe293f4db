/** Which steps and outcomes of a playbook apply to a subject, and what a provider is asked about it. */
import type { BoundList, BoundLists, ListEntry } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { resolver } from '#modules/definitions/index.ts'
import {
  listFacts,
  listTestedLists,
  mayHold,
  type ParsedTest,
  parseCondition,
  readSubjectFacts,
  type SubjectContent,
} from './conditions.ts'
import type { Playbook, ProviderSettings } from './model.ts'

/** Lists in force as conditions read them, each as a whole. One that is absent or larger than 1 MiB is left out. */
export async function loadConditionLists(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  list_keys: readonly string[],
): Promise<BoundLists> {
  const pointers = await resolver.findPointersInForce(tx, [...new Set(list_keys)], {})
  const bound = new Map<string, BoundList>()
  for (const [list_key, pointer] of pointers) {
    const list = await resolver.loadList(kernel, tx, pointer)
    if (!list) continue
    const { version, content_hash, overlay_hash } = pointer
    const toEntry = (key: string): ListEntry | undefined => {
      const found = list.entries.get(key)
      return found && { key, entry: found.entry, hash: found.hash }
    }
    const all = [...list.entries.keys()].map((key) => toEntry(key) as ListEntry)
    bound.set(list_key, { list_key, version, content_hash, overlay_hash, get: toEntry, all })
  }
  return bound
}

export interface Applicable {
  /** Keys of the steps that apply. */
  readonly steps: ReadonlySet<string>
  /** Reason codes by which the investigation may end, as far as facts decide it. */
  readonly outcomes: ReadonlySet<string>
}

/** A step or outcome is left out only where a known fact fails its condition. */
export async function findApplicable(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  playbook: Playbook,
  subject: SubjectContent,
): Promise<Applicable> {
  const facts = listFacts(playbook)
  const parse = ({ when }: { readonly when: Playbook['steps'][number]['when'] }): ParsedTest[] =>
    parseCondition(when, facts, '', [])
  const steps = playbook.steps.map((step) => ({ name: step.key, tests: parse(step) }))
  const outcomes = playbook.outcomes.map((outcome) => ({ name: outcome.code, tests: parse(outcome) }))
  const read = [...steps, ...outcomes].flatMap(({ tests }) => listTestedLists(tests))
  const lists = await loadConditionLists(
    kernel,
    tx,
    read.map(({ list_key }) => list_key),
  )
  const values = readSubjectFacts(playbook, subject)
  const select = (all: readonly { readonly name: string; readonly tests: readonly ParsedTest[] }[]) =>
    new Set(all.filter(({ tests }) => mayHold(tests, facts, values, lists)).map(({ name }) => name))
  return { steps: select(steps), outcomes: select(outcomes) }
}

/** The input of a call: each member from what the step names for it, else from the fact of its name. Absent facts are left out. */
export function toProviderInput(
  { input = {} }: ProviderSettings,
  members: readonly string[],
  values: ReadonlyMap<string, unknown>,
): Record<string, unknown> {
  const found = members.flatMap((member): [string, unknown][] => {
    const source = Object.hasOwn(input, member) ? input[member] : undefined
    const value = source && 'value' in source ? source.value : values.get(source ? source.fact : member)
    return value === undefined ? [] : [[member, value]]
  })
  return Object.fromEntries(found)
}
