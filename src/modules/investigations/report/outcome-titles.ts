/** Codes of outcomes as the list of reason codes in force calls them. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { resolver } from '#modules/definitions/index.ts'

export interface ReasonTitle {
  readonly code: string
  readonly title: string
  readonly text: string
}

/** A code that the list has no longer is called by itself. */
export async function loadReasonTitles(kernel: Capabilities<'caches'>, tx: Tx, code: string): Promise<ReasonTitle> {
  const list = await resolver.loadPolicyList<ReasonTitle>(kernel, tx, 'reason-codes')
  const found = list?.entries.find((one) => one.code === code)
  return found ? { code, title: found.title, text: found.text } : { code, title: code, text: '' }
}
