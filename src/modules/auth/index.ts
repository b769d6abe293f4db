/** Public interface of the auth router. */
import type { Module } from '#kernel/module.ts'
import { demoRoutes } from './demo-routes.ts'
import { upsertRevokedToken } from './queries.ts'
import { authRoutes } from './routes.ts'

export const auth: Module = {
  name: 'auth',
  segments: ['auth'],
  tier: 'foundation',
  summary: 'Who the caller is and how machine clients obtain a token.',
  routes: [...authRoutes, ...demoRoutes],
  jobs: [],
  canary_table: 'revoked_token',
  canary: async (tx) => {
    await upsertRevokedToken(tx, { token_id: 'canary', expires_at: null, reason: 'canary' })
  },
}
