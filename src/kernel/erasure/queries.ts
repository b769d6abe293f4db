/** SQL of what an erasure overwrites or removes: rows whose texts contain a mark of the subject. */
import type { Tx } from '../database/tx.ts'
import type { ErasedSubject, ErasureClass } from './erasure-class.ts'

export interface MentioningRows {
  readonly table: string
  /** The columns that are searched, as one text. */
  readonly text: string
  /** A further condition; by default every row of the tenant is searched. */
  readonly where?: string
  /** What such a row becomes; null: it is removed. */
  readonly set: string | null
}

/** Fragments are constants of a module's queries.ts, never input. */
export function createErasureClass(
  name: string,
  title: string,
  rows: readonly MentioningRows[],
): ErasureClass & { readonly record: null } {
  const condition = ({ text, where = 'true' }: MentioningRows): string =>
    `tenant_id = $1 and (${where}) and app.mentions(${text}, $2)`
  const sum = async (counts: readonly Promise<number>[]) => (await Promise.all(counts)).reduce((a, b) => a + b, 0)
  return {
    name,
    title,
    record: null,
    count: (tx: Tx, { marks }: ErasedSubject) =>
      sum(
        rows.map(async (one) => {
          const text = `select count(*) as n from app.${one.table} where ${condition(one)}`
          return (await tx.find<{ n: number }>(text, [tx.tenant_id, marks]))?.n ?? 0
        }),
      ),
    erase: async (tx: Tx, { marks }: ErasedSubject) => {
      let erased = 0
      for (const one of rows) {
        const change = one.set === null ? `delete from app.${one.table}` : `update app.${one.table} set ${one.set}`
        erased += await tx.run(`${change} where ${condition(one)}`, [tx.tenant_id, marks])
      }
      return erased
    },
  }
}
