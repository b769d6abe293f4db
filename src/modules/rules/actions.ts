/** Which rules cover which typology, as the tenant sees them. */
import type { Tx } from '../../kernel/database/tx.ts'
import { type CoverRow, listCovers } from './queries.ts'
import { MAX_COVERS } from './schema.ts'

export async function typologiesOf(tx: Tx) {
  const rows = await listCovers(tx, MAX_COVERS + 1)
  const covers = new Map<string, Omit<CoverRow, 'typology'>[]>()
  for (const { typology, ...rule } of rows.slice(0, MAX_COVERS)) {
    covers.set(typology, [...(covers.get(typology) ?? []), rule])
  }
  const items = [...covers].map(([typology, rules]) => ({
    typology,
    covered: rules.some(({ version }) => version !== null),
    rules,
  }))
  return { items, complete: rows.length <= MAX_COVERS }
}
