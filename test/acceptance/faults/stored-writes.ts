/** Compares the responses of clients with the database: nothing lost, nothing doubled, one event for each change, the chain intact. */
import { setTimeout as sleep } from 'node:timers/promises'
import { KeepAliveClient } from '#test/support/keep-alive-client.ts'
import type { KillableDatabase } from './killable-database.ts'
import type { AcknowledgedWrite, WriteKind } from './writers.ts'

interface StoredWrite {
  readonly kind: WriteKind
  readonly tenant_id: string
  readonly name: string
  readonly id: string
  readonly sha256: string | null
  readonly events: string
}

const CHAIN_LIMIT_MS = 60_000

const selectStored = (
  kind: WriteKind,
  table: string,
  name: string,
  id: string,
  sha256: string,
  where: string,
  operation: string,
) =>
  `select '${kind}' as kind, m.tenant_id, m.${name} as name, m.${id} as id, ${sha256} as sha256,
          (select count(*) from app.audit_event e where e.tenant_id = m.tenant_id and e.object_id = m.${id}::text
             and e.operation = '${operation}') as events
     from app.${table} m where m.tenant_id = any($1) and ${where}`

/** What the bytes really are, not what their header says. */
const UPLOAD_SHA256_SQL = `(select encode(sha256(string_agg(c.bytes, ''::bytea order by c.seq)), 'hex') from app.upload_chunk c
  where c.tenant_id = m.tenant_id and c.upload_id = m.upload_id)`

export async function compareWithDatabase(database: KillableDatabase, acknowledged: readonly AcknowledgedWrite[]) {
  const tenants = database.tenants.map(({ tenant_id }) => tenant_id)
  const rows = (
    await Promise.all([
      database.ask<StoredWrite>(
        selectStored('user', 'user_account', 'email', 'user_id', 'null', 'true', 'createUser'),
        [tenants],
      ),
      database.ask<StoredWrite>(selectStored('api_key', 'api_key', 'name', 'key_id', 'null', 'true', 'createApiKey'), [
        tenants,
      ]),
      database.ask<StoredWrite>(
        selectStored(
          'upload',
          'upload',
          'file_name',
          'upload_id',
          UPLOAD_SHA256_SQL,
          `state = 'stored' and m.used_at is null`,
          'createUpload',
        ),
        [tenants],
      ),
    ])
  ).flat()
  const key = ({ kind, tenant_id, name }: Pick<StoredWrite, 'kind' | 'tenant_id' | 'name'>) =>
    `${kind} ${tenant_id} ${name}`
  const found = new Map<string, StoredWrite[]>()
  for (const row of rows) found.set(key(row), [...(found.get(key(row)) ?? []), row])
  const expected = new Map(acknowledged.map((one) => [key(one), one]))
  const fits = (one: AcknowledgedWrite): boolean => {
    const [row] = found.get(key(one)) ?? []
    return row !== undefined && (one.id === null || one.id === row.id) && row.sha256 === one.sha256
  }
  const [events] = await database.ask<{ orphans: string; receiving: string }>(
    `select (select count(*) from app.audit_event e where tenant_id = any($1)
               and (operation = 'createUser' and not exists (select 1 from app.user_account where tenant_id = e.tenant_id and user_id::text = e.object_id)
                 or operation = 'createApiKey' and not exists (select 1 from app.api_key where tenant_id = e.tenant_id and key_id::text = e.object_id)
                 or operation = 'createUpload' and not exists (select 1 from app.upload where tenant_id = e.tenant_id and upload_id::text = e.object_id and state = 'stored'))) as orphans,
            (select count(*) from app.upload where tenant_id = any($1) and state = 'receiving') as receiving`,
    [tenants],
  )
  return {
    writes: acknowledged.length,
    lost: acknowledged.filter((one) => !found.has(key(one))).length,
    altered: acknowledged.filter((one) => found.has(key(one)) && !fits(one)).length,
    doubled: [...found.values()].filter((several) => several.length > 1).length,
    // Everybody finished: whatever is there was acknowledged in the end.
    unasked: rows.filter((row) => !expected.has(key(row))).length,
    without_their_one_event: rows.filter((row) => row.events !== '1').length,
    events_of_nothing: Number(events?.orphans),
    /** Left by requests that died in the middle; no request can use them, and they expire within the hour. */
    uploads_half_received: Number(events?.receiving),
  }
}

/** Waits until every event is chained, then has the service itself recompute each tenant's chain. */
export async function verifyChains(
  database: KillableDatabase,
  base: string,
): Promise<{ chains_intact: boolean; unsealed: number }> {
  const tenants = database.tenants.map(({ tenant_id }) => tenant_id)
  const countUnsealed = async () => {
    const [row] = await database.ask<{ count: string }>(
      `select count(*) from app.audit_event e where tenant_id = any($1)
          and not exists (select 1 from app.audit_link l where l.tenant_id = e.tenant_id and l.event_id = e.event_id)`,
      [tenants],
    )
    return Number(row?.count)
  }
  const giveUpAt_ms = performance.now() + CHAIN_LIMIT_MS
  let unsealed = await countUnsealed()
  for (; unsealed > 0 && performance.now() < giveUpAt_ms; unsealed = await countUnsealed()) await sleep(200)
  const client = new KeepAliveClient(base, 1)
  const reports = []
  for (const { token } of database.tenants) reports.push(await verifyChain(client, token))
  client.close()
  return { chains_intact: reports.every((intact) => intact === true), unsealed }
}

async function verifyChain(client: KeepAliveClient, token: string): Promise<boolean | undefined> {
  const authorization = `Bearer ${token}`
  const started = await client.send({
    method: 'POST',
    url: '/api/audit/verify',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{}',
  })
  const job = JSON.parse(started.text) as { job_id: string; resource: string }
  const getJson = async (url: string) =>
    JSON.parse((await client.send({ method: 'GET', url, headers: { authorization } })).text)
  for (let state = 'queued'; state === 'queued' || state === 'running'; ) {
    state = (await getJson(`/api/jobs/${job.job_id}?wait=8`)).state
  }
  return (await getJson(job.resource)).report?.intact
}
