/** A layout in which values from lists are replaced by literals. The lists are already bound. */
import type { BoundLists, Definition } from '../model.ts'
import { Binder } from './binder.ts'
import { buildLayout, type Condition, type Layout, type Subject } from './layout.ts'
import { bindTest } from './list-operands.ts'
import type { ListOperand, UnaryTest } from './unary.ts'

export function buildBoundLayout(definition: Definition, lists: BoundLists): Layout {
  const layout = buildLayout(definition)
  const binder = new Binder(lists)
  const bound = (condition: Condition<ListOperand>): UnaryTest => bindTest(condition, '', binder).test
  const tables = [...layout.tables].map(([pointer, table]) => {
    const rows = table.rows.map(({ row, tests }) => ({
      row,
      tests: tests.map((test, n) => bound({ subject: table.subjects[n] as Subject, test })),
    }))
    return [pointer, { ...table, rows }] as const
  })
  const conditions = layout.conditions.map((all) =>
    all.map((condition) => ({ subject: condition.subject, test: bound(condition) })),
  )
  const [fault] = binder.findings.list
  if (fault) throw new Error(`${fault.message} The definition was not bound.`)
  return { ...layout, tables: new Map(tables), conditions }
}
