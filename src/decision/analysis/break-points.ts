/**
 * Values of an input at which the result of a definition can change: for numbers and dates both ends of every range with equal
 * results, otherwise one value of each class.
 */
import { buildBoundLayout } from '../engine-1/bound-layout.ts'
import { toColumn } from '../engine-1/unary.ts'
import type { BoundLists, CompiledDefinition } from '../model.ts'
import { toWireValue } from './atoms.ts'
import { collectInputUsage } from './examples.ts'

/** Ascending for numbers and dates. Throws NotAnalysable when the values cannot be enumerated. Knows nothing of plugins. */
export function findBreakPoints(compiled: CompiledDefinition, lists: BoundLists, input_name: string): unknown[] {
  const input = compiled.definition.inputs.find(({ name }) => name === input_name)
  if (!input) throw new RangeError(`There is no input "${input_name}"`)
  const { classes } = collectInputUsage(buildBoundLayout(compiled.definition, lists), lists).dimension(input_name)
  const ends = classes.flatMap(({ atoms }) =>
    atoms.flatMap(({ from, to }) => (from === undefined || to === undefined ? [] : [from, to])),
  )
  if (ends.length === 0) return classes.map(({ wire }) => wire)
  const column = toColumn(input)
  return [...new Set(ends)].sort((a, b) => a - b).map((value) => toWireValue(value, column))
}
