/** The order in which tables are filled: after those they reference. Tables that reference each other are filled together. */
import type { BackupTable } from './queries.ts'

export interface TableGroup {
  readonly tables: readonly BackupTable[]
  /** They reference themselves or each other, so their rows must be inserted by one statement. */
  readonly entangled: boolean
}

/** Directories are not included: their rows come first, and every table may reference them. */
export function sortByDependency(tables: readonly BackupTable[]): TableGroup[] {
  const groups: TableGroup[] = []
  let remaining = tables.filter(({ kind }) => kind !== 'directory')
  while (remaining.length > 0) {
    const open = new Set(remaining.map(({ name }) => name))
    const waitsForOthers = (table: BackupTable) => table.refers_to.some((name) => name !== table.name && open.has(name))
    const ready = remaining.filter((table) => !waitsForOthers(table))
    if (ready.length === 0) {
      // Tables that depend on a cycle are filled with it.
      groups.push({ tables: remaining, entangled: true })
      break
    }
    groups.push(...ready.map((table) => ({ tables: [table], entangled: table.refers_to.includes(table.name) })))
    remaining = remaining.filter((table) => !ready.includes(table))
  }
  return groups
}
