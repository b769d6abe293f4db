/** Windows of statistics: stored encrypted, since frequent values of members are in them. */
import type { SketchSummary } from '#contract/sketch.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { WindowRow } from './queries.ts'

const toOwner = (window_id: string) => ({ kind: 'object', id: window_id }) as const
const toLocation = (window_id: string) => ({ table: 'drift_window', row_id: window_id, column: 'sketch' })

export const encryptSketch = (
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  window_id: string,
  sketch: SketchSummary,
): Promise<Buffer> =>
  kernel.encryption.encrypt(tx, toOwner(window_id), toLocation(window_id), Buffer.from(JSON.stringify(sketch)))

export async function decryptSketch(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  { window_id, sketch }: Pick<WindowRow, 'window_id' | 'sketch'>,
): Promise<SketchSummary> {
  const text = await kernel.encryption.decrypt(tx, toOwner(window_id), toLocation(window_id), sketch)
  return JSON.parse(text.toString('utf8')) as SketchSummary
}
