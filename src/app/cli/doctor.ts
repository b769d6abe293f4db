/** `doctor`: checks everything that could keep Probity from running, with a remedy for each fault. Changes nothing. */
import type pg from 'pg'
import { fullScope } from '#kernel/database/scope.ts'
import { type ConnectionConfig, openClient } from '#kernel/database/servers.ts'
import type { Keyring } from '#kernel/encryption/keyring.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import type { Config } from '../config.ts'
import { describeCause } from '../describe-cause.ts'
import { type Environment, hasDatabase, loadKeyring, openErasureLedger } from '../environment.ts'
import { listMasterKeyUses, type MasterKeyUse } from '../keys/rewrap.ts'
import { readProjectMigrations } from '../project.ts'
import { findServerInfo } from '../queries.ts'
import { type CheckContext, runStartupCheck, startupChecks, withCheckContext } from '../startup-checks.ts'
import { checkApprovers } from './approver-check.ts'
import type { Command, Invocation } from './command.ts'
import { checkChains, checkServers } from './database-checks.ts'
import { checkErasureLedger } from './erasure-check.ts'
import {
  checkBinaries,
  checkConsole,
  checkDataFolder,
  checkDisk,
  checkEncryption,
  checkIssuers,
  checkKeyCommand,
  checkMasterKey,
  checkNode,
  checkPorts,
  checkSettings,
  checkSocket,
  type Finding,
  failFinding,
  getHome,
  okFinding,
  skipFinding,
  warnFinding,
} from './machine-checks.ts'
import { describeUse } from './master-keys.ts'
import { checkOfficers } from './officer-check.ts'
import { withEnvironment } from './operator.ts'
import { findConnectionUsage, findMigrator, findPooler } from './queries.ts'
import { checkRestrictions } from './restriction.ts'

const MAX_SKEW_MS = 5000
const statusLabels = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL', skip: '-   ' } as const

export const doctor: Command = {
  about: `
Exit code 0 when nothing is wrong; what is marked WARN works, but look at it. Checks marked "-" do not apply here. The embedded database is started for the length of
the command if it does not run.`,
  options: { json: { type: 'boolean', about: 'print JSON' } },
  run: async (invocation) => {
    const { terminal, args } = invocation
    const findings: Finding[] = []
    const show = (finding: Finding) => {
      findings.push(finding)
      if (!args.flag('json')) terminal.out(formatFinding(finding))
    }
    await runDoctorChecks(invocation, show)
    const count = (wanted: Finding['status']) => findings.filter(({ status }) => status === wanted).length
    const failed = count('fail')
    const verdicts = `${count('ok')} ok, ${count('warn')} to check, ${failed} to repair, ${count('skip')} not applicable`
    if (args.flag('json')) terminal.out(JSON.stringify({ ok: failed === 0, findings }, null, 2))
    else terminal.out(`\n${verdicts}`)
    return failed === 0 ? 0 : 1
  },
}

function formatFinding({ name, status, detail, remedy }: Finding): string {
  const lines = [`${statusLabels[status]}  ${name.padEnd(20)}  ${detail}`, ...(remedy ? [`→ ${remedy}`] : [])]
  return lines.join('\n').replaceAll('\n', `\n${' '.repeat(28)}`)
}

async function runDoctorChecks(invocation: Invocation, show: (finding: Finding) => void): Promise<void> {
  const { project } = invocation
  show(checkNode(project))
  const config = readConfigOrReport(invocation, show)
  show(checkSettings(invocation.env))
  show(checkConsole(project))
  if (!config) {
    show(skipFinding('everything else', 'needs a valid configuration'))
    return
  }
  const home = tryOrReport('data folder', show, () => getHome(config, project))
  if (home === undefined) return
  show(checkEncryption(config, invocation.env))
  show(checkBinaries(config, project))
  show(checkDataFolder(config, home))
  show(checkSocket(config, home))
  show(checkDisk(config, home))
  for (const finding of await checkPorts(config)) show(finding)
  show(checkMasterKey(config, home))
  show(await checkKeyCommand(config))
  for (const finding of await checkIssuers(config)) show(finding)
  if (!config.database_urls && !hasDatabase(home)) {
    show(skipFinding('database', 'there is none yet; "npm start" makes it'))
    return
  }
  try {
    await withEnvironment(invocation, { name: 'doctor' }, (environment) =>
      checkDatabase(invocation, config, environment, show),
    )
  } catch (error) {
    show(failFinding('database', describeCause(error), 'Look into postgres.log in the data folder.'))
  }
}

function readConfigOrReport(invocation: Invocation, show: (finding: Finding) => void): Config | undefined {
  try {
    const config = invocation.config()
    show(okFinding('configuration', config.production ? 'valid, for production' : 'valid'))
    return config
  } catch (error) {
    const faults = (error as { faults?: readonly string[] }).faults ?? [(error as Error).message]
    show(failFinding('configuration', 'not usable', faults.join('\n  ')))
    return undefined
  }
}

function tryOrReport<T>(name: string, show: (finding: Finding) => void, body: () => T): T | undefined {
  try {
    return body()
  } catch (error) {
    show(failFinding(name, 'cannot be used', (error as Error).message))
    return undefined
  }
}

async function checkDatabase(
  { project }: Invocation,
  config: Config,
  { connections, home }: Environment,
  show: (finding: Finding) => void,
): Promise<void> {
  const keyring = tryOrNull(() => loadKeyring(config, home))
  const facts = { connections, migrations: readProjectMigrations(project), keyring, production: config.production }
  await withCheckContext(facts, async (guarded) => {
    let fault: string | null = null
    for (const check of startupChecks) {
      if (fault !== null) {
        show(skipFinding(check.name, `not checked before ${fault} is repaired`))
        continue
      }
      const verdict = await runStartupCheck(check, guarded)
      show(verdict.ok ? okFinding(check.name, verdict.detail) : failFinding(check.name, verdict.detail, verdict.remedy))
      if (!verdict.ok) fault = check.name
    }
    if (fault === null && keyring) for (const finding of await checkMasterKeyUses(guarded, keyring)) show(finding)
    if (fault === 'database') return
    show(await checkClock(guarded))
    if (fault === null) show(await checkChains(guarded))
    if (fault === null) show(await checkApprovers(guarded))
    if (fault === null) show(await checkOfficers(guarded))
    if (fault === null) show(await checkRestrictions(guarded))
    if (fault === null) show(await checkErasureLedger(openErasureLedger(config, project), guarded))
  }).catch((error) => show(failFinding('clock', describeCause(error), 'Run the doctor again.')))
  for (const finding of await checkServers(config, connections)) show(finding)
  await checkConnection(config, connections.app, show)
  show(await checkMigrator(connections.migrator))
}

/** While a master key is being replaced: whether the earlier ones can be removed. Always: whether one is missing. */
async function checkMasterKeyUses({ steward }: CheckContext, keyring: Keyring): Promise<Finding[]> {
  const uses = await listMasterKeyUses({ steward })
  const describe = (needed: readonly MasterKeyUse[]) =>
    needed.map((use) => `${use.key_id} is needed by ${describeUse(use)}`).join('; ')
  const findings: Finding[] = []
  const missing = uses.filter(({ key_id }) => !keyring.key_ids.includes(key_id))
  if (missing.length > 0) {
    const remedy = 'Add its file to PROBITY_MASTER_KEY_FILE, or its name to PROBITY_KEY_COMMAND_ID.'
    findings.push(warnFinding('missing master keys', `${describe(missing)}, and is not configured`, remedy))
  }
  const [, ...earlier] = keyring.key_ids
  if (earlier.length === 0) return findings
  const needed = uses.filter(({ key_id }) => earlier.includes(key_id))
  const detail =
    needed.length === 0
      ? `${earlier.join(', ')}: configured, and nothing needs them: not used yet, or replaced; only what was replaced may go`
      : `${describe(needed)}; "npx probity keys rewrap" encrypts them under ${keyring.key_id}`
  return [...findings, okFinding('earlier master keys', detail)]
}

const tryOrNull = <T>(body: () => T): T | null => {
  try {
    return body()
  } catch {
    return null
  }
}

async function checkClock({ app }: CheckContext): Promise<Finding> {
  const before_ms = Date.now()
  const facts = await app.one(fullScope(SYSTEM_TENANT, 'operator:doctor'), findServerInfo)
  const middle_ms = (before_ms + Date.now()) / 2
  const skew_ms = Math.round((facts?.now_ms ?? 0) - middle_ms)
  const detail = `the database is ${Math.abs(skew_ms)} ms ${skew_ms < 0 ? 'behind' : 'ahead of'} this machine`
  if (Math.abs(skew_ms) <= MAX_SKEW_MS) return okFinding('clock', detail)
  return failFinding(
    'clock',
    detail,
    'Run a time service (NTP) on both machines: tokens and leases compare their clocks.',
  )
}

async function withClient<T>(connection: ConnectionConfig, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await openClient(connection)
  try {
    return await body(client)
  } finally {
    await client.end()
  }
}

async function checkConnection(
  config: Config,
  connection: ConnectionConfig,
  show: (finding: Finding) => void,
): Promise<void> {
  try {
    await withClient(connection, async (client) => {
      const { pooled, tracks_statements } = await findPooler(client)
      show(evaluatePooler(pooled, tracks_statements, config.prepared_statements))
      show(evaluateConnectionUsage(await findConnectionUsage(client), config.pool_size))
    })
  } catch (error) {
    show(skipFinding('pooler', `not looked at: ${describeCause(error)}`))
  }
}

export function evaluatePooler(pooled: boolean, tracks_statements: boolean, prepared: boolean): Finding {
  const setting = `prepared statements are ${prepared ? 'on' : 'off'}`
  if (!pooled) return okFinding('pooler', `none in between; ${setting}`)
  if (!prepared || tracks_statements)
    return okFinding('pooler', `a pooler is in between; ${setting}, which works with it`)
  return failFinding(
    'pooler',
    `a pooler is in between that does not keep track of prepared statements; ${setting}`,
    'Set PROBITY_PREPARED_STATEMENTS=off, or use PgBouncer 1.21 or newer with max_prepared_statements.',
  )
}

export function evaluateConnectionUsage(available: { limit: number; used: number }, pool_size: number): Finding {
  const detail = `${available.used} of ${available.limit} used; a process takes up to ${pool_size + 2}`
  if (pool_size + 2 <= available.limit) return okFinding('connections', detail)
  return failFinding('connections', detail, 'Lower PROBITY_POOL_SIZE, or raise max_connections of the server.')
}

async function checkMigrator(connection: ConnectionConfig | null): Promise<Finding> {
  const name = 'role migrator'
  if (!connection) return skipFinding(name, 'MIGRATOR_DATABASE_URL is not set; only "migrate" needs it')
  try {
    const facts = await withClient(connection, findMigrator)
    if (facts.name === 'migrator' && facts.becomes_owner)
      return okFinding(name, 'connects as migrator, may become app_owner')
    return failFinding(
      name,
      `connects as ${facts.name}`,
      'Run the SQL of "npx probity roles --print" and use the role migrator.',
    )
  } catch (error) {
    return failFinding(name, `cannot be checked: ${describeCause(error)}`, 'Look at MIGRATOR_DATABASE_URL.')
  }
}
