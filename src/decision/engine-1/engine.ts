/**
 * Engine 1: the meaning of definitions as first published. Decisions made with it replay with it, so its meaning never changes;
 * another meaning is another engine.
 */
import type { Compiled, Definition, Engine } from '../model.ts'
import { Binder } from './binder.ts'
import { check } from './check.ts'
import { inputFindings } from './inputs.ts'
import { layOut } from './layout.ts'
import { bindMatrix } from './matrix.ts'
import { askedLists, needsOf } from './references.ts'
import { bindRule } from './rule.ts'

export const engine1: Engine = { engine: 1, check, compile }

function compile(definition: Definition): Compiled {
  const [fault] = check(definition, definition.family)
  if (fault) throw new TypeError(`${fault.pointer}: ${fault.message}`)
  const layout = layOut(definition)
  const asked = askedLists(layout)
  return {
    definition,
    list_keys: [...new Set(asked.map(({ list_key }) => list_key))].sort(),
    references: asked.map(({ asks: _, ...reference }) => reference),
    checkInputs: (inputs) => inputFindings(layout.readers, inputs),
    needs: (inputs) => needsOf(layout, asked, inputs),
    bind(lists) {
      const binder = new Binder(lists)
      return definition.family === 'matrix'
        ? bindMatrix(definition, layout, binder)
        : bindRule(definition, layout, binder)
    },
  }
}
