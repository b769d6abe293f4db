/**
 * Engine 1: the first semantics of definitions. Its decisions are replayed with it, so its semantics never change; other semantics
 * are another engine.
 */
import type { CompiledDefinition, Definition, Engine } from '../model.ts'
import { Binder } from './binder.ts'
import { check } from './check.ts'
import { findInputFaults } from './inputs.ts'
import { buildLayout } from './layout.ts'
import { collectListReads, resolveListNeeds } from './list-reads.ts'
import { bindMatrix } from './matrix.ts'
import { bindRule } from './rule.ts'

export const engine1: Engine = { engine: 1, check, compile }

function compile(definition: Definition): CompiledDefinition {
  const [fault] = check(definition, definition.family)
  if (fault) throw new TypeError(`${fault.pointer}: ${fault.message}`)
  const layout = buildLayout(definition)
  const reads = collectListReads(layout)
  return {
    definition,
    list_keys: [...new Set(reads.map(({ list_key }) => list_key))].sort(),
    references: reads.map(({ asks: _, ...reference }) => reference),
    checkInputs: (inputs) => findInputFaults(layout.readers, inputs),
    needs: (inputs) => resolveListNeeds(layout, reads, inputs),
    bind(lists) {
      const binder = new Binder(lists)
      return definition.family === 'matrix'
        ? bindMatrix(definition, layout, binder)
        : bindRule(definition, layout, binder)
    },
  }
}
