/** Test fixtures of the search router: one valid call per operation. */
import type { Fixtures } from '#test/support/operation-fixture.ts'

export const fixtures: Fixtures = {
  listSearchResults: async (t) => ({ query: { q: await t.user() } }),
}
