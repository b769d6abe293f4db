/** In which order tables are filled: after those they refer to. Tables that refer to each other are filled together. */
import type { BackupTable } from './queries.ts'

export interface TableGroup {
  readonly tables: readonly BackupTable[]
  /** They refer to themselves or to each other, so their rows must arrive in one statement. */
  readonly entangled: boolean
}

/** Directories are not part of it: their rows come first, and everything may refer to them. */
export function sortByDependency(tables: readonly BackupTable[]): TableGroup[] {
  const groups: TableGroup[] = []
  let remaining = tables.filter(({ kind }) => kind !== 'directory')
  while (remaining.length > 0) {
    const open = new Set(remaining.map(({ name }) => name))
    const waitsForOthers = (table: BackupTable) => table.refers_to.some((name) => name !== table.name && open.has(name))
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
