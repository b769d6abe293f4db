/** Reads the lines of one version, or of a list in force, for exports. */
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { resolver, type typeStore, versionStore } from '#modules/definitions/index.ts'
import type { Entry } from '#registry/adapter.ts'
import { type ExportFormat, writeEntries } from '#registry/export.ts'

type RunInTx = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>
type VersionId = Pick<versionStore.VersionRow, 'tenant_id' | 'dataset_id' | 'version'>

export const exportVersion = (
  read: RunInTx,
  version: VersionId,
  type: typeStore.TypeRow,
  { format, formula_guard }: { format: ExportFormat; formula_guard: boolean },
): AsyncIterable<Buffer> => writeEntries(readVersionLines(read, version), type.definition, format, formula_guard)

const BATCH = 10_000

/** Batches of canonical texts, one per line. The next batch is read while the consumer processes the current one. */
async function* readVersionLines(read: RunInTx, version: VersionId): AsyncGenerator<string> {
  const readAfter = (key: string | null) => {
    const batch = read((tx) => versionStore.findTextBatch(tx, version, key, BATCH))
    // The consumer may stop before it reads this batch; its rejection must not be unhandled.
    batch.catch(() => {})
    return batch
  }
  let next = readAfter(null)
  for (;;) {
    const batch = await next
    if (!batch?.lines) return
    if (batch.intact !== true) fail('content_corrupt')
    const is_last = batch.count < BATCH
    if (!is_last) next = readAfter(batch.last_key)
    yield batch.lines
    if (is_last) return
  }
}

/** The list as the tenant sees it: entries in key order with the overlay applied to the stream, for lists of any size. */
export async function* readLinesInForce(
  kernel: Capabilities<'caches'>,
  read: RunInTx,
  pointer: resolver.VersionPointer,
): AsyncGenerator<string> {
  const version = { tenant_id: pointer.dataset_tenant_id, dataset_id: pointer.dataset_id, version: pointer.version }
  if (pointer.overlay_version === null) return yield* readVersionLines(read, version)
  const overlay = await read((tx) => resolver.createOverlayApplier(kernel, tx, pointer))
  const keys = overlay.keys.map((key) => ({ key, bytes: Buffer.from(key) }))
  keys.sort((a, b) => Buffer.compare(a.bytes, b.bytes))
  const toLines = (key: string, base: Entry | undefined): string[] => {
    const entry = overlay.applyTo(key, base)
    return entry === undefined ? [] : [canonicalJson(entry)]
  }
  let next = 0
  for await (const rows of versionStore.readEntries(read, version)) {
    const texts: string[] = []
    for (const row of rows) {
      let comparison = -1
      for (; next < keys.length; next++) {
        const { key, bytes } = keys[next] as (typeof keys)[number]
        comparison = Buffer.compare(bytes, Buffer.from(row.key))
        if (comparison >= 0) break
        texts.push(...toLines(key, undefined))
      }
      if (comparison === 0) next++
      texts.push(
        ...(comparison === 0 ? toLines(row.key, versionStore.parseEntry(row)) : [versionStore.getVerifiedText(row)]),
      )
    }
    if (texts.length > 0) yield texts.join('\n')
  }
  const rest = keys.slice(next).flatMap(({ key }) => toLines(key, undefined))
  if (rest.length > 0) yield rest.join('\n')
}
