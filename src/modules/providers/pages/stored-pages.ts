/** Stores each page of an answer as it arrives, so that it is neither asked nor paid for again. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { getCallOwner } from '../create-call.ts'
import type { AttemptRow, CallRow } from '../queries.ts'
import type { PageChain } from './page-chain.ts'
import { insertPage, listPages } from './queries.ts'

const toPageLocation = (call_id: string, page_no: number) => ({
  table: 'provider_page',
  row_id: `${call_id}/${page_no}`,
  column: 'content',
})

/** Adds the pages that the chain does not have yet. */
export async function readPages(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  call: CallRow,
  chain: PageChain,
): Promise<void> {
  // Appended at the end: the transaction may be repeated.
  const pages: Buffer[] = []
  for (const { page_no, content } of await listPages(tx, call.call_id, chain.page_no - 1)) {
    pages.push(await kernel.encryption.decrypt(tx, getCallOwner(call), toPageLocation(call.call_id, page_no), content))
  }
  for (const page of pages) chain.append(page)
}

export async function storePage(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  { call, attempt }: { readonly call: CallRow; readonly attempt: Pick<AttemptRow, 'attempt_no' | 'page_no' | 'token'> },
  bytes: Buffer,
): Promise<void> {
  const { call_id } = call
  const { attempt_no, page_no, token } = attempt
  const location = toPageLocation(call_id, page_no)
  const content = await kernel.encryption.encrypt(tx, getCallOwner(call), location, bytes)
  await insertPage(tx, { call_id, page_no, attempt_no, token, content })
}
