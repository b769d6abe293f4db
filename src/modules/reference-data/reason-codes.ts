/** The list of reason codes. Overrides refuse unknown codes; definitions that use them get a warning. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { resolver } from '#modules/definitions/index.ts'

export const REASON_CODE_LIST = 'reason-codes'

/** Those of the codes that are not in the list in force for this tenant; all of them when no version is in force. */
export async function findUnknownReasonCodes(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  codes: readonly string[],
): Promise<ReadonlySet<string>> {
  if (codes.length === 0) return new Set()
  const list = (await resolver.findPointersInForce(tx, [REASON_CODE_LIST], {})).get(REASON_CODE_LIST)
  const known = list ? await resolver.lookUpEntries(kernel, tx, list, [...new Set(codes)]) : new Map()
  return new Set(codes.filter((code) => !known.has(code)))
}
