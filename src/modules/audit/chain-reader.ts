/** Reads a tenant's audit chain: to verify it, and to export it as a file that can be verified without this service. */
import type { AuditEvent, AuditKeys, Checkpoint } from '#kernel/audit/chain.ts'
import { type ChainVerification, ChainVerifier } from '#kernel/audit/chain-verifier.ts'
import { formatNow } from '#kernel/audit/chain-writer.ts'
import { type ChainRow, findHead, listChain, listCheckpoints, listUnlinkedEvents } from '#kernel/audit/queries.ts'
import type { Tx } from '#kernel/database/tx.ts'

/** Small enough that hashing one does not block the event loop noticeably. */
const BATCH = 2000
const MAX_UNLINKED = 100_000
const REPORT_EVERY = 25 * BATCH

async function listAllCheckpoints(tx: Tx): Promise<Checkpoint[]> {
  const all: Checkpoint[] = []
  for (;;) {
    const some = await listCheckpoints(tx, all.at(-1)?.seq ?? 0, BATCH)
    all.push(...some)
    if (some.length < BATCH) return all
  }
}

/**
 * Yields batches, because yielding a million rows one by one would cost as much as reading them. The next batch is read while
 * the caller processes the last one.
 */
async function* readChain(tx: Tx, after_seq: number, until_seq: number): AsyncGenerator<readonly ChainRow[]> {
  let coming = listChain(tx, after_seq, Math.min(BATCH, until_seq - after_seq))
  for (;;) {
    const rows = await coming
    const last = rows.at(-1)
    if (!last) return
    const ends = rows.length < BATCH || last.seq >= until_seq
    if (!ends) {
      coming = listChain(tx, last.seq, BATCH)
      // A caller that stops early must not get an unhandled rejection of the batch it never awaited.
      coming.catch(() => {})
    }
    yield last.seq <= until_seq ? rows : rows.filter(({ seq }) => seq <= until_seq)
    if (ends) return
  }
}

/** Only the members that are hashed. */
const toHashedEvent = (event: AuditEvent): AuditEvent => ({
  event_id: event.event_id,
  tenant_id: event.tenant_id,
  recorded_at: event.recorded_at,
  actor: event.actor,
  operation: event.operation,
  object_type: event.object_type,
  object_id: event.object_id,
  request_id: event.request_id,
  detail: event.detail,
})

/** An event that the requester may not see is proven by its hash. Its id contains its time, so it is left out too. */
const toExportedLink = ({ seq, event_id, prev_hash, hash, event, event_hash }: ChainRow) =>
  event === null && event_hash !== null
    ? { seq, event_id: null, prev_hash, hash, event, event_hash }
    : { seq, event_id, prev_hash, hash, event: event && toHashedEvent(event) }

/** Reads one snapshot, which blocks neither writers nor the chain writer. */
export async function verifyChain(
  tx: Tx,
  keys: AuditKeys,
  onProgress: (done: number) => Promise<void>,
): Promise<ChainVerification> {
  const checkpoints = await listAllCheckpoints(tx)
  const head = await findHead(tx)
  const walk = new ChainVerifier(keys, checkpoints)
  let done = 0
  for await (const rows of readChain(tx, 0, Number.MAX_SAFE_INTEGER)) {
    for (const row of rows) walk.checkLink(row)
    done += rows.length
    if (done % REPORT_EVERY === 0) await onProgress(done)
  }
  for (const event of await listUnlinkedEvents(tx, MAX_UNLINKED)) walk.checkUnlinkedEvent(event, head)
  walk.head(tx.tenant_id, head)
  return walk.finish(checkpoints.length)
}

/**
 * Yields the lines of an export: a manifest, the links with their events, the checkpoints in the range, and a signed last line.
 * The public key is enough to verify the file and to detect truncation. `onContent` gets the restrictions of each event in it.
 */
export async function* exportChainLines(
  tx: Tx,
  keys: AuditKeys,
  range: { first: number; last: number },
  onContent: (restriction_id: string) => void = () => {},
): AsyncGenerator<Buffer> {
  const line = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`)
  const { public_key, key_id, earlier_keys } = keys
  yield line({
    line: 'manifest',
    format: 'probity-audit-export/2',
    tenant_id: tx.tenant_id,
    exported_at: formatNow(),
    public_key,
    key_id,
    earlier_keys,
    first_seq: range.first,
    last_seq: range.last,
  })
  let end = { seq: range.first - 1, hash: '' }
  for await (const rows of readChain(tx, range.first - 1, range.last)) {
    for (const row of rows) {
      for (const restriction_id of row.restriction_ids) onContent(restriction_id)
      yield line({ line: 'link', ...toExportedLink(row) })
      end = { seq: row.seq, hash: row.hash }
    }
  }
  for (const checkpoint of await listAllCheckpoints(tx)) {
    if (checkpoint.seq >= range.first && checkpoint.seq <= range.last) yield line({ line: 'checkpoint', ...checkpoint })
  }
  yield line({ line: 'end', ...keys.signCheckpoint(tx.tenant_id, end, formatNow()) })
}
