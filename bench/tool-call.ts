/**
 * A tool call beside the same operation over HTTP (B5): a read, which is recorded as a tool call and not as a request, and a
 * decision, which is recorded as both.
 */
import { roles } from '#kernel/auth/roles.ts'
import { createBenchRuntime } from './bench-runtime.ts'
import { type BenchDatabases, MASTER_KEY_HEX } from './database.ts'
import { median } from './median.ts'
import type { Comparison } from './registry-bench.ts'

const ROUNDS = 5
/** At once, and how many calls are measured in a round. A read over HTTP waits for no commit, a tool call for that of its record. */
const loads = [
  { concurrent: 4, calls: 200 },
  { concurrent: 32, calls: 800 },
]
const LIST_KEY = 'countries'

const cases = [
  { label: 'read', at: `GET /reference-data/datasets/${LIST_KEY}`, name: 'get_list', given: { list_key: LIST_KEY } },
  {
    label: 'look-up with a receipt',
    at: 'POST /reference-data/lookup',
    body: { lookups: [{ list_key: LIST_KEY, keys: ['DE'] }] },
    name: 'lookup',
    given: { lookups: [{ list_key: LIST_KEY, keys: ['DE'] }] },
  },
]

export async function measureToolCalls(databases: BenchDatabases, tenant_id: string): Promise<Comparison[]> {
  const connections = { app: databases.isolated('app'), worker: databases.isolated('worker') }
  const runtime = await createBenchRuntime({ ...connections, master_key_hex: MASTER_KEY_HEX })
  try {
    await databases.runAsAdmin(
      `insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ('${tenant_id}', 'mcp', 1000000, 1000000)
       on conflict do nothing`,
    )
    const principal = 'user:00000000-0000-7000-8000-000000000005' as const
    const { token } = await runtime.kernel.issuer.mint({ tenant_id, principal, roles, lifetime_s: 3600, name: 'Bench' })
    const server = await runtime.createServer()
    const send = async (at: string, body?: object): Promise<void> => {
      const [method, url] = at.split(' ') as ['POST', string]
      const headers = {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        ...(body && { 'content-type': 'application/json' }),
      }
      const payload = body && { payload: JSON.stringify(body) }
      const reply = await server.app.inject({ method, url: `/api${url}`, headers, ...payload })
      if (reply.statusCode >= 300 || reply.body.includes('"isError":true')) throw new Error(`${at}: ${reply.body}`)
    }
    const rows: Comparison[] = []
    for (const [{ label, at, body, name, given }, load] of cases.flatMap((each) =>
      loads.map((load) => [each, load] as const),
    )) {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }
      const rounds: { tool_ms: number; http_ms: number }[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        const measured = {
          tool_ms: await timeEach(() => send('POST /mcp', message), load),
          http_ms: await timeEach(() => send(at, body), load),
        }
        // The first round warms.
        if (round > 0) rounds.push(measured)
      }
      rows.push({
        label: `tool call: ${label}, ${load.concurrent} at once`,
        entries: load.calls,
        ours: `${median(rounds.map(({ tool_ms }) => tool_ms)).toFixed(2)} ms`,
        baseline: `the same over HTTP ${median(rounds.map(({ http_ms }) => http_ms)).toFixed(2)} ms`,
        ratio: median(rounds.map(({ tool_ms, http_ms }) => http_ms / tool_ms)),
        aim: 0.6,
      })
    }
    return rows
  } finally {
    await runtime.close()
  }
}

/** Milliseconds for each, with some at once. */
async function timeEach(body: () => Promise<void>, { concurrent, calls }: (typeof loads)[number]): Promise<number> {
  let left = calls
  const run = async () => {
    while (left-- > 0) await body()
  }
  const from_ms = performance.now()
  await Promise.all(Array.from({ length: concurrent }, run))
  return (performance.now() - from_ms) / calls
}
