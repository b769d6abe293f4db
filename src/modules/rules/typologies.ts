/** Which rules cover which typology, as the tenant sees them. */
import type { Tx } from '#kernel/database/tx.ts'
import { listTypologyRules, type TypologyRuleRow } from './queries.ts'
import { MAX_TYPOLOGY_RULES } from './schema.ts'

export async function listTypologies(tx: Tx) {
  const rows = await listTypologyRules(tx, MAX_TYPOLOGY_RULES + 1)
  const covers = new Map<string, Omit<TypologyRuleRow, 'typology'>[]>()
  for (const { typology, ...rule } of rows.slice(0, MAX_TYPOLOGY_RULES)) {
    covers.set(typology, [...(covers.get(typology) ?? []), rule])
  }
  const items = [...covers].map(([typology, rules]) => ({
    typology,
    covered: rules.some(({ version }) => version !== null),
    rules,
  }))
  return { items, complete: rows.length <= MAX_TYPOLOGY_RULES }
}
