/**
 * The set-up of suites that call a provider: a provider on the loopback, one program and, for each test, a tenant of its own.
 * Each test file calls `setUpProviderCalls` once; exports are set after `beforeAll` and `beforeEach`.
 */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { CountingProvider, respondFromRegistry } from './counting-provider.ts'
import { ExampleTenant } from './example-tenant.ts'
import { type JobTestApp, startJobTestApp } from './job-test-app.ts'
import { ProviderCalls } from './provider-calls.ts'

export let provider: CountingProvider
export let w: JobTestApp
export let owner: pg.Client
export let t: ExampleTenant
export let calls: ProviderCalls

export function setUpProviderCalls(): void {
  beforeAll(async () => {
    provider = await CountingProvider.start()
    w = await startJobTestApp({ egress: provider.egress })
    owner = new pg.Client(w.clone.postgres)
    await owner.connect()
    await owner.query(`set app.actor = 'operator:test'`)
  })
  beforeEach(async () => {
    t = await ExampleTenant.create(w)
    provider.requests.length = 0
    calls = new ProviderCalls(w, provider, t)
    answer()
  })
  afterEach(() => w.clear())
  afterAll(async () => {
    await owner.end()
    await w.close()
    await provider.close()
  })
}

/** How the provider answers from now on; as the registry does unless given. */
export function answer(respond: CountingProvider['respond'] = respondFromRegistry): void {
  provider.respond = respond
}

/** Samples of the process, as a scraper reads them. */
export async function scrape(): Promise<ReadonlyMap<string, number>> {
  const text = await w.runtime.metrics.registry.metrics()
  const lines = text.split('\n').filter((line) => /^probity_(provider|payload)_/.test(line))
  return new Map(lines.map((line) => line.split(' ')).map(([name, value]) => [name as string, Number(value)]))
}

/** How much each named sample grew since. */
export async function measureGrowth(since: ReadonlyMap<string, number>, names: readonly string[]): Promise<number[]> {
  const now = await scrape()
  return names.map((name) => (now.get(`probity_${name}`) ?? Number.NaN) - (since.get(`probity_${name}`) ?? 0))
}

export async function countSends(call_id: string): Promise<number> {
  const { rows } = await owner.query(
    `select 1 from app.provider_attempt where call_id = $1 and sent_at is not null and outcome is distinct from 'not_sent'`,
    [call_id],
  )
  return rows.length
}
