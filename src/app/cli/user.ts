/**
 * `user add|reactivate`: for a tenant with too few people to approve its own changes. Everything else about users is done by the
 * tenant.
 */
import { BUILT_IN_ISSUER } from '#kernel/auth/built-in-issuer.ts'
import { isRole, type Role, roles } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { isUuid, uuidv7 } from '#kernel/uuid.ts'
import { findUser, findUserByEmail, insertUser, updateUserState } from '#modules/access/index.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { OPERATOR, type OperatorContext, withOperator } from './operator.ts'
import { recordAction } from './operator-actions.ts'
import { requireTenant } from './require-tenant.ts'

const EMAIL = /^[^\s\p{Cc}@]+@[^\s\p{Cc}@]+$/u
const EMAIL_MAX = 254
const NAME_MAX = 200

type UserOperator = Pick<OperatorContext, 'audit'> & {
  readonly guarded: Pick<OperatorContext['guarded'], 'app' | 'steward'>
}

interface NewUserRequest {
  readonly tenant: string
  readonly name: string
  readonly email: string
  readonly roles: readonly Role[]
}

export const userAdd: Command = {
  about: `
A tenant whose approval policy asks for more people than it has cannot give roles any more, not even to the person it needs. This
adds that person without approval; the tenant's audit record says so. "doctor" names the tenants that need it.
"npx probity token" prints a token for the person, unless they sign in at an identity provider of yours.

Example:
  npx probity user add --tenant acme --name 'Ada Lovelace' --email ada@acme.example --role tenant_admin`,
  options: {
    tenant: { type: 'string', value: 'SLUG', about: 'slug or id of the tenant' },
    name: { type: 'string', value: 'NAME', about: 'name of the person' },
    email: { type: 'string', value: 'ADDRESS', about: 'email address of the person' },
    role: { type: 'string', multiple: true, value: 'ROLE', about: `one of ${roles.join(', ')}` },
  },
  run: async (invocation) => {
    const request = readNewUserRequest(invocation)
    return withOperator(invocation, { name: 'user' }, async (operator) => {
      const user_id = await addUser(operator, request)
      invocation.terminal.out(user_id)
      return 0
    })
  },
}

export const userReactivate: Command = {
  about: `
With the roles they had, and without approval; the tenant's audit record says so.

Example:
  npx probity user reactivate --tenant acme --user ada@acme.example`,
  options: {
    tenant: { type: 'string', value: 'SLUG', about: 'slug or id of the tenant' },
    user: { type: 'string', value: 'WHO', about: 'email address or id of the person' },
  },
  run: async (invocation) => {
    const [slug, who] = [invocation.args.required('tenant'), invocation.args.required('user')]
    return withOperator(invocation, { name: 'user' }, async (operator) => {
      invocation.terminal.out(await reactivateUser(operator, slug, who))
      return 0
    })
  },
}

function readNewUserRequest({ args }: Invocation): NewUserRequest {
  const [tenant, name, email] = [
    args.required('tenant'),
    args.required('name').trim(),
    args.required('email').toLowerCase(),
  ]
  if (name.length === 0 || name.length > NAME_MAX || /\p{Cc}/u.test(name)) {
    throw new UsageError(`--name must be 1 to ${NAME_MAX} characters on one line.`)
  }
  if (email.length > EMAIL_MAX || !EMAIL.test(email)) throw new UsageError('--email must be an email address.')
  const named = [...new Set(args.list('role'))]
  const unknown = named.find((role) => !isRole(role))
  if (unknown !== undefined) {
    throw new UsageError(`"${unknown.slice(0, 100)}" is not a role; the roles are ${roles.join(', ')}.`)
  }
  if (named.length === 0) throw new UsageError('--role is missing.')
  return { tenant, name, email, roles: named.filter(isRole) }
}

/** The id of the new person. */
export async function addUser(
  operator: UserOperator,
  { tenant: slug, name, email, roles: held }: NewUserRequest,
): Promise<string> {
  const { tenant_id } = await requireTenant(operator, slug)
  const user_id = uuidv7()
  const keys = await operator.audit()
  await operator.guarded.app.write(fullScope(tenant_id, OPERATOR), async (tx) => {
    if (await findUserByEmail(tx, email)) throw new Error(`${slug} has a person with the address ${email} already.`)
    await insertUser(tx, {
      user_id,
      issuer: BUILT_IN_ISSUER,
      subject: `user:${user_id}`,
      email,
      name,
      team: null,
      locale: null,
      roles: held,
      origin: 'built_in',
      state: 'invited',
    })
    recordAction(tx, keys, {
      operation: 'createUser',
      object_type: 'users',
      object_id: user_id,
      detail: { roles: held },
    })
  })
  return user_id
}

/** The message about it. */
export async function reactivateUser(operator: UserOperator, slug: string, who: string): Promise<string> {
  const { tenant_id } = await requireTenant(operator, slug)
  const keys = await operator.audit()
  return operator.guarded.app.write(fullScope(tenant_id, OPERATOR), async (tx) => {
    const user = isUuid(who) ? await findUser(tx, who) : await findUserByEmail(tx, who.toLowerCase())
    if (!user) throw new Error(`${slug} has no user "${who.slice(0, 100)}".`)
    if (user.state !== 'inactive') return `${user.name} has access already.`
    await updateUserState(tx, user.user_id, 'active')
    const detail = { roles: user.roles }
    recordAction(tx, keys, { operation: 'reactivateUser', object_type: 'users', object_id: user.user_id, detail })
    return `${user.name} has access again, with the roles ${user.roles.join(', ') || 'none'}.`
  })
}
