/** Resolving over HTTP, beside the one-row tenant read of the same server. */
import { type BenchDatabases, MASTER_KEY_HEX } from './database.ts'
import type { KernelFacts, KernelOrder } from './kernel.ts'
import { median } from './median.ts'
import type { MeasuredList } from './registry.ts'
import { type Comparison, whole } from './registry-bench.ts'
import { rawRequest } from './request.ts'
import { bearer, type callers } from './rows.ts'
import type { Row, Servers } from './servers.ts'

const COMPARED_MS = 5_000
const WARMUP_MS = 1_000

export async function measureResolution(
  databases: BenchDatabases,
  servers: Servers,
  caller: (typeof callers)[number],
  lists: readonly MeasuredList[],
): Promise<Comparison[]> {
  const order: KernelOrder = {
    app: databases.walled('app'),
    worker: databases.walled('worker'),
    master_key_hex: MASTER_KEY_HEX,
    callers: [caller],
  }
  const server = await servers.start<KernelFacts>('registry', 'kernel', order)
  const get = (url: string) => rawRequest('GET', url, bearer(server.facts.tokens[0] as string))
  const row = (id: string, label: string, requests: readonly string[]): Row => ({
    id,
    label,
    server,
    rounds: [],
    requests,
    expected_status: 200,
  })
  const read = row('tenant-read', 'tenant read', [get(`/api/users/${caller.user_id}`)])
  const compared = lists.flatMap(({ list_key, entries, keys }) => {
    const url = `/api/reference-data/resolve/${list_key}`
    return [
      { entries, row: row('resolve', 'resolve a list, over HTTP', [get(url)]), aim: 0.8, floor: 0.8 },
      {
        entries,
        row: row(
          'look-up',
          'resolve a list and look a key up, over HTTP',
          keys.map((key) => get(`${url}/entry?key=${key}`)),
        ),
      },
    ]
  })
  const comparisons: Comparison[] = []
  for (const { entries, row: measured, ...wanted } of compared) {
    const ratio = median(await servers.compare([measured, read], COMPARED_MS, WARMUP_MS))
    const rateOf = async (each: Row) => `${whole((await servers.measure(each, 0))?.per_second ?? 0)}/s`
    const [ours, beside] = [await rateOf(measured), `tenant read ${await rateOf(read)}`]
    comparisons.push({ what: measured.label, entries, ours, beside, ratio, ...wanted })
  }
  await server.stop()
  return comparisons
}
