/** Chooses dismissals for a second look by a hash of the alert's id, so that anybody can compute the choice again. */
import { createHash } from 'node:crypto'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { workItems } from '#modules/work/index.ts'
import type { Priority } from '../model.ts'
import { loadQualitySamples, type QualitySample } from '../policy-lists.ts'
import { insertSecondLook } from './queries.ts'

const BUCKETS = 10_000

/** SHA-256 of `<seed>:<alert_id>`: its first four bytes as a number, modulo 10000. Chosen when it is below the rate. */
export const computeBucket = (seed: string, alert_id: string): number =>
  createHash('sha256').update(`${seed}:${alert_id}`).digest().readUInt32BE(0) % BUCKETS

/** The entry for this source and priority; `*` stands for any, and a named source counts more than a named priority. */
export function selectSample(
  samples: readonly QualitySample[],
  { source, priority }: { readonly source: string; readonly priority: Priority },
): QualitySample | undefined {
  const find = (of: string, at: Priority | '*') => samples.find((each) => each.source === of && each.priority === at)
  return find(source, priority) ?? find(source, '*') ?? find('*', priority) ?? find('*', '*')
}

interface DismissedAlert {
  readonly alert_id: string
  readonly source: string
  readonly priority: Priority
  readonly dismissed_by: string
  readonly reason_code: string | null
  readonly revision: number
  readonly restriction_id: string
}

export const toLookItem = (look_id: string) => ({ object_kind: 'second_look', object_id: look_id })

export async function addSecondLook(kernel: Capabilities<'caches'>, tx: Tx, alert: DismissedAlert): Promise<void> {
  const list = await loadQualitySamples(kernel, tx)
  const sample = list && selectSample(list.entries, alert)
  if (!sample) return
  const { code, seed, rate_bps } = sample
  const bucket = computeBucket(seed, alert.alert_id)
  if (bucket >= rate_bps) return
  const { alert_id, dismissed_by, reason_code, revision } = alert
  const chosen = { sample_code: code, sample_version: list.pointer.version, seed, rate_bps, bucket }
  const look_id = uuidv7()
  await insertSecondLook(tx, { look_id, alert_id, revision, dismissed_by, reason_code, ...chosen })
  const { priority, source, restriction_id } = alert
  await workItems.openWork(kernel, tx, { ...toLookItem(look_id), priority, source, restriction_id })
}
