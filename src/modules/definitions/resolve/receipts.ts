/** Receipts: the versions a decision used, pinned by version and hash. Immutable and independent of what is in force. */
import { hash } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  type ContentPointer,
  deferReceipt,
  insertReceipt,
  type NewReceipt,
  type PinnedVersion,
  type ReceiptRow,
  type VersionPointer,
} from './queries.ts'
import type { Clocks } from './resolver.ts'

/** Stores the versions that a decision used. Replay uses the receipt and no clock. */
export async function createReceipt(
  tx: Tx,
  consumer: string,
  pointers: readonly (ContentPointer & Pick<VersionPointer, 'now'>)[],
  clocks: Clocks,
): Promise<ReceiptRow> {
  const { now } = pointers[0] as VersionPointer
  const { text, hash } = buildManifest(pointers)
  const receipt = await insertReceipt(tx, {
    receipt_id: uuidv7(),
    consumer,
    valid_at: clocks.valid_at ?? now,
    known_at: clocks.known_at ?? now,
    manifest: text,
    manifest_hash: hash,
  })
  return receipt ?? fail('internal')
}

/**
 * The same for what is in force now. `now` is the database's clock; the insert is deferred, so the caller does not wait for
 * it.
 */
export function createCurrentReceipt(tx: Tx, consumer: string, { text, hash }: Manifest, now: string): NewReceipt {
  const at = { valid_at: now, known_at: now }
  const receipt = { receipt_id: uuidv7(), consumer, ...at, manifest: text, manifest_hash: hash }
  deferReceipt(tx, receipt)
  return receipt
}

/** The manifest of pointers and its canonical text. */
export interface Manifest {
  readonly pins: readonly PinnedVersion[]
  readonly text: string
  readonly hash: string
}

export function buildManifest(pointers: readonly ContentPointer[]): Manifest {
  const pins = toPins(pointers)
  const text = canonicalJson(pins)
  return { pins, text, hash: hash('sha256', text, 'hex') }
}

/** The pins of a manifest, in its order. */
export const toPins = (pointers: readonly ContentPointer[]): PinnedVersion[] =>
  pointers.map(toPin).sort((a, b) => (toSortKey(a) < toSortKey(b) ? -1 : 1))

const toSortKey = ({ family = 'list', list_key }: PinnedVersion): string => `${list_key} ${family}`

const toPin = (pointer: ContentPointer): PinnedVersion => ({
  // A pin without a family is a list.
  ...(pointer.family !== 'list' && { family: pointer.family }),
  list_key: pointer.list_key,
  via: pointer.via,
  dataset_tenant_id: pointer.dataset_tenant_id,
  dataset_id: pointer.dataset_id,
  version: pointer.version,
  content_hash: pointer.content_hash,
  type_key: pointer.type_key,
  type_version: pointer.type_version,
  overlay_dataset_id: pointer.overlay_dataset_id,
  overlay_version: pointer.overlay_version,
  overlay_hash: pointer.overlay_hash,
  ...(pointer.overlay_version !== null && { overlay_policy: pointer.overlay_policy }),
  ...(pointer.configuration_hash !== undefined && { configuration_hash: pointer.configuration_hash }),
  ...(pointer.sandbox_hash !== undefined && { sandbox_hash: pointer.sandbox_hash }),
})
