/**
 * The start-up guard: what must be true of a database before a process may serve from it, each with what to do when it is
 * not. The doctor shows the same checks. Nothing here changes the database.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sealContext } from '../kernel/auth/built-in-issuer.ts'
import { listSigningKeys } from '../kernel/auth/queries.ts'
import { isConnectionFailure, ReadOnlyServer } from '../kernel/database/failures.ts'
import { latestVersion, type Migration } from '../kernel/database/migrations.ts'
import { Database } from '../kernel/database/tx.ts'
import { type AskRows, findRoleFault, findWallFaults } from '../kernel/database/walls.ts'
import { IntegrityKeyUnavailable, loadIntegrityKeys, systemPurposes } from '../kernel/integrity/keys.ts'
import type { Keyring } from '../kernel/seal.ts'
import { SYSTEM_TENANT } from '../kernel/uuid.ts'
import type { Connections } from './environment.ts'
import {
  findSchemaState,
  findServerFacts,
  findWriteObstacle,
  hasSchema,
  listActiveDemoTenants,
  listAppliedMigrations,
} from './queries.ts'

export const servingRoles = ['app', 'worker', 'steward'] as const

const urlNames = { app: 'DATABASE_URL', worker: 'WORKER_DATABASE_URL', steward: 'STEWARD_DATABASE_URL' } as const

/** What the checks look at. The keyring is null when its file could not be read, which is told elsewhere. */
export interface Guarded extends Readonly<Record<(typeof servingRoles)[number], Database>> {
  readonly migrations: readonly Migration[]
  readonly keyring: Keyring | null
  readonly production: boolean
}

export type Verdict =
  | { readonly ok: true; readonly detail: string }
  | { readonly ok: false; readonly detail: string; readonly remedy: string }

export const guardNames = [
  'database',
  'role app',
  'role worker',
  'role steward',
  'schema',
  'walls',
  'seed',
  'signing key',
  'integrity keys',
  'demo tenants',
] as const

/** Those that need the keyring. */
export const keyGuardNames = ['signing key', 'integrity keys'] as const satisfies readonly GuardName[]

export interface GuardCheck {
  readonly name: GuardName
  readonly run: (guarded: Guarded) => Promise<Verdict>
}

const SCOPE = { tenant_id: SYSTEM_TENANT, actor: 'operator:guard' }
const SHOWN_FAULTS = 5
const CONNECTION_REMEDY =
  'Check that the server runs, and that the database URLs name its address, database, role and password.'

const STANDBY_REMEDY =
  'Let the database URLs name the primary, or all servers: postgres://…@host-a,host-b/probity?target_session_attrs=read-write.'

const fine = (detail: string): Verdict => ({ ok: true, detail })
const wrong = (detail: string, remedy: string): Verdict => ({ ok: false, detail, remedy })

const roleCheck = (role: (typeof servingRoles)[number]): GuardCheck => ({
  name: `role ${role}`,
  run: async (guarded) => {
    const fault = await guarded[role].read(SCOPE, (tx) => findRoleFault(asking(tx), role))
    return fault === null
      ? fine(`connects as ${role}, without special rights`)
      : wrong(fault, `Look at ${urlNames[role]}.`)
  },
})

/** In this order: each presumes that those before it are ok. */
export const guardChecks: readonly GuardCheck[] = [
  {
    name: 'database',
    run: async ({ app }) => {
      const facts = await app.one(SCOPE, findServerFacts)
      const obstacle = await app.one(SCOPE, findWriteObstacle)
      if (obstacle !== null) return wrong(obstacle, STANDBY_REMEDY)
      return fine(`PostgreSQL ${facts?.version}`)
    },
  },
  ...servingRoles.map(roleCheck),
  {
    name: 'schema',
    run: async ({ app, migrations }) => {
      const applied = await app.read(SCOPE, async (tx) => ((await hasSchema(tx)) ? listAppliedMigrations(tx) : []))
      return judgeSchema(applied, migrations)
    },
  },
  {
    name: 'walls',
    run: async ({ app, migrations }) => {
      const faults = await app.read(SCOPE, (tx) => findWallFaults(asking(tx), latestVersion(migrations)))
      if (faults.length === 0) return fine('every table is walled')
      const shown = faults.slice(0, SHOWN_FAULTS).map(({ rule, object }) => `${object}: ${rule}`)
      const more = faults.length > shown.length ? [`and ${faults.length - shown.length} more`] : []
      return wrong(
        `the walls between tenants are not sound:\n${[...shown, ...more].map((line) => `  - ${line}`).join('\n')}`,
        'Undo what was changed by hand; the migrations in db/migrations make every wall as it must be.',
      )
    },
  },
  {
    name: 'seed',
    run: async (guarded) =>
      (await hasSigningKey(guarded))
        ? fine('the built-in issuer has a signing key')
        : wrong('the database is not seeded', 'Run "npx probity seed".'),
  },
  { name: 'signing key', run: checkSigningKey },
  { name: 'integrity keys', run: checkIntegrityKeys },
  {
    name: 'demo tenants',
    run: async ({ steward, production }) => {
      if (!production) return fine('allowed outside production')
      const slugs = (await steward.read(SCOPE, listActiveDemoTenants)).map(({ slug }) => slug)
      if (slugs.length === 0) return fine('none is active')
      const commands = slugs.map((slug) => `"npx probity tenant suspend ${slug}"`).join(' and ')
      return wrong(`demo tenants are active with NODE_ENV=production: ${slugs.join(', ')}`, `Run ${commands}.`)
    },
  },
]

export function judgeSchema(
  applied: readonly { version: string; checksum: string }[],
  migrations: readonly Migration[],
): Verdict {
  const current = applied.at(-1)?.version ?? '0000'
  const expected = latestVersion(migrations)
  const checksums = new Map(applied.map(({ version, checksum }) => [version, checksum]))
  const changed = migrations.find(({ version, checksum }) => (checksums.get(version) ?? checksum) !== checksum)
  if (changed) {
    return wrong(
      `migration ${changed.version}_${changed.name} was changed after it was applied`,
      'Restore the file as it was and put the change into a new migration.',
    )
  }
  const missing = migrations.filter(({ version }) => !checksums.has(version)).length
  if (missing > 0) {
    return wrong(`the schema is at ${current}, but this version needs ${expected}`, 'Run "npx probity migrate".')
  }
  return fine(current > expected ? `at ${current}, newer than the ${expected} needed` : `at ${current}`)
}

export async function hasSigningKey({ app }: Pick<Guarded, 'app'>): Promise<boolean> {
  return ((await app.one(SCOPE, findSchemaState))?.signing_keys ?? 0) > 0
}

async function checkSigningKey({ app, keyring }: Guarded): Promise<Verdict> {
  if (!keyring) return wrong('the master key cannot be read', 'Restore the master key file.')
  const active = (await app.one(SCOPE, listSigningKeys)).find(({ state }) => state === 'active')
  if (!active) return wrong('there is no active signing key', 'Run "npx probity seed".')
  try {
    keyring.open(active.sealed_private, sealContext(active.kid))
  } catch {
    return wrong(
      'the signing key of the built-in issuer was sealed with another master key',
      'Restore that master key file (PROBITY_MASTER_KEY_FILE, or master.key in the data folder), or make a new signing ' +
        'key with "npx probity keys rotate".',
    )
  }
  return fine(
    keyring.needsRewrap(active.sealed_private)
      ? 'opens with a previous master key; "npx probity keys rewrap" encrypts it under the current one'
      : 'opens with the master key',
  )
}

async function checkIntegrityKeys({ app, keyring }: Guarded): Promise<Verdict> {
  if (!keyring) return wrong('the master key cannot be read', 'Restore the master key file.')
  try {
    const keys = await loadIntegrityKeys(app, keyring)
    const count = systemPurposes.reduce((sum, purpose) => sum + keys.all(purpose).length, 0)
    return fine(`${count} open with the master key`)
  } catch (error) {
    if (!(error instanceof IntegrityKeyUnavailable)) throw error
    const [what, ...remedy] = error.message.split('. ')
    return wrong(`${what}`, remedy.join('. '))
  }
}

const asking =
  (tx: { query<R extends object>(text: string): Promise<R[]> }): AskRows =>
  (text) =>
    tx.query<Record<string, unknown>>(text)

export async function withGuarded<T>(
  options: {
    connections: Connections
    migrations: readonly Migration[]
    keyring: Keyring | null
    production: boolean
  },
  body: (guarded: Guarded) => Promise<T>,
): Promise<T> {
  // Not prepared: the same code must work behind any pooler, also a wrongly configured one.
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

export async function runGuardCheck(check: GuardCheck, guarded: Guarded): Promise<Verdict> {
  try {
    return await check.run(guarded)
  } catch (error) {
    const remedy =
      'Check that the server runs, and that the database URLs name its address, database, role and password.'
    return wrong(`${check.name} cannot be checked: ${reasonOf(error)}`, remedy)
  }
}

export type GuardName = (typeof guardNames)[number]

/** Throws the first fault together with its remedy. */
export async function expectSound(guarded: Guarded, names: readonly GuardName[]): Promise<void> {
  for (const check of guardChecks.filter(({ name }) => names.includes(name))) {
    const verdict = await runGuardCheck(check, guarded)
    if (verdict.ok) continue
    const detail = verdict.detail.charAt(0).toUpperCase() + verdict.detail.slice(1)
    throw new Error(`${detail}${detail.includes('\n') ? '\n' : '. '}${verdict.remedy}`)
  }
}

/** A server that is still coming up is waited for; one that answers, however wrongly, is not. */
export async function awaitDatabase(
  guarded: Guarded,
  options: { limit_ms: number; onWait: (reason: string) => void; signal: AbortSignal },
): Promise<void> {
  const deadline = performance.now() + options.limit_ms
  for (let told = false; ; told = true) {
    try {
      const obstacle = await guarded.app.one(SCOPE, findWriteObstacle)
      if (obstacle === null) return
      // It may be about to become the primary.
      guarded.app.discardIdle()
      throw new ReadOnlyServer(obstacle)
    } catch (error) {
      if (!isUnreachable(error) || performance.now() > deadline) {
        const remedy = error instanceof ReadOnlyServer ? STANDBY_REMEDY : CONNECTION_REMEDY
        throw new Error(`The database cannot be used: ${reasonOf(error)}. ${remedy}`, { cause: error })
      }
      if (!told) options.onWait(reasonOf(error))
      await sleep(500, undefined, { signal: options.signal })
    }
  }
}

const isUnreachable = (error: unknown): boolean =>
  isConnectionFailure(error) || isConnectionFailure((error as { cause?: unknown } | null)?.cause)

/** The words of the innermost failure: our own problems only say that a dependency is missing. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  // Both addresses of "localhost" refusing gives an error of errors, without a message of its own.
  const [first] = error instanceof AggregateError ? (error.errors as Error[]) : []
  return error.message || first?.message || (error as NodeJS.ErrnoException).code || error.name
}
