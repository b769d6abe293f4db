/** Proves that conditions parse, that required steps can apply, and that some path reaches every outcome. */
import type { BoundLists } from '#decision/model.ts'
import type { documentStore } from '#modules/definitions/index.ts'
import { error, type Finding } from './check-playbook.ts'
import {
  coverEverySubject,
  type Facts,
  isSatisfiable,
  listFacts,
  listTestedLists,
  type ParsedTest,
  parseCondition,
} from './conditions.ts'
import type { Playbook } from './model.ts'

export interface ParsedConditions {
  readonly facts: Facts
  readonly findings: readonly Finding[]
  /** In the order of the steps. */
  readonly steps: readonly (readonly ParsedTest[])[]
  readonly outcomes: readonly (readonly ParsedTest[])[]
  readonly references: readonly documentStore.ListReference[]
}

export function parseConditions(playbook: Playbook): ParsedConditions {
  const facts = listFacts(playbook)
  const findings: Finding[] = []
  const steps = playbook.steps.map(({ when }, index) => parseCondition(when, facts, `/steps/${index}/when`, findings))
  const outcomes = playbook.outcomes.map(({ when }, index) =>
    parseCondition(when, facts, `/outcomes/${index}/when`, findings),
  )
  const references = [
    ...playbook.facts.flatMap(({ one_of }, index) =>
      one_of
        ? [{ list_key: one_of.list_key, pointer: `/facts/${index}/one_of`, key: null, field: one_of.field ?? null }]
        : [],
    ),
    ...listTestedLists([...steps, ...outcomes].flat()),
  ]
  return { facts, findings, steps, outcomes, references }
}

/** Every finding on paths through the playbook. Conditions have parsed, and `needs` name existing steps. */
export function checkPaths(playbook: Playbook, parsed: ParsedConditions, lists: BoundLists): Finding[] {
  const { subject_types, steps, outcomes } = playbook
  const isPossible = (tests: readonly ParsedTest[], types: readonly string[] = subject_types): boolean =>
    isSatisfiable(tests, parsed.facts, lists, types)
  const never = steps.flatMap((step, index): Finding[] => {
    if (isPossible(parsed.steps[index] ?? [])) return []
    const message = `No subject passes this condition: the step ${step.key} would never run.`
    const severity = step.required ? 'error' : 'warning'
    return [{ code: 'step_never_applies', pointer: `/steps/${index}/when`, message, severity }]
  })
  const position = new Map(steps.map(({ key }, index) => [key, index]))
  // The steps that an outcome needs must be done, so all of them apply to the same subject.
  const paths = outcomes.map(({ needs }, index) => [
    ...(parsed.outcomes[index] ?? []),
    ...needs.flatMap((need) => parsed.steps[position.get(need) ?? -1] ?? []),
  ])
  const unreachable = outcomes.flatMap(({ code }, index): Finding[] =>
    isPossible(paths[index] ?? [])
      ? []
      : [
          error(
            'outcome_unreachable',
            `/outcomes/${index}`,
            `No path reaches ${code}: its conditions exclude each other.`,
          ),
        ],
  )
  if (unreachable.length > 0) return [...never, ...unreachable]
  const stranded = subject_types.flatMap((type, index): Finding[] =>
    paths.some((tests) => isPossible(tests, [type]))
      ? []
      : [
          error(
            'outcome_unreachable',
            `/subject_types/${index}`,
            `An investigation of a ${type} could never be closed.`,
          ),
        ],
  )
  if (stranded.length > 0) return [...never, ...stranded]
  const partly = subject_types.flatMap((type, index): Finding[] => {
    const possible = paths.filter((tests) => isPossible(tests, [type]))
    if (coverEverySubject(possible, parsed.facts, lists)) return []
    const message = `The conditions of the outcomes may leave out some subjects of the type ${type}: no case of such a subject is opened.`
    return [{ code: 'outcomes_incomplete', pointer: `/subject_types/${index}`, message, severity: 'warning' }]
  })
  return [...never, ...partly]
}
