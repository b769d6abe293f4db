/** Test fixtures of the access router: one valid call per operation. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { type Fixtures, noInput, type TextsInEvents } from '#test/support/operation-fixture.ts'

const getUserParams = async (t: ExampleTenant) => ({ user_id: await t.user() })
const createUserParams = async (t: ExampleTenant) => ({ user_id: await t.newUser() })
const createKeyParams = async (t: ExampleTenant) => ({ key_id: (await t.newKey()).key_id })

export const textsInEvents: TextsInEvents = ['createApiKey']

export const fixtures: Fixtures = {
  listUsers: async (t) => {
    await t.user()
    return {}
  },
  createUser: () => ({ body: { name: 'Ada Lovelace', email: `${uuidv7()}@example.com`, roles: ['analyst'] } }),
  getUser: async (t) => ({ params: await getUserParams(t) }),
  getUserName: async (t) => ({ params: await getUserParams(t) }),
  updateUser: async (t) => ({ params: await getUserParams(t), body: { team: 'Onboarding' } }),
  deactivateUser: async (t) => ({ params: await createUserParams(t) }),
  reactivateUser: async (t) => ({ params: await createUserParams(t) }),
  updateUserRoles: async (t) => ({ params: await createUserParams(t), body: { roles: ['viewer'] } }),
  updateUserAvailability: async (t, role) => {
    const params = await getUserParams(t)
    // An analyst sets only their own.
    const own = role === 'analyst' && ({ principal: `user:${params.user_id}` } as const)
    return { params, body: { away_from: null, away_until: null }, ...own }
  },
  getUserAvailability: async (t) => ({ params: await getUserParams(t) }),
  listRoles: noInput,
  listApiKeys: async (t) => {
    await t.key()
    return {}
  },
  getApiKeyName: async (t) => ({ params: { key_id: (await t.key()).key_id } }),
  createApiKey: () => ({ body: { name: 'Core banking', roles: ['service'] } }),
  rotateApiKey: async (t) => ({ params: await createKeyParams(t), body: { overlap_minutes: 0 } }),
  deleteApiKey: async (t) => ({ params: await createKeyParams(t) }),
  getApiKeyUsage: async (t) => ({ params: { key_id: (await t.key()).key_id } }),
}
