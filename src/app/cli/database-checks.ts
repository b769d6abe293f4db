/** Checks of the doctor beyond the start-up checks: the servers of a URL, and whether audit chains belong to this cluster. */
import { countMovedChains } from '#kernel/audit/queries.ts'
import { parseDatabaseUrl } from '#kernel/database/database-url.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { type ConnectionConfig, isWritable, openClient } from '#kernel/database/servers.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { type Config, urlVariables } from '../config.ts'
import { describeCause } from '../describe-cause.ts'
import type { CheckContext } from '../startup-checks.ts'
import { type Finding, failFinding, okFinding, warnFinding } from './machine-checks.ts'

export interface ServerStatus {
  readonly host: string
  readonly state: 'writable' | 'standby' | 'unreachable'
  readonly reason?: string
}

/** One finding for each URL with several servers. */
export async function checkServers(
  config: Config,
  connections: Readonly<Record<keyof typeof urlVariables, ConnectionConfig | null>>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const role of Object.keys(urlVariables) as (keyof typeof urlVariables)[]) {
    const url = config.database_urls?.[role]
    const { candidates = [] } = connections[role] ?? {}
    if (!url || candidates.length < 2) continue
    const { hosts } = parseDatabaseUrl(url)
    const answers = await Promise.all(
      candidates.map((candidate, index) => probeServer(hosts[index] as string, candidate)),
    )
    findings.push(evaluateServers(urlVariables[role], answers))
  }
  return findings
}

async function probeServer(host: string, connection: ConnectionConfig): Promise<ServerStatus> {
  try {
    const client = await openClient(connection)
    try {
      return { host, state: (await isWritable(client)) ? 'writable' : 'standby' }
    } finally {
      await client.end()
    }
  } catch (error) {
    return { host, state: 'unreachable', reason: describeCause(error) }
  }
}

const stateTexts = { writable: 'takes writes', standby: 'is a standby', unreachable: 'cannot be reached' } as const

export function evaluateServers(variable: string, answers: readonly ServerStatus[]): Finding {
  const name = 'servers'
  const each = answers.map(({ host, state, reason }) => `${host} ${stateTexts[state]}${reason ? ` (${reason})` : ''}`)
  const detail = `${variable}: ${each.join(', ')}`
  const writable = answers.filter(({ state }) => state === 'writable').length
  if (writable === 0) return failFinding(name, detail, 'Promote a standby, or correct the hosts.')
  if (writable > 1)
    return failFinding(
      name,
      detail,
      'Only one server may take writes: processes that reach different ones keep different records.',
    )
  if (answers.some(({ state }) => state === 'unreachable'))
    return warnFinding(name, detail, 'Bring the server back, or take its host out of the URL: it cannot take over.')
  return okFinding(name, detail)
}

export async function checkChains({ worker }: Pick<CheckContext, 'worker'>): Promise<Finding> {
  const scope = fullScope(SYSTEM_TENANT, 'operator:doctor')
  return evaluateChains(await worker.one(scope, countMovedChains))
}

export function evaluateChains({ moved, ahead }: { moved: number; ahead: number }): Finding {
  const name = 'audit chains'
  if (moved === 0) return okFinding(name, 'every position was counted in this cluster')
  const detail =
    `${moved} were last extended in another cluster, or before this release` +
    (ahead > 0 ? `; ${ahead} are ahead of the current transaction id` : '')
  return warnFinding(
    name,
    detail,
    'Start a worker: it compares their events with their links once, and goes on from there.',
  )
}
