/**
 * T4: many tenants take turns on one server, and many of their requests are broken off at any moment. Every byte that
 * arrives, complete or not, must be the caller's own; so must every row that was written.
 */

import { KeepAliveClient } from '#test/support/keep-alive-client.ts'
import { SeededRandom } from '#test/support/seeded-random.ts'

export interface InterleavedTenant {
  readonly tenant_id: string
  /** In everything the tenant writes: `zq` and eight hexadecimal digits. */
  readonly marker: string
  readonly user_ids: readonly string[]
  readonly tokens: readonly string[]
}

export interface InterleaveOptions {
  readonly base: string
  readonly seed: number
  readonly requests: number
  readonly tenants: readonly InterleavedTenant[]
  readonly at_once: number
  readonly onProgress?: (sent: number) => void
}

const MARKER = /zq[0-9a-f]{8}/g
const ABORTED_SHARE = 0.3
const ABORT_WITHIN_MS = 8
const MAX_FINDINGS = 20
/** So many, and the rest would say nothing new. */
const MAX_FAULTS = 1000

export async function runInterleavedRequests(options: InterleaveOptions) {
  const { tenants, at_once } = options
  const random = new SeededRandom(options.seed)
  const client = new KeepAliveClient(options.base, at_once)
  const statuses: Record<string, number> = {}
  const findings: string[] = []
  let sent = 0
  let broken_off = 0
  let faults = 0
  let own_bytes = 0

  const addFinding = (text: string) => {
    if (++faults <= MAX_FINDINGS) findings.push(text)
  }

  const sendNext = async () => {
    const tenant = random.pick(tenants)
    const other = random.pick(tenants)
    const { at, body, expected } = buildRequest(random, tenant, other)
    const [method, url] = at.split(' ') as [string, string]
    const abort_after_ms = random.chance(ABORTED_SHARE) ? random.share() * ABORT_WITHIN_MS : undefined
    const reply = await client.send({
      method,
      url: `/api${url}`,
      body: body && JSON.stringify(body),
      headers: {
        authorization: `Bearer ${random.pick(tenant.tokens)}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(abort_after_ms !== undefined && { abort_after_ms }),
    })
    statuses[reply.status] = (statuses[reply.status] ?? 0) + 1
    if (!reply.complete) broken_off++
    const said = `${tenant.marker} ${at}: ${reply.status} ${reply.text.slice(0, 300)}`
    if (reply.status === 0 && abort_after_ms === undefined) addFinding(`no answer to ${said}`)
    if (reply.status !== 0 && !expected.includes(reply.status)) addFinding(`unexpected: ${said}`)
    for (const [found] of reply.text.matchAll(MARKER)) {
      if (found === tenant.marker) own_bytes++
      else addFinding(`foreign marker ${found} in ${said}`)
    }
    if (other !== tenant && reply.text.includes(other.tenant_id)) addFinding(`foreign tenant in ${said}`)
  }

  const runClient = async () => {
    while (sent < options.requests && faults < MAX_FAULTS) {
      sent++
      if (sent % 10_000 === 0) options.onProgress?.(sent)
      await sendNext()
    }
  }
  try {
    await Promise.all(Array.from({ length: at_once }, runClient))
  } finally {
    client.close()
  }
  return { seed: options.seed, requests: sent, broken_off, own_markers: own_bytes, statuses, faults, findings }
}

/** One turn of a tenant; `other` is whose identifiers it tries. */
function buildRequest(random: SeededRandom, tenant: InterleavedTenant, other: InterleavedTenant) {
  const { marker } = tenant
  const mine = random.pick(tenant.user_ids)
  const read = (at: string, expected = [200]) => ({ at: `GET ${at}`, body: undefined, expected })
  const ways = [
    () => read(`/users/${mine}`),
    () => read('/users?limit=50'),
    () => read('/auth/me'),
    () => read('/tenant'),
    () => read('/audit/events?limit=50'),
    () => read(`/users/${random.pick(other.user_ids)}`, other === tenant ? [200] : [404]),
    () => ({
      at: 'POST /users',
      body: { name: `${marker} made`, email: `${random.hex(24)}@${marker}.example`, team: marker, roles: ['viewer'] },
      expected: [201],
    }),
    () => ({ at: `PATCH /users/${mine}`, body: { team: `${marker} ${random.hex(6)}` }, expected: [200] }),
    () => ({
      at: `PATCH /users/${random.pick(other.user_ids)}`,
      body: { team: `${marker} ${random.hex(6)}` },
      expected: other === tenant ? [200] : [404],
    }),
  ]
  return random.pick(ways)()
}

/** SQL for a superuser: users whose name or team holds another tenant's marker. */
export const COUNT_STRAY_USERS_SQL = `
  select count(*)::int as strayed from app.user_account
   where (name like 'zq%' and left(name, 10) <> 'zq' || right(tenant_id::text, 8))
      or (team like 'zq%' and left(team, 10) <> 'zq' || right(tenant_id::text, 8))`
