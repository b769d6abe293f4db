/**
 * An evaluation with one factor that a plugin scores, beside the same evaluation where a list gives that score: with results that are
 * known already, and with inputs that are new each time, so that each runs the plugin in a fresh context.
 */
import { roles } from '#kernel/auth/roles.ts'
import { createExamplePlugin } from '#test/support/example-plugin.ts'
import { buildPluginMatrix } from '#test/support/plugin-matrix.ts'
import { createBenchRuntime } from './bench-runtime.ts'
import { type BenchDatabases, MASTER_KEY_HEX } from './database.ts'
import { median } from './median.ts'
import type { Comparison } from './registry-bench.ts'

const ROUNDS = 9
const CALLS = 300
/** At once, as requests come. */
const CONCURRENT = 4
const PLUGIN_KEY = 'bench-signals'

export async function measurePluginFactors(databases: BenchDatabases, tenant_id: string): Promise<Comparison[]> {
  const connections = { app: databases.isolated('app'), worker: databases.isolated('worker') }
  const runtime = await createBenchRuntime({ ...connections, master_key_hex: MASTER_KEY_HEX })
  try {
    await databases.runAsAdmin(`update app.approval_policy set rules = '[]' where tenant_id = '${tenant_id}'`)
    const server = await runtime.createServer()
    const who = { tenant_id, principal: `user:${tenant_id}`, roles, lifetime_s: 3600 } as const
    const { token } = await runtime.kernel.issuer.mint(who)
    const make = async (at: string, body: object): Promise<void> => {
      const [method, url] = at.split(' ') as ['POST', string]
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const reply = await server.app.inject({ method, url: `/api${url}`, headers, payload: JSON.stringify(body) })
      if (reply.statusCode >= 300 || reply.statusCode === 202)
        throw new Error(`${at}: ${reply.statusCode} ${reply.body}`)
    }
    await createMatrices(make)
    let number = 0
    const evaluate = (matrix_key: string, directors: () => number) => () =>
      make('POST /evaluations', { matrix_key, inputs: { country: 'AE', directors: directors() } })
    const rows: Comparison[] = []
    for (const { label, directors, aim } of [
      { label: 'result known', directors: () => 5, aim: 0.9 },
      { label: 'fresh context', directors: () => number++ % 100_000, aim: 0.1 },
    ]) {
      const [plugin, list] = [evaluate('bench-plugin', directors), evaluate('bench-list', directors)]
      const rounds: { ours_ms: number; list_ms: number }[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        const measured = { ours_ms: await timeEach(plugin), list_ms: await timeEach(list) }
        // The first round warms.
        if (round > 0) rounds.push(measured)
      }
      rows.push({
        label: `POST /evaluations with a plugin factor, ${label}, ${CONCURRENT} at once`,
        entries: CALLS,
        ours: `${median(rounds.map(({ ours_ms }) => ours_ms)).toFixed(2)} ms`,
        baseline: `factor by a list ${median(rounds.map(({ list_ms }) => list_ms)).toFixed(2)} ms`,
        ratio: median(rounds.map(({ ours_ms, list_ms }) => list_ms / ours_ms)),
        aim,
      })
    }
    return rows
  } finally {
    await runtime.close()
  }
}

async function createMatrices(make: (at: string, body: object) => Promise<void>): Promise<void> {
  const reviewed = { version: 1, reason: 'measured' }
  await make('POST /plugins', { plugin_key: PLUGIN_KEY, package: createBenchPlugin() })
  await make(`PUT /plugins/${PLUGIN_KEY}/grants`, { lists: ['jurisdiction-risk'], hosts: [], reason: 'measured' })
  await make(`POST /plugins/${PLUGIN_KEY}/activations`, reviewed)
  const built = buildPluginMatrix(PLUGIN_KEY)
  const inputs = built.inputs.map((input) => (input.name === 'directors' ? { ...input, maximum: 100_000 } : input))
  const by_list = {
    ...{ key: 'shell', title: 'Country', form: 'lookup', list_key: 'jurisdiction-risk' },
    ...{ inputs: ['country'], field: 'score_bps', on_missing: { default: 5000, reason: 'Unknown.' } },
  }
  const matrices = { 'bench-plugin': built.factors, 'bench-list': [by_list, built.factors[1]] }
  for (const [matrix_key, factors] of Object.entries(matrices)) {
    await make('POST /risk-matrices', { matrix_key, title: 'Measured', definition: { ...built, inputs, factors } })
    await make(`POST /risk-matrices/${matrix_key}/versions/draft/publish`, {})
    await make(`POST /risk-matrices/${matrix_key}/activations`, reviewed)
  }
}

/** Accepts more directors, so that inputs do not repeat. */
function createBenchPlugin() {
  const { manifest, files } = createExamplePlugin(PLUGIN_KEY)
  const directors = { type: 'integer', minimum: 0, maximum: 100_000 }
  const properties = { ...manifest.inputs.properties, directors }
  return { manifest: { ...manifest, inputs: { ...manifest.inputs, properties } }, files }
}

/** Milliseconds for each, with some at once. */
async function timeEach(body: () => Promise<void>): Promise<number> {
  let left = CALLS
  const run = async () => {
    while (left-- > 0) await body()
  }
  const from_ms = performance.now()
  await Promise.all(Array.from({ length: CONCURRENT }, run))
  return (performance.now() - from_ms) / CALLS
}
