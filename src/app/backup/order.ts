/** In which order tables are filled: after those they refer to. Tables that refer to each other are filled together. */
import type { Table } from './queries.ts'

export interface Group {
  readonly tables: readonly Table[]
  /** They refer to themselves or to each other, so their rows must arrive in one statement. */
  readonly entangled: boolean
}

/** Directories are not part of it: their rows come first, and everything may refer to them. */
export function inOrder(tables: readonly Table[]): Group[] {
  const groups: Group[] = []
  let remaining = tables.filter(({ kind }) => kind !== 'directory')
  while (remaining.length > 0) {
    const open = new Set(remaining.map(({ name }) => name))
    const waitsForOthers = (table: Table) => table.refers_to.some((name) => name !== table.name && open.has(name))
    const ready = remaining.filter((table) => !waitsForOthers(table))
    if (ready.length === 0) {
      // Whoever hangs on a circle is taken along with it.
      groups.push({ tables: remaining, entangled: true })
      break
    }
    groups.push(...ready.map((table) => ({ tables: [table], entangled: table.refers_to.includes(table.name) })))
    remaining = remaining.filter((table) => !ready.includes(table))
  }
  return groups
}
