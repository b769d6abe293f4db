/** Public interface of the access router: users, roles, API keys. */
import type { Module } from '#kernel/module.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { addApiKeyUsage, insertApiKey, insertUser } from './queries.ts'
import { accessRoutes } from './routes.ts'
import { userSource } from './user-source.ts'

export {
  findUser,
  findUserByEmail,
  insertApiKey,
  insertUser,
  isApprovalSetUp,
  listUsers,
  type UserRow,
  updateUserState,
} from './queries.ts'
export {
  createUserProvisioning,
  findPresentRoles,
  findRequester,
  needsApproval,
  ROLES_ACTION,
  UsageCounter,
} from './role-approval.ts'

export const access: Module = {
  name: 'access',
  segments: ['users', 'roles', 'api-keys'],
  tier: 'foundation',
  summary: 'People, roles and machine keys of the tenant.',
  routes: accessRoutes,
  jobs: [],
  constraints: {
    user_account_email_key: ['duplicate', 'A user with this email address exists already.'],
    user_account_away_ck: ['conflict', 'away_until must be later than away_from.'],
  },
  search: { sources: [userSource] },
  canary_table: 'user_account',
  canary: async (tx) => {
    const user_id = uuidv7()
    const user = { user_id, issuer: 'canary', subject: 'canary', email: 'canary@example.com', name: 'canary' }
    await insertUser(tx, { ...user, team: 'canary', locale: 'en', roles: [], origin: 'built_in', state: 'invited' })
    const key_id = uuidv7()
    await insertApiKey(tx, { key_id, name: 'canary', roles: ['viewer'], secret_hash: 'canary', expires_in_days: null })
    await addApiKeyUsage(tx, [{ key_id, used_on: '2026-01-01', operation: 'canary', status: 200, calls: 1 }])
  },
}
