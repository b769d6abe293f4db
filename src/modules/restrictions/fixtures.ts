/** Test fixtures of the restrictions router: one valid call per operation. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant, Person } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixture, type Fixtures } from '#test/support/operation-fixture.ts'

const oncePerTenant = createOncePerTenant()
const PURPOSE = 'Suspicion about the payments of a customer'

/** A new one, for calls that change it. */
const newRestriction = async (t: ExampleTenant, is_in_force = true): Promise<string> =>
  (await t.make('POST /restrictions', { body: { purpose: PURPOSE, is_in_force } })).restriction_id

const ensureRestriction = (t: ExampleTenant): Promise<string> =>
  oncePerTenant(t, 'restriction', () => newRestriction(t))

const existing: Fixture = async (t) => ({ params: { restriction_id: await ensureRestriction(t) } })

const newAccess = async (t: ExampleTenant): Promise<{ restriction_id: string; user_id: string }> => {
  const [restriction_id, user_id] = [await newRestriction(t), await t.newUser(['analyst'])]
  await t.make(`PUT /restrictions/${restriction_id}/access/${user_id}`, { body: { effect: 'grant' } })
  return { restriction_id, user_id }
}

/** People of an example tenant exist only in their tokens. */
const insertPerson = (t: ExampleTenant, person: Person) =>
  t.write((tx) =>
    tx.run(
      `insert into app.user_account (tenant_id, user_id, issuer, subject, name, roles, origin, state, created_by)
       values ($1, $2, 'test', $3, 'Grace Hopper', '{compliance_officer}', 'external', 'active', 'user:test')
       on conflict on constraint user_account_pkey do nothing`,
      [tx.tenant_id, person.slice('user:'.length), uuidv7()],
    ),
  )

const ensureMlro = (t: ExampleTenant): Promise<void> =>
  oncePerTenant(t, 'mlro', async () => {
    await insertPerson(t, t.caller)
    const body = { user_id: t.caller.slice('user:'.length), effect: 'designate', reason: 'Decision of the board' }
    const token = await t.token(undefined, t.author)
    const { designation_id } = await t.make('POST /mlro-designations', { token, body })
    const third = await t.token(undefined, `user:${uuidv7()}`)
    await t.make(`POST /mlro-designations/${designation_id}/confirm`, { token: third })
  })

/** Proposed by `author`, so that the caller may confirm it. */
const newDesignation = async (t: ExampleTenant): Promise<string> => {
  const body = { user_id: await t.newUser(), effect: 'designate', reason: 'Successor of the former officer' }
  return (await t.make('POST /mlro-designations', { token: await t.token(undefined, t.author), body })).designation_id
}

export const fixtures: Fixtures = {
  listRestrictions: async (t) => {
    await ensureRestriction(t)
    return {}
  },
  createRestriction: () => ({ body: { purpose: PURPOSE } }),
  getRestriction: existing,
  imposeRestriction: async (t) => ({ params: { restriction_id: await newRestriction(t, false) } }),
  liftRestriction: async (t) => ({
    params: { restriction_id: await newRestriction(t) },
    body: { reason: 'The suspicion was not confirmed' },
  }),
  listRestrictionAccess: existing,
  updateRestrictionAccess: async (t) => ({
    params: { restriction_id: await newRestriction(t), user_id: await t.newUser(['analyst']) },
    body: { effect: 'grant', reason: 'Works on the case' },
  }),
  deleteRestrictionAccess: async (t) => ({ params: await newAccess(t) }),
  createBreakGlassAccess: async (t) => {
    await ensureMlro(t)
    const email = `${uuidv7()}@example.com`
    const auditor = await t.make('POST /users', { body: { name: 'Mary Jackson', email, roles: ['auditor'] } })
    return {
      params: { restriction_id: await newRestriction(t) },
      body: { user_id: auditor.user_id, hours: 4, reason: 'Inspection by the supervisor' },
    }
  },
  listRestrictionAccessLog: existing,
  listMlroDesignations: async (t) => {
    await newDesignation(t)
    return {}
  },
  createMlroDesignation: async (t) => ({
    body: { user_id: await t.newUser(), effect: 'designate', reason: 'Successor of the former officer' },
  }),
  confirmMlroDesignation: async (t) => ({ params: { designation_id: await newDesignation(t) } }),
  withdrawMlroDesignation: async (t) => ({ params: { designation_id: await newDesignation(t) } }),
}
