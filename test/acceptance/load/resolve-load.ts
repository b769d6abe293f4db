/**
 * L4: many tenants, each with many lists of its own that have many versions, all of them once in force. How long it takes to
 * say which one is in force, now and at an earlier instant as known then, alone and for ten lists on one receipt.
 */
import type { LoadTarget } from './generator-process.ts'
import { countErrors, isInconclusive, type LoadSetup, omitWindows, UNLIMITED, withLoadSetup } from './load-setup.ts'
import type { SeededTenant } from './server-process.ts'

interface ResolveOptions {
  readonly seed: number
  readonly tenants: number
  readonly lists: number
  readonly versions: number
  readonly seconds: number
  readonly per_second: number
}

/** Asked for on the side of the server; seen from outside it is stricter, and needs no trust in the server's own clock. */
const P99_LIMIT_MS = 20
const WARM_UP_S = 10
const LISTS_PER_REQUEST = 10
const LOG_EVERY = 100
const TYPE = 'country'

const keyOf = (n: number): string => `list-${n}`

/** One tenant's lists through the database's own triggers: numbers, chain, epoch. Versions without entries: none is looked up. */
async function insertLists(
  { ask: query }: LoadSetup,
  tenant_id: string,
  { lists, versions }: ResolveOptions,
): Promise<void> {
  await query(`do $$
    begin
      perform set_config('app.tenant_id', '${tenant_id}', true), set_config('app.actor', 'operator:acceptance', true);
      insert into app.dataset (tenant_id, dataset_id, family, list_key, role, type_tenant_id, type_key, title, created_by)
      select '${tenant_id}', gen_random_uuid(), 'list', 'list-' || n, 'base', app.system_tenant(), '${TYPE}', 'List ' || n,
             'operator:acceptance' from generate_series(1, ${lists}) n;
      insert into app.dataset_version (tenant_id, dataset_id, version, type_tenant_id, type_key, type_version, content_hash,
             content_changed, entry_count, data_bytes, origin, provenance, difference, created_by)
      select tenant_id, dataset_id, version, type_tenant_id, type_key, 1,
             encode(sha256(convert_to(dataset_id || ':' || version, 'UTF8')), 'hex'), true, 0, 0, 'inline', '{}', '{}',
             'operator:acceptance'
        from app.dataset, generate_series(1, ${versions}) version where tenant_id = '${tenant_id}' order by version;
      insert into app.activation (tenant_id, activation_id, family, list_key, layer, kind, dataset_tenant_id, dataset_id,
             version, reason, actor, seq, recorded_at, retroactive, prev_hash, hash)
      select tenant_id, gen_random_uuid(), 'list', list_key, 'base', 'activate', tenant_id, dataset_id, version, 'measure',
             'operator:acceptance', 0, now(), false, '', ''
        from app.dataset, generate_series(1, ${versions}) version where tenant_id = '${tenant_id}' order by version;
    end $$`)
}

/** What is in force now, mostly; what was in force when half of the versions were; and ten at once with their receipt. */
const buildTargets = ({ lists }: ResolveOptions, tenants: readonly SeededTenant[], earlier: string): LoadTarget[] =>
  tenants.flatMap(({ tokens, marker }, place) => {
    const key = (n: number) => keyOf(((place * 7 + n * 13) % lists) + 1)
    const some = Array.from({ length: Math.min(lists, LISTS_PER_REQUEST) }, (_, n) => keyOf(n + 1))
    const token = tokens[0] as string
    return [
      ...[0, 1, 2, 3].map((n) => ({ at: `GET /reference-data/resolve/${key(n)}`, token, marker, weight: 2 })),
      { at: `GET /reference-data/resolve/${key(4)}?valid_at=${earlier}&known_at=${earlier}`, token, marker, weight: 1 },
      { at: 'POST /reference-data/resolve', token, marker, weight: 1, body: JSON.stringify({ list_keys: some }) },
    ]
  })

export const runResolveLoad = (options: ResolveOptions) =>
  withLoadSetup(async (setup: LoadSetup) => {
    const generator = await setup.startGenerator()
    const tenants = await setup.seedTenants(options.tenants, {
      users: 0,
      callers: 1,
      limits: { principal: UNLIMITED, tenant: UNLIMITED, in_flight: UNLIMITED },
    })
    for (const [done, { tenant_id }] of tenants.entries()) {
      await insertLists(setup, tenant_id, options)
      if ((done + 1) % LOG_EVERY === 0) console.error(`${done + 1} of ${options.tenants} tenants filled`)
    }
    await setup.ask('analyze')
    const [middle] = await setup.ask<{ at: Date; versions: string }>(
      'select percentile_disc(0.5) within group (order by recorded_at) as at, count(*) as versions from app.activation',
    )
    const earlier = (middle?.at ?? new Date()).toISOString()
    const order = { port: setup.port, targets: buildTargets(options, tenants, earlier), seed: options.seed }
    const run = (seconds: number) => generator.ask('run', { ...order, seconds, per_second: options.per_second })
    await run(WARM_UP_S)
    const result = await run(options.seconds)
    // A list without a version at the earlier instant gets 409.
    const errors = countErrors(result, [200, 201, 404, 409])
    const voided = isInconclusive(result)
    return {
      ...options,
      activations: Number(middle?.versions),
      ...omitWindows(result),
      errors,
      p99_limit_ms: P99_LIMIT_MS,
      void: voided,
      passed: !voided && errors === 0 && result.foreign === 0 && result.p99_ms <= P99_LIMIT_MS,
    }
  })
