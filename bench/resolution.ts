/** Resolving over HTTP, beside the one-row tenant read of the same server. */
import { type BenchDatabases, MASTER_KEY_HEX } from './database.ts'
import type { ProductServerInfo, ProductServerOptions } from './kernel.ts'
import { buildRawRequest } from './load-protocol.ts'
import { median } from './median.ts'
import type { MeasuredList } from './registry.ts'
import { type Comparison, formatInteger } from './registry-bench.ts'
import type { BenchTarget, Servers } from './servers.ts'
import { bearerHeaders, type callers } from './targets.ts'

const COMPARED_MS = 5_000
const WARMUP_MS = 1_000

export async function measureResolution(
  databases: BenchDatabases,
  servers: Servers,
  caller: (typeof callers)[number],
  lists: readonly MeasuredList[],
): Promise<Comparison[]> {
  const options: ProductServerOptions = {
    app: databases.isolated('app'),
    worker: databases.isolated('worker'),
    master_key_hex: MASTER_KEY_HEX,
    callers: [caller],
  }
  const server = await servers.start<ProductServerInfo>('registry', 'kernel', options)
  const get = (url: string) => buildRawRequest('GET', url, bearerHeaders(server.facts.tokens[0] as string))
  const row = (id: string, label: string, requests: readonly string[]): BenchTarget => ({
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
    const rateOf = async (each: BenchTarget) => `${formatInteger((await servers.measure(each, 0))?.per_second ?? 0)}/s`
    const [ours, beside] = [await rateOf(measured), `tenant read ${await rateOf(read)}`]
    comparisons.push({ label: measured.label, entries, ours, baseline: beside, ratio, ...wanted })
  }
  await server.stop()
  return comparisons
}
