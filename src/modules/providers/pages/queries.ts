/** SQL of the pages of calls whose answer is not complete. */
import type { Tx } from '#kernel/database/tx.ts'

export interface PageRow {
  readonly page_no: number
  readonly content: Buffer
}

/** Pages after the given one, in their order. */
export const listPages = (tx: Tx, call_id: string, after_page_no: number) =>
  tx.query<PageRow>(
    `select page_no, content from app.provider_page where tenant_id = $1 and call_id = $2 and page_no > $3 order by page_no`,
    [tx.tenant_id, call_id, after_page_no],
  )

export interface NewPage extends PageRow {
  readonly call_id: string
  readonly attempt_no: number
  readonly token: string
}

/** Returns 0 when another attempt has stored this page. */
export const insertPage = (tx: Tx, page: NewPage): Promise<number> =>
  tx.run(
    `insert into app.provider_page (tenant_id, call_id, page_no, attempt_no, token, content) values ($1, $2, $3, $4, $5, $6)
     on conflict on constraint provider_page_pkey do nothing`,
    [tx.tenant_id, page.call_id, page.page_no, page.attempt_no, page.token, page.content],
  )

export const deletePages = (tx: Tx, call_id: string) =>
  tx.run('delete from app.provider_page where tenant_id = $1 and call_id = $2', [tx.tenant_id, call_id])
