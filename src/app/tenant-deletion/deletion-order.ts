/** The order in which the tables of a tenant are emptied: before those they refer to, and first of all the keys. */
import { sortByDependency, type TableGroup } from '../backup/table-order.ts'
import type { TenantTable } from './queries.ts'

/** Without it nothing that the tenant stored encrypted can be read. */
const FIRST_GONE = 'tenant_key'

export function sortForDeletion(tables: readonly TenantTable[]): TableGroup[] {
  const groups = sortByDependency(tables).reverse()
  const needsKey = new Set([FIRST_GONE])
  for (const group of [...groups].reverse()) {
    if (group.tables.some(({ refers_to }) => refers_to.some((name) => needsKey.has(name)))) {
      for (const table of group.tables) needsKey.add(table.name)
    }
  }
  const isFirst = (group: TableGroup): boolean => group.tables.some(({ name }) => needsKey.has(name))
  return [...groups.filter(isFirst), ...groups.filter((group) => !isFirst(group))]
}
