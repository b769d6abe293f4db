/**
 * Engine 1: the first semantics of definitions. Its decisions are replayed with it, so its semantics never change; other semantics
 * are another engine.
 */
import type { CompiledDefinition, Definition, Engine } from '../model.ts'
import type { AddedForm } from './added-form.ts'
import { Binder } from './binder.ts'
import { check } from './check.ts'
import { findInputFaults } from './inputs.ts'
import { buildLayout } from './layout.ts'
import { collectListReads, resolveListNeeds } from './list-reads.ts'
import { bindMatrix } from './matrix.ts'
import { bindRule } from './rule.ts'

export const engine1: Engine = createEngine(1)

/** Later engines may add a form of factors; everything else means the same. */
export function createEngine(engine: number, added?: AddedForm): Engine {
  return {
    engine,
    check: (definition, family) => check(definition, family, added),
    compile: (definition) => compile(definition, engine, added),
  }
}

function compile(definition: Definition, engine: number, added: AddedForm | undefined): CompiledDefinition {
  const [fault] = check(definition, definition.family, added)
  if (fault) throw new TypeError(`${fault.pointer}: ${fault.message}`)
  const layout = buildLayout(definition)
  const reads = collectListReads(layout)
  return {
    engine,
    definition,
    list_keys: [...new Set(reads.map(({ list_key }) => list_key))].sort(),
    references: reads.map(({ asks: _, ...reference }) => reference),
    checkInputs: (inputs) => findInputFaults(layout.readers, inputs),
    needs: (inputs) => resolveListNeeds(layout, reads, inputs),
    bind(lists) {
      const binder = new Binder(lists)
      return definition.family === 'matrix'
        ? bindMatrix(definition, layout, binder, added)
        : bindRule(definition, layout, binder)
    },
  }
}
