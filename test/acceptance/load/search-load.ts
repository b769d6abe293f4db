/** Search beside the mixed load: one tenant has as many subjects as wanted, and people type into the search field. */
import { SeededRandom } from '#test/support/seeded-random.ts'
import type { LoadTarget } from './generator-process.ts'
import {
  buildMixedTargets,
  countErrors,
  isInconclusive,
  type LoadSetup,
  omitWindows,
  withLoadSetup,
} from './load-setup.ts'
import type { SeededTenant } from './server-process.ts'

const TENANTS = 20
const WARM_UP_S = 15
const MAX_SEARCH_P99_MS = 100
const MAX_MIXED_P99_MS = 120
const FIRST_NAMES = 400
const LAST_NAMES = 8000
const SYLLABLES = [
  'an',
  'be',
  'co',
  'da',
  'el',
  'fi',
  'go',
  'ha',
  'is',
  'jo',
  'ka',
  'lu',
  'ma',
  'ne',
  'or',
  'pa',
  'ri',
  'sa',
  'te',
  'wi',
]

interface SearchLoadOptions {
  readonly seed: number
  readonly subjects: number
  readonly seconds: number
  readonly mixed_per_second: number
  readonly searches_per_second: number
}

/** The same number always has the same name; first names have three syllables, last names four. */
function toName(number: number, syllables: number): string {
  let name = ''
  for (let rest = number, n = 0; n < syllables; n++) {
    name += SYLLABLES[(rest + n * 7) % SYLLABLES.length]
    rest = Math.floor(rest / SYLLABLES.length)
  }
  return name.charAt(0).toUpperCase() + name.slice(1)
}

const toArraySql = (names: readonly string[]): string => `array['${names.join("','")}']`

/**
 * Rows are written directly, without triggers: a million requests would take an hour. Some names are far more common than others, as
 * among people.
 */
async function insertSubjects(setup: LoadSetup, tenant_id: string, subjects: number): Promise<void> {
  const first = toArraySql(Array.from({ length: FIRST_NAMES }, (_, n) => toName(n, 3)))
  const last = toArraySql(Array.from({ length: LAST_NAMES }, (_, n) => toName(n, 4)))
  await setup.ask(`begin;
    set local session_replication_role = replica;
    select setseed(0.5);
    with first as materialized (select * from unnest(${first}) with ordinality as f (name, place)),
         last as materialized (select * from unnest(${last}) with ordinality as l (name, place)),
         picked as materialized (
           select n, 1 + floor(power(random(), 2) * ${FIRST_NAMES})::int as first, 1 + floor(power(random(), 2) * ${LAST_NAMES})::int as last
             from generate_series(1, ${subjects}) n)
    insert into app.subject (tenant_id, subject_id, subject_type, external_id, name, created_by, updated_by)
    select '${tenant_id}', ('019' || lpad(to_hex(n), 9, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid, 'person',
           'C-' || n, f.name || ' ' || l.name, 'operator:acceptance', 'operator:acceptance'
      from picked p join first f on f.place = p.first join last l on l.place = p.last;
    insert into app.subject_word (tenant_id, word, subject_id)
    select distinct s.tenant_id, w.word, s.subject_id
      from app.subject s cross join lateral unnest(string_to_array(lower(s.name), ' ')) as w (word) where s.tenant_id = '${tenant_id}';
    insert into app.subject_risk (tenant_id, subject_id, rated_band)
    select tenant_id, subject_id, 'low' from app.subject where tenant_id = '${tenant_id}';
    commit`)
  for (const table of ['subject', 'subject_word', 'subject_risk']) await setup.ask(`vacuum (analyze) app.${table}`)
}

/** What people type: names letter by letter, external ids, ids, names of lists and countries, and what nobody is called. */
function buildSearchTargets(tenant: SeededTenant, { subjects, seed }: SearchLoadOptions): LoadTarget[] {
  const random = new SeededRandom(seed)
  const below = (count: number): number => Math.floor(random.share() * count)
  const common = (count: number): number => Math.floor(random.share() ** 2 * count)
  const makeFirst = () => toName(common(FIRST_NAMES), 3)
  const makeLast = () => toName(common(LAST_NAMES), 4)
  const kinds: readonly (readonly [weight: number, make: () => string])[] = [
    [15, () => makeFirst().slice(0, 2)],
    [15, () => makeFirst().slice(0, 4)],
    [10, makeFirst],
    [20, () => `${makeFirst()} ${makeLast().slice(0, 2)}`],
    [20, () => `${makeFirst()} ${makeLast()}`],
    [8, () => `C-${1 + below(subjects)}`],
    [4, () => `C-${below(90) + 10}`],
    [2, () => tenant.user_ids[below(tenant.user_ids.length)] as string],
    [2, () => 'sanctions'],
    [2, () => ['germany', 'switz', 'brazil', 'customer risk'][below(4)] as string],
    [2, () => `xqv${below(1000)}`],
  ]
  const EACH = 20
  return kinds.flatMap(([weight, make]) =>
    Array.from({ length: EACH }, (_, n) => ({
      at: `GET /search?q=${encodeURIComponent(make())}`,
      token: tenant.tokens[n % tenant.tokens.length] as string,
      weight: weight / EACH,
      marker: tenant.marker,
    })),
  )
}

export const runSearchLoad = (options: SearchLoadOptions) =>
  withLoadSetup(async (setup) => {
    const { server, port } = setup
    const [mixed, searching] = [await setup.startGenerator(), await setup.startGenerator()]
    const tenants = await setup.seedTenants(TENANTS, { users: 20, callers: 5 })
    const large = tenants[0] as SeededTenant
    await insertSubjects(setup, large.tenant_id, options.subjects)
    const run = (seconds: number) =>
      Promise.all([
        mixed.ask('run', {
          port,
          targets: buildMixedTargets(tenants),
          seed: options.seed,
          per_second: options.mixed_per_second,
          seconds,
        }),
        searching.ask('run', {
          port,
          targets: buildSearchTargets(large, options),
          seed: options.seed + 1,
          per_second: options.searches_per_second,
          seconds,
        }),
      ])
    await run(Math.min(WARM_UP_S, options.seconds))
    await server.ask('loop', null)
    const [besides, searches] = await run(options.seconds)
    const loop = await server.ask('loop', null)
    const errors = countErrors(besides, [200, 201, 404]) + countErrors(searches, [200])
    const foreign = besides.foreign + searches.foreign
    const voided = isInconclusive(besides, searches)
    return {
      ...options,
      search: omitWindows(searches),
      mixed: omitWindows(besides),
      ...loop,
      errors,
      p99_limit_ms: MAX_SEARCH_P99_MS,
      mixed_p99_limit_ms: MAX_MIXED_P99_MS,
      void: voided,
      passed:
        !voided &&
        errors === 0 &&
        foreign === 0 &&
        searches.p99_ms <= MAX_SEARCH_P99_MS &&
        besides.p99_ms <= MAX_MIXED_P99_MS,
    }
  })
