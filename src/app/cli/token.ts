/** `token`: prints a token of the built-in issuer for one tenant, and nothing else, so that a script can use it. */
import { BUILT_IN_ISSUER, createBuiltInIssuer } from '#kernel/auth/built-in-issuer.ts'
import { isRole, type Role, roles } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { isUuid, uuidv7 } from '#kernel/uuid.ts'
import { findUser, findUserByEmail, insertUser, listUsers, type UserRow } from '#modules/access/index.ts'
import type { TenantSummary } from '../queries.ts'
import { type Command, type Invocation, parseInteger, UsageError } from './command.ts'
import { OPERATOR, type OperatorContext, withOperator } from './operator.ts'
import { recordAction, recordStandaloneAction } from './operator-actions.ts'
import { requireTenant } from './require-tenant.ts'

const DEFAULT_HOURS = 12
const MAX_HOURS = 24
/** Enough to find a matching user in a test tenant; beyond it one is added. */
const SEARCHED_USERS = 200

interface TokenOwner {
  readonly principal: `user:${string}`
  readonly name?: string
  readonly roles: readonly string[]
}

export const token: Command = {
  about: `
Prints only the token; that it was made is in the tenant's audit record. Without --user it belongs to a user of the tenant who has
all the roles named. Where there is none, a user with exactly these roles is added first, which is recorded too; the next
token for the same roles belongs to the same user. Demo tenants get none with NODE_ENV=production.

Examples:
  npx probity token --tenant demo --role viewer
  npx probity token --tenant acme --user ada@acme.example --hours 1
  curl -s localhost:8000/api/auth/me -H "Authorization: Bearer $(npx probity token --tenant demo --role viewer)"`,
  options: {
    tenant: { type: 'string', value: 'SLUG', about: 'slug or id of the tenant' },
    role: { type: 'string', multiple: true, value: 'ROLE', about: `one of ${roles.join(', ')}` },
    user: {
      type: 'string',
      value: 'WHO',
      about: 'email address or id of a user; --role then names some of the roles they have',
    },
    hours: { type: 'string', value: 'N', about: `life of the token, 1 to ${MAX_HOURS} (default ${DEFAULT_HOURS})` },
  },
  run: async (invocation) => {
    const wanted = readTokenRequest(invocation)
    return withOperator(invocation, { name: 'token', needs_seed: true, signs: true }, async (operator) => {
      const tenant = await requireTenant(operator, wanted.tenant)
      if (tenant.demo && invocation.config().production) {
        throw new Error(`${tenant.slug} is a demo tenant, and with NODE_ENV=production those get no tokens.`)
      }
      if (tenant.state === 'suspended') {
        throw new Error(`${tenant.slug} is suspended: run "npx probity tenant resume ${tenant.slug}" first.`)
      }
      const owner = await findTokenOwner(operator, tenant, wanted, (text) => invocation.terminal.note(text))
      const issuer = createBuiltInIssuer(operator.guarded.app, operator.keyring)
      const lifetime_s = wanted.hours * 3600
      const minted = await issuer.mint({ ...owner, tenant_id: tenant.tenant_id, lifetime_s })
      const expires_at = new Date(minted.expires_at_s * 1000).toISOString()
      await recordStandaloneAction(operator, tenant.tenant_id, {
        operation: 'createToken',
        object_type: 'auth',
        object_id: minted.token_id,
        detail: { principal: owner.principal, roles: owner.roles, expires_at },
      })
      invocation.terminal.out(minted.token)
      return 0
    })
  },
}

interface TokenRequest {
  readonly tenant: string
  readonly roles: readonly Role[]
  readonly user: string | undefined
  readonly hours: number
}

function readTokenRequest({ args }: Invocation): TokenRequest {
  const tenant = args.required('tenant')
  const user = args.text('user')
  const named = [...new Set(args.list('role'))]
  const unknown = named.find((name) => !isRole(name))
  if (unknown !== undefined) {
    throw new Error(`"${unknown.slice(0, 100)}" is not a role; the roles are ${roles.join(', ')}.`)
  }
  if (named.length === 0 && user === undefined) throw new UsageError('--role is missing; without --user it is needed.')
  const hours = args.text('hours')
  return {
    tenant,
    user,
    roles: named.filter(isRole),
    hours: hours === undefined ? DEFAULT_HOURS : parseInteger('hours', hours, 1, MAX_HOURS),
  }
}

type Notify = (text: string) => void

async function findTokenOwner(
  operator: OperatorContext,
  tenant: TenantSummary,
  wish: TokenRequest,
  note: Notify,
): Promise<TokenOwner> {
  const { app } = operator.guarded
  const scope = fullScope(tenant.tenant_id, OPERATOR)
  if (wish.user !== undefined) {
    const who = wish.user
    const user = await app.one(scope, (tx) =>
      isUuid(who) ? findUser(tx, who) : findUserByEmail(tx, who.toLowerCase()),
    )
    if (!user) throw new Error(`${tenant.slug} has no user "${who.slice(0, 100)}".`)
    return toTokenOwner(assertRoles(user, tenant, wish.roles), wish.roles.length > 0 ? wish.roles : user.roles)
  }
  const filter = { state: 'active', role: wish.roles[0] ?? null }
  const users = await app.one(scope, (tx) => listUsers(tx, filter, null, SEARCHED_USERS))
  return toTokenOwner(
    findLeastPrivileged(users, wish.roles) ?? (await ensureUser(operator, tenant, wish.roles, note)),
    wish.roles,
  )
}

/** A token never gives a role that its user does not have. */
function assertRoles(user: UserRow, tenant: TenantSummary, wanted: readonly Role[]): UserRow {
  if (user.state === 'inactive') throw new Error(`${user.name} of ${tenant.slug} is deactivated.`)
  const missing = wanted.filter((role) => !user.roles.includes(role))
  if (missing.length === 0) return user
  throw new Error(`${user.name} of ${tenant.slug} does not have the role ${missing.join(', ')}.`)
}

/** The user of this tenant with exactly these roles. Safe to run concurrently: the address is unique. */
async function ensureUser(
  operator: OperatorContext,
  tenant: TenantSummary,
  wanted: readonly Role[],
  note: Notify,
): Promise<UserRow> {
  const held = roles.filter((role) => wanted.includes(role))
  const user_id = uuidv7()
  const email = `${held.join('.')}@${tenant.slug}.${tenant.demo ? 'example' : 'invalid'}`
  const name = `${tenant.demo ? 'Demo' : 'Operator'}: ${held.join(', ')}`
  const keys = await operator.audit()
  const user = await operator.guarded.app.write(fullScope(tenant.tenant_id, OPERATOR), async (tx) => {
    const subject = `user:${user_id}`
    const fixed = { issuer: BUILT_IN_ISSUER, team: null, locale: 'en', origin: 'built_in', state: 'active' } as const
    const made = await insertUser(tx, { user_id, subject, email, name, roles: held, ...fixed }, 'keep')
    if (!made) return findUserByEmail(tx, email)
    const detail = { name, roles: held }
    recordAction(tx, keys, { operation: 'createUser', object_type: 'users', object_id: user_id, detail })
    return made
  })
  if (!user) throw new Error(`${email} of ${tenant.slug} was removed just now; run the command again.`)
  if (user.user_id === user_id) note(`Nobody of ${tenant.slug} had these roles: added the user ${email}.`)
  return assertRoles(user, tenant, held)
}

const toTokenOwner = (user: UserRow, held: readonly string[]): TokenOwner => ({
  principal: `user:${user.user_id}`,
  name: user.name,
  roles: held,
})

/** Of the users who have all the roles, the one with the fewest others. */
export function findLeastPrivileged<U extends { readonly roles: readonly string[] }>(
  users: readonly U[],
  wanted: readonly string[],
): U | undefined {
  const fitting = users.filter((user) => wanted.every((role) => user.roles.includes(role)))
  return fitting.sort((one, two) => one.roles.length - two.roles.length)[0]
}
