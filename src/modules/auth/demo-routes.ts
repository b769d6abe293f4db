/** Signing in to a demo tenant without a credential. Which callers are accepted is decided in kernel/http/demo-caller.ts. */
import { recordEvent } from '#kernel/audit/record.ts'
import type { DemoTenant } from '#kernel/auth/demo-sign-in.ts'
import { unrestrictedScope } from '#kernel/database/scope.ts'
import { publicRoute } from '#kernel/declare-route.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { listDemoPeople } from './queries.ts'
import { DemoPeople, DemoSessionRequest, TokenReply } from './schema.ts'

const DEMO_TOKEN_LIFE_S = 12 * 3600
const READER = 'operator:demo'

const WHERE =
  'Exists only on a server with demo tenants (PROBITY_DEMO) that listens on its own machine, and only for requests from there, ' +
  'or from any machine with PROBITY_DEMO_REMOTE=on. Everywhere else the answer is 404, as for an unknown path.'

type DemoKernel = Capabilities<'transactions' | 'demoSignIn'>

const findPeople = (kernel: DemoKernel, { tenant_id, users }: DemoTenant) =>
  kernel.transactions.one(unrestrictedScope(tenant_id, READER), (tx) =>
    listDemoPeople(
      tx,
      users.map(({ user_id }) => user_id),
    ),
  )

export const demoRoutes = [
  publicRoute('GET /auth/demo-people', {
    id: 'listDemoPeople',
    summary: 'People of the demo tenants, as whom anybody at this machine can sign in',
    description: WHERE,
    demo_only: true,
    uses: ['transactions', 'demoSignIn'],
    reply: [200, DemoPeople],
    problems: ['not_found'],
  }).handle(async ({ kernel }) => {
    const tenants = kernel.demoSignIn?.tenants ?? []
    const items = await Promise.all(
      tenants.map(async (tenant) => {
        const people = (await findPeople(kernel, tenant)).filter(({ tenant_state }) => tenant_state === 'active')
        const { tenant_id, slug } = tenant
        const name = people[0]?.tenant_name ?? tenant.name
        return { tenant_id, slug, name, people: people.map(({ user_id, name, roles }) => ({ user_id, name, roles })) }
      }),
    )
    return { items: items.filter(({ people }) => people.length > 0) }
  }),

  publicRoute('POST /auth/demo-sessions', {
    id: 'createDemoSession',
    summary: 'Sign in as a person of a demo tenant',
    description: `The token has the roles the person has now and lives 12 hours. ${WHERE}`,
    demo_only: true,
    uses: ['transactions', 'demoSignIn', 'issuer', 'auditKeys'],
    body: DemoSessionRequest,
    reply: [200, TokenReply],
    problems: ['not_found', 'tenant_suspended'],
    secret: true,
  }).handle(async ({ body, kernel, request }) => {
    // The tenant follows from the person: no request names a tenant.
    const hasUser = ({ users }: DemoTenant) => users.some(({ user_id }) => user_id === body.user_id)
    const tenant = kernel.demoSignIn?.tenants.find(hasUser)
    if (!tenant) fail('not_found', 'No demo tenant has such a person.')
    const person = (await findPeople(kernel, tenant)).find(({ user_id }) => user_id === body.user_id)
    if (!person) fail('not_found', `This person of ${tenant.name} is deactivated.`)
    if (person.tenant_state !== 'active') fail('tenant_suspended')
    const { tenant_id } = tenant
    const { name, roles } = person
    const principal = `user:${person.user_id}` as const
    const minted = await kernel.issuer.mint({ principal, tenant_id, roles, name, lifetime_s: DEMO_TOKEN_LIFE_S })
    // Before the token is sent: what cannot be recorded is not handed out.
    await kernel.transactions.write(unrestrictedScope(tenant_id, principal), async (tx) =>
      recordEvent(tx, kernel.auditKeys, {
        restriction_id: null,
        operation: 'createDemoSession',
        object_type: 'auth',
        object_id: minted.token_id,
        request_id: request.id,
        detail: { principal, roles, expires_at: new Date(minted.expires_at_s * 1000).toISOString() },
      }),
    )
    return {
      access_token: minted.token,
      token_type: 'Bearer',
      expires_in: DEMO_TOKEN_LIFE_S,
      token_id: minted.token_id,
      roles,
    }
  }),
]
