/**
 * Rows that may belong to a restriction, beside the same rows in a table without the policy of sight: read by key, a page, and counts.
 * One row in a hundred is restricted; the tenant has 2,000 restrictions in force, of which the reader sees ten. One row in seven is queued.
 * Each running one has a prepared restriction, as every alert has. Counts read the indexes that include `restriction_id`.
 */
import { requestScope, type Scope } from '#kernel/database/scope.ts'
import { Database, type Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import type { BenchDatabases } from './database.ts'
import { median } from './median.ts'
import { type Comparison, measureTime } from './registry-bench.ts'

const ROWS = 200_000
const RESTRICTED_ROWS = 2_000
const PREPARED_ROWS = 1_000
const RESTRICTIONS = 2_000
const GRANTS = 10
const ROUNDS = 31

const buildFillSql = (tenant_id: string, principal: string): string => `
  set session_replication_role = replica;
  insert into app.tenant (tenant_id, slug, name, state) values ('${tenant_id}', 'bench-restriction', 'Bench', 'active');
  insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, imposed_at, imposed_by, created_by)
    select '${tenant_id}', gen_random_uuid(), 'bench', true, now(), 'user:bench', 'user:bench' from generate_series(1, ${RESTRICTIONS});
  insert into app.restriction_force select tenant_id, restriction_id from app.restriction where tenant_id = '${tenant_id}';
  insert into app.restriction_list select tenant_id, jsonb_object_agg(restriction_id::text, null) from app.restriction_force
    where tenant_id = '${tenant_id}' group by tenant_id;
  insert into app.restriction_person (tenant_id, restriction_id, principal, effect)
    select tenant_id, restriction_id, '${principal}', 'grant' from app.restriction where tenant_id = '${tenant_id}' limit ${GRANTS};
  insert into app.job (tenant_id, job_id, kind, payload, created_by, created_at, run_at, state, finished_at, restriction_id)
    select '${tenant_id}', gen_random_uuid(), 'bench', '{}', 'user:bench', now() - n * interval '1 second', now() + interval '1 day',
           case when n % 7 = 0 then 'queued' else 'succeeded' end, case when n % 7 > 0 then now() end,
           case when n % ${ROWS / RESTRICTED_ROWS} = 0 then r.ids[1 + n / ${ROWS / RESTRICTED_ROWS} % ${RESTRICTIONS}] end
      from generate_series(1, ${ROWS}) n, (select array_agg(restriction_id) as ids from app.restriction where tenant_id = '${tenant_id}') r;
  with prepared as (
    insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, created_by)
      select '${tenant_id}', gen_random_uuid(), 'bench', false, 'user:bench' from generate_series(1, ${PREPARED_ROWS}) returning restriction_id)
  insert into app.job (tenant_id, job_id, kind, payload, created_by, created_at, run_at, state, lease_token, lease_until, restriction_id)
    select '${tenant_id}', gen_random_uuid(), 'bench', '{}', 'user:bench', now() - interval '1 year', now(), 'running',
           gen_random_uuid(), now() + interval '1 day', restriction_id from prepared;
  create table app.job_plain (like app.job including all);
  select app.wall('app.job_plain', 'queue');
  insert into app.job_plain select * from app.job where tenant_id = '${tenant_id}';
  alter table app.job_plain owner to app_owner;`

interface Read {
  readonly label: string
  readonly entries: number
  /** How often it is repeated in one measurement. */
  readonly passes: number
  readonly floor: number
  readonly run: (tx: Tx, table: string, key: string) => Promise<unknown>
}

const reads: readonly Read[] = [
  {
    label: 'read by key',
    entries: 1,
    passes: 200,
    floor: 0.9,
    run: (tx, table, key) =>
      tx.find(`select job_id, kind, state, created_at from app.${table} where tenant_id = $1 and job_id = $2`, [
        tx.tenant_id,
        key,
      ]),
  },
  {
    label: 'page of 51, newest first',
    entries: 51,
    passes: 50,
    floor: 0.9,
    run: (tx, table) =>
      tx.query(
        `select job_id, kind, state, created_at from app.${table} where tenant_id = $1 order by created_at desc, job_id desc limit 51`,
        [tx.tenant_id],
      ),
  },
  {
    label: 'count of 1,000 at most',
    entries: 1000,
    passes: 20,
    floor: 0.75,
    run: (tx, table) =>
      tx.find(
        `select count(*) as n from (select 1 from app.${table} where tenant_id = $1 and state = 'queued' limit 1000) c`,
        [tx.tenant_id],
      ),
  },
  {
    label: 'count of 1,000 prepared restrictions',
    entries: PREPARED_ROWS,
    passes: 20,
    floor: 0.75,
    run: (tx, table) =>
      tx.find(`select count(*) as n from app.${table} where tenant_id = $1 and state = 'running'`, [tx.tenant_id]),
  },
  {
    label: 'full count',
    entries: Math.floor(ROWS / 7),
    passes: 4,
    floor: 0.75,
    run: (tx, table) =>
      tx.find(`select count(*) as n from app.${table} where tenant_id = $1 and state = 'queued'`, [tx.tenant_id]),
  },
]

export async function measureRestrictions(
  databases: BenchDatabases,
  log: (text: string) => void,
): Promise<Comparison[]> {
  const [tenant_id, principal] = [uuidv7(), `user:${uuidv7()}`]
  log('restriction: filling two tables')
  await databases.runAsAdmin(buildFillSql(tenant_id, principal))
  await databases.runAsAdmin('vacuum analyze app.job')
  await databases.runAsAdmin('vacuum analyze app.job_plain')
  const options = { max: 1, prepared: true, statement_timeout_ms: 60_000, wait_ms: 60_000 }
  const database = new Database({ connection: databases.isolated('app'), ...options })
  const scope = requestScope({ tenant_id, principal })
  try {
    const keys = await database.one(scope, (tx) =>
      tx.query<{ job_id: string }>('select job_id from app.job where tenant_id = $1 limit 1000', [tenant_id]),
    )
    const comparisons: Comparison[] = []
    for (const read of reads)
      comparisons.push(
        await compare(
          database,
          scope,
          read,
          keys.map(({ job_id }) => job_id),
        ),
      )
    return comparisons
  } finally {
    await database.end()
    await databases.runAsAdmin(`set session_replication_role = replica; drop table app.job_plain;
      delete from app.wall_register where table_name = 'job_plain'; delete from app.job where tenant_id = '${tenant_id}'`)
  }
}

/** The two tables in turn, each time in another order. */
async function compare(database: Database, scope: Scope, read: Read, keys: readonly string[]): Promise<Comparison> {
  const time = (table: string) =>
    measureTime(async () => {
      for (let pass = 0; pass < read.passes; pass++)
        await database.one(scope, (tx) => read.run(tx, table, keys[pass % keys.length] as string))
    })
  const rounds: { ours_ms: number; plain_ms: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const first = await time(round % 2 === 0 ? 'job' : 'job_plain')
    const second = await time(round % 2 === 0 ? 'job_plain' : 'job')
    rounds.push(round % 2 === 0 ? { ours_ms: first, plain_ms: second } : { ours_ms: second, plain_ms: first })
  }
  const measured = rounds.slice(1)
  const toText = (values: readonly number[]) => `${((median(values) * 1000) / read.passes).toFixed(0)} µs`
  return {
    label: read.label,
    entries: read.entries,
    ours: toText(measured.map(({ ours_ms }) => ours_ms)),
    baseline: `without the policy ${toText(measured.map(({ plain_ms }) => plain_ms))}`,
    ratio: median(measured.map(({ ours_ms, plain_ms }) => plain_ms / ours_ms)),
    aim: read.floor,
    floor: read.floor,
  }
}
