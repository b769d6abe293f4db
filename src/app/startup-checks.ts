/**
 * The start-up checks: what must be true of a database before a process may serve from it, each with what to do when it is not.
 * The doctor shows the same checks. Nothing here changes the database.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { signingKeyContext } from '#kernel/auth/built-in-issuer.ts'
import { listSigningKeys } from '#kernel/auth/queries.ts'
import { isConnectionFailure, ReadOnlyServer } from '#kernel/database/failures.ts'
import { findIsolationFaults, findRoleFault, type QueryRows } from '#kernel/database/isolation.ts'
import { latestVersion, type Migration } from '#kernel/database/migrations.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import { KeyCommandFailed, MasterKeyMissing } from '#kernel/encryption/failures.ts'
import { DecryptionFailed, type Keyring, needsRewrap } from '#kernel/encryption/keyring.ts'
import { IntegrityKeyUnavailable, loadIntegrityKeys, systemPurposes } from '#kernel/integrity/keys.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { describeCause } from './describe-cause.ts'
import type { Connections } from './environment.ts'
import {
  findSchemaState,
  findServerInfo,
  findWriteBlocker,
  hasSchema,
  listActiveDemoTenants,
  listAppliedMigrations,
} from './queries.ts'

export const servingRoles = ['app', 'worker', 'steward'] as const

const urlNames = { app: 'DATABASE_URL', worker: 'WORKER_DATABASE_URL', steward: 'STEWARD_DATABASE_URL' } as const

/** Inputs of the checks. The keyring is null when its file could not be read, which is reported elsewhere. */
export interface CheckContext extends Readonly<Record<(typeof servingRoles)[number], Database>> {
  readonly migrations: readonly Migration[]
  readonly keyring: Keyring | null
  readonly production: boolean
}

export type CheckResult =
  | { readonly ok: true; readonly detail: string }
  | { readonly ok: false; readonly detail: string; readonly remedy: string }

export const checkNames = [
  'database',
  'role app',
  'role worker',
  'role steward',
  'schema',
  'tenant isolation',
  'seed',
  'signing key',
  'integrity keys',
  'demo tenants',
] as const

/** Those that need the keyring. */
export const keyCheckNames = ['signing key', 'integrity keys'] as const satisfies readonly CheckName[]

export interface StartupCheck {
  readonly name: CheckName
  readonly run: (guarded: CheckContext) => Promise<CheckResult>
}

const SCOPE = fullScope(SYSTEM_TENANT, 'operator:guard')
const MAX_LISTED_FAULTS = 5
const CONNECTION_REMEDY =
  'Check that the server runs, and that the database URLs name its address, database, role and password.'

const STANDBY_REMEDY =
  'Let the database URLs name the primary, or all servers: postgres://…@host-a,host-b/probity?target_session_attrs=read-write.'

const passed = (detail: string): CheckResult => ({ ok: true, detail })
const failed = (detail: string, remedy: string): CheckResult => ({ ok: false, detail, remedy })

const createRoleCheck = (role: (typeof servingRoles)[number]): StartupCheck => ({
  name: `role ${role}`,
  run: async (guarded) => {
    const fault = await guarded[role].read(SCOPE, (tx) => findRoleFault(toAskRows(tx), role))
    return fault === null
      ? passed(`connects as ${role}, without special rights`)
      : failed(fault, `Look at ${urlNames[role]}.`)
  },
})

/** In this order: each assumes that those before it passed. */
export const startupChecks: readonly StartupCheck[] = [
  {
    name: 'database',
    run: async ({ app }) => {
      const facts = await app.one(SCOPE, findServerInfo)
      const obstacle = await app.one(SCOPE, findWriteBlocker)
      if (obstacle !== null) return failed(obstacle, STANDBY_REMEDY)
      return passed(`PostgreSQL ${facts?.version}`)
    },
  },
  ...servingRoles.map(createRoleCheck),
  {
    name: 'schema',
    run: async ({ app, migrations }) => {
      const applied = await app.read(SCOPE, async (tx) => ((await hasSchema(tx)) ? listAppliedMigrations(tx) : []))
      return evaluateSchema(applied, migrations)
    },
  },
  {
    name: 'tenant isolation',
    run: async ({ app, migrations }) => {
      const faults = await app.read(SCOPE, (tx) => findIsolationFaults(toAskRows(tx), latestVersion(migrations)))
      if (faults.length === 0) return passed('every table is walled')
      const shown = faults.slice(0, MAX_LISTED_FAULTS).map(({ rule, object }) => `${object}: ${rule}`)
      const more = faults.length > shown.length ? [`and ${faults.length - shown.length} more`] : []
      return failed(
        `the isolation of tenants is not intact:\n${[...shown, ...more].map((line) => `  - ${line}`).join('\n')}`,
        'Undo what was changed by hand; the migrations in db/migrations restore every isolation policy.',
      )
    },
  },
  {
    name: 'seed',
    run: async (guarded) =>
      (await hasSigningKey(guarded))
        ? passed('the built-in issuer has a signing key')
        : failed('the database is not seeded', 'Run "npx probity seed".'),
  },
  { name: 'signing key', run: checkSigningKey },
  { name: 'integrity keys', run: checkIntegrityKeys },
  {
    name: 'demo tenants',
    run: async ({ steward, production }) => {
      if (!production) return passed('allowed outside production')
      const slugs = (await steward.read(SCOPE, listActiveDemoTenants)).map(({ slug }) => slug)
      if (slugs.length === 0) return passed('none is active')
      const commands = slugs.map((slug) => `"npx probity tenant suspend ${slug}"`).join(' and ')
      return failed(`demo tenants are active with NODE_ENV=production: ${slugs.join(', ')}`, `Run ${commands}.`)
    },
  },
]

export function evaluateSchema(
  applied: readonly { version: string; checksum: string }[],
  migrations: readonly Migration[],
): CheckResult {
  const current = applied.at(-1)?.version ?? '0000'
  const expected = latestVersion(migrations)
  const checksums = new Map(applied.map(({ version, checksum }) => [version, checksum]))
  const changed = migrations.find(({ version, checksum }) => (checksums.get(version) ?? checksum) !== checksum)
  if (changed) {
    return failed(
      `migration ${changed.version}_${changed.name} was changed after it was applied`,
      'Restore the file as it was and put the change into a new migration.',
    )
  }
  const missing = migrations.filter(({ version }) => !checksums.has(version)).length
  if (missing > 0) {
    return failed(`the schema is at ${current}, but this version needs ${expected}`, 'Run "npx probity migrate".')
  }
  return passed(current > expected ? `at ${current}, newer than the ${expected} needed` : `at ${current}`)
}

export async function hasSigningKey({ app }: Pick<CheckContext, 'app'>): Promise<boolean> {
  return ((await app.one(SCOPE, findSchemaState))?.signing_keys ?? 0) > 0
}

async function checkSigningKey({ app, keyring }: CheckContext): Promise<CheckResult> {
  if (!keyring) return failed('the master key cannot be read', 'Restore the master key file.')
  const active = (await app.one(SCOPE, listSigningKeys)).find(({ state }) => state === 'active')
  if (!active) return failed('there is no active signing key', 'Run "npx probity seed".')
  try {
    await keyring.unwrap(active.sealed_private, signingKeyContext(active.kid))
  } catch (error) {
    if (error instanceof KeyCommandFailed) return failedKeyCommand(error)
    if (!(error instanceof DecryptionFailed)) throw error
    if (!(error instanceof MasterKeyMissing)) {
      return failed(
        `the signing key of the built-in issuer is damaged in the database: ${error.reason}`,
        'Restore the row of app.signing_key from a backup, or make a new signing key with "npx probity keys rotate".',
      )
    }
    return failed(
      'the signing key of the built-in issuer was sealed with another master key',
      'Restore that master key file (PROBITY_MASTER_KEY_FILE, or master.key in the data folder) or the key of the key ' +
        'command, or make a new signing key with "npx probity keys rotate".',
    )
  }
  return passed(
    needsRewrap(keyring, active.sealed_private)
      ? 'opens with a previous master key; "npx probity keys rewrap" encrypts it under the current one'
      : 'opens with the master key',
  )
}

const failedKeyCommand = (error: KeyCommandFailed): CheckResult =>
  failed(
    error.message.replace(/^The/, 'the'),
    'Check PROBITY_KEY_COMMAND and the service behind it; "npx probity doctor" tries it.',
  )

async function checkIntegrityKeys({ app, keyring }: CheckContext): Promise<CheckResult> {
  if (!keyring) return failed('the master key cannot be read', 'Restore the master key file.')
  try {
    const keys = await loadIntegrityKeys(app, keyring)
    const count = systemPurposes.reduce((sum, purpose) => sum + keys.all(purpose).length, 0)
    return passed(`${count} open with the master key`)
  } catch (error) {
    if (error instanceof KeyCommandFailed) return failedKeyCommand(error)
    if (!(error instanceof IntegrityKeyUnavailable)) throw error
    const [what, ...remedy] = error.message.split('. ')
    return failed(`${what}`, remedy.join('. '))
  }
}

const toAskRows =
  (tx: { query<R extends object>(text: string): Promise<R[]> }): QueryRows =>
  (text) =>
    tx.query<Record<string, unknown>>(text)

export async function withCheckContext<T>(
  options: {
    connections: Connections
    migrations: readonly Migration[]
    keyring: Keyring | null
    production: boolean
  },
  body: (guarded: CheckContext) => Promise<T>,
): Promise<T> {
  // Not prepared: the same code must work behind any pooler, even a wrongly configured one.
  const connect = (role: (typeof servingRoles)[number]) =>
    new Database({
      connection: options.connections[role],
      max: 2,
      prepared: false,
      statement_timeout_ms: 30_000,
      wait_ms: 5000,
    })
  const databases = { app: connect('app'), worker: connect('worker'), steward: connect('steward') }
  try {
    return await body({ ...options, ...databases })
  } finally {
    await Promise.all(Object.values(databases).map((database) => database.end()))
  }
}

export async function runStartupCheck(check: StartupCheck, guarded: CheckContext): Promise<CheckResult> {
  try {
    return await check.run(guarded)
  } catch (error) {
    const remedy =
      'Check that the server runs, and that the database URLs name its address, database, role and password.'
    return failed(`${check.name} cannot be checked: ${describeCause(error)}`, remedy)
  }
}

export type CheckName = (typeof checkNames)[number]

/** Throws the first fault together with its remedy. */
export async function assertChecksPass(guarded: CheckContext, names: readonly CheckName[]): Promise<void> {
  for (const check of startupChecks.filter(({ name }) => names.includes(name))) {
    const verdict = await runStartupCheck(check, guarded)
    if (verdict.ok) continue
    const detail = verdict.detail.charAt(0).toUpperCase() + verdict.detail.slice(1)
    throw new Error(`${detail}${detail.includes('\n') ? '\n' : '. '}${verdict.remedy}`)
  }
}

/** Waits for a server that is still starting; not for one that answers, even with an error. */
export async function waitForDatabase(
  guarded: CheckContext,
  options: { limit_ms: number; onWait: (reason: string) => void; signal: AbortSignal },
): Promise<void> {
  const deadline = performance.now() + options.limit_ms
  for (let reported = false; ; reported = true) {
    try {
      const obstacle = await guarded.app.one(SCOPE, findWriteBlocker)
      if (obstacle === null) return
      // It may be about to become the primary.
      guarded.app.discardIdle()
      throw new ReadOnlyServer(obstacle)
    } catch (error) {
      if (!isUnreachable(error) || performance.now() > deadline) {
        const remedy = error instanceof ReadOnlyServer ? STANDBY_REMEDY : CONNECTION_REMEDY
        throw new Error(`The database cannot be used: ${describeCause(error)}. ${remedy}`, { cause: error })
      }
      if (!reported) options.onWait(describeCause(error))
      await sleep(500, undefined, { signal: options.signal })
    }
  }
}

const isUnreachable = (error: unknown): boolean =>
  isConnectionFailure(error) || isConnectionFailure((error as { cause?: unknown } | null)?.cause)
