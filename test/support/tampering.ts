/** What a database superuser could do to the audit record, with row-level security and triggers switched off. Each returns how to undo it. */
import type pg from 'pg'

export const tamperings = [
  'edit an actor',
  'edit a detail',
  'edit a time',
  'delete an event',
  'delete a link',
  'edit a hash',
  'swap two links',
  'plant an event in the past',
  'plant an event at the end',
  'truncate the chain',
  'truncate chain and events',
  'truncate everything and shorten the head',
  'remove the head',
  'edit a checkpoint',
] as const
export type Tampering = (typeof tamperings)[number]

const tables = ['audit_event', 'audit_link', 'audit_head', 'audit_checkpoint'] as const

/** `seq` is where; the chain must be longer than that. */
export async function tamper(
  superuser: pg.Client,
  tenant_id: string,
  kind: Tampering,
  seq: number,
): Promise<() => Promise<void>> {
  await superuser.query('set session_replication_role = replica')
  for (const table of tables) {
    await superuser.query(`drop table if exists kept_${table}`)
    await superuser.query(`create temp table kept_${table} as select * from app.${table} where tenant_id = $1`, [
      tenant_id,
    ])
  }
  const run = (text: string, ...more: unknown[]) => superuser.query(text, [tenant_id, ...more])
  const event = '(select event_id from app.audit_link where tenant_id = $1 and seq = $2)'
  const copy = (txid: string) =>
    `insert into app.audit_event (tenant_id, event_id, txid, recorded_at, actor, operation, object_type, object_id, request_id, detail, mac)
     select tenant_id, gen_random_uuid(), ${txid}, recorded_at, actor, operation, object_type, object_id, request_id, detail, mac
       from app.audit_event where tenant_id = $1 and event_id = ${event}`
  const actions: Record<Tampering, () => Promise<unknown>> = {
    'edit an actor': () =>
      run(`update app.audit_event set actor = 'user:somebody' where tenant_id = $1 and event_id = ${event}`, seq),
    'edit a detail': () =>
      run(`update app.audit_event set detail = '{"x":1}' where tenant_id = $1 and event_id = ${event}`, seq),
    'edit a time': () =>
      run(
        `update app.audit_event set recorded_at = recorded_at - interval '1 day' where tenant_id = $1 and event_id = ${event}`,
        seq,
      ),
    'delete an event': () => run(`delete from app.audit_event where tenant_id = $1 and event_id = ${event}`, seq),
    'delete a link': () => run('delete from app.audit_link where tenant_id = $1 and seq = $2', seq),
    'edit a hash': () =>
      run(
        `update app.audit_link set hash = 'f' || substr(md5(hash) || md5(hash), 2) where tenant_id = $1 and seq = $2`,
        seq,
      ),
    'swap two links': async () => {
      const { rows } = await run(
        'select seq, event_id from app.audit_link where tenant_id = $1 and seq between $2::bigint and $2::bigint + 1 order by seq',
        seq,
      )
      await run('update app.audit_link set event_id = gen_random_uuid() where tenant_id = $1 and seq = $2', seq)
      await run('update app.audit_link set event_id = $3 where tenant_id = $1 and seq = $2', seq + 1, rows[0].event_id)
      await run('update app.audit_link set event_id = $3 where tenant_id = $1 and seq = $2', seq, rows[1].event_id)
    },
    'plant an event in the past': () => run(copy('txid'), seq),
    'plant an event at the end': () => run(copy('pg_current_xact_id()::text::bigint'), seq),
    'truncate the chain': () => run('delete from app.audit_link where tenant_id = $1 and seq > $2', seq),
    'truncate chain and events': async () => {
      await run(
        'delete from app.audit_event where tenant_id = $1 and event_id in (select event_id from app.audit_link where tenant_id = $1 and seq > $2)',
        seq,
      )
      await run('delete from app.audit_link where tenant_id = $1 and seq > $2', seq)
    },
    'truncate everything and shorten the head': async () => {
      await run(
        'delete from app.audit_event where tenant_id = $1 and event_id in (select event_id from app.audit_link where tenant_id = $1 and seq > $2)',
        seq,
      )
      await run('delete from app.audit_link where tenant_id = $1 and seq > $2', seq)
      await run(
        'update app.audit_head h set seq = l.seq, hash = l.hash from app.audit_link l where h.tenant_id = $1 and l.tenant_id = $1 and l.seq = $2',
        seq,
      )
    },
    'remove the head': () => run('delete from app.audit_head where tenant_id = $1'),
    'edit a checkpoint': () =>
      run(`update app.audit_checkpoint set created_at = created_at - interval '1 day' where tenant_id = $1`),
  }
  await actions[kind]()
  return async () => {
    // What the service itself added meanwhile stays: only what was kept is put back, and only what was planted is removed.
    for (const table of tables) {
      const key = table === 'audit_event' ? 'event_id' : table === 'audit_head' ? 'tenant_id' : 'seq'
      await superuser.query(
        `delete from app.${table} x using kept_${table} k where x.tenant_id = $1 and x.${key} = k.${key}`,
        [tenant_id],
      )
      await superuser.query(`insert into app.${table} select * from kept_${table}`)
    }
    await run(`delete from app.audit_event e where tenant_id = $1 and event_id not in (select event_id from kept_audit_event)
                 and exists (select 1 from kept_audit_event k where k.mac = e.mac)`)
    await superuser.query('set session_replication_role = origin')
  }
}
