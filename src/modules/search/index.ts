/** Public interface of the search router. What it finds is declared by the other modules. */
import type { Module } from '#kernel/module.ts'
import { searchRoutes } from './routes.ts'

export const search: Module = {
  name: 'search',
  segments: ['search'],
  tier: 'foundation',
  summary: 'One search over everything the caller may read.',
  routes: searchRoutes,
  jobs: [],
  canary: async () => {},
}
