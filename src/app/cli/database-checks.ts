/** What the doctor looks at beyond the start-up guard: the servers of a URL, and whether chains of audit events belong here. */
import { countMovedChains } from '../../kernel/audit/queries.ts'
import { type DatabaseConnection, openClient, parseDatabaseUrl, takesWrites } from '../../kernel/database/servers.ts'
import { SYSTEM_TENANT } from '../../kernel/uuid.ts'
import { type Config, urlNames } from '../config.ts'
import { type Guarded, reasonOf } from '../guard.ts'
import { bad, doubtful, type Finding, good } from './machine-checks.ts'

export interface ServerAnswer {
  readonly host: string
  readonly state: 'writable' | 'standby' | 'unreachable'
  readonly reason?: string
}

/** One finding for each URL that names several servers. */
export async function checkServers(
  config: Config,
  connections: Readonly<Record<keyof typeof urlNames, DatabaseConnection | null>>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const role of Object.keys(urlNames) as (keyof typeof urlNames)[]) {
    const url = config.database_urls?.[role]
    const { candidates = [] } = connections[role] ?? {}
    if (!url || candidates.length < 2) continue
    const { hosts } = parseDatabaseUrl(url)
    const answers = await Promise.all(
      candidates.map((candidate, index) => askServer(hosts[index] as string, candidate)),
    )
    findings.push(judgeServers(urlNames[role], answers))
  }
  return findings
}

async function askServer(host: string, connection: DatabaseConnection): Promise<ServerAnswer> {
  try {
    const client = await openClient(connection)
    try {
      return { host, state: (await takesWrites(client)) ? 'writable' : 'standby' }
    } finally {
      await client.end()
    }
  } catch (error) {
    return { host, state: 'unreachable', reason: reasonOf(error) }
  }
}

const words = { writable: 'takes writes', standby: 'is a standby', unreachable: 'cannot be reached' } as const

export function judgeServers(variable: string, answers: readonly ServerAnswer[]): Finding {
  const name = 'servers'
  const each = answers.map(({ host, state, reason }) => `${host} ${words[state]}${reason ? ` (${reason})` : ''}`)
  const detail = `${variable}: ${each.join(', ')}`
  const writable = answers.filter(({ state }) => state === 'writable').length
  if (writable === 0) return bad(name, detail, 'Promote a standby, or correct the hosts.')
  if (writable > 1)
    return bad(
      name,
      detail,
      'Only one server may take writes: processes that reach different ones keep different records.',
    )
  if (answers.some(({ state }) => state === 'unreachable'))
    return doubtful(name, detail, 'Bring the server back, or take its host out of the URL: it cannot take over.')
  return good(name, detail)
}

export async function checkChains({ worker }: Pick<Guarded, 'worker'>): Promise<Finding> {
  const scope = { tenant_id: SYSTEM_TENANT, actor: 'operator:doctor' }
  return judgeChains(await worker.one(scope, countMovedChains))
}

export function judgeChains({ moved, ahead }: { moved: number; ahead: number }): Finding {
  const name = 'audit chains'
  if (moved === 0) return good(name, 'every position was counted in this cluster')
  const detail =
    `${moved} were last extended in another cluster, or before this release` +
    (ahead > 0 ? `; ${ahead} are ahead of the current transaction id` : '')
  return doubtful(
    name,
    detail,
    'Start a worker: it compares their events with their links once, and goes on from there.',
  )
}
