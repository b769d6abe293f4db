/** A tenant with one of everything, whose caller holds every role of a person. Exports are set after `beforeAll`. */
import { roles } from '#kernel/auth/roles.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { setUpBrowserTests, w } from '../setup.ts'

export { at, base, browserTest, noProblems, pageHeading, w } from '../setup.ts'

export const personRoles = roles.filter((role) => role !== 'service')
export let tenant: ExampleTenant

setUpBrowserTests({
  prepare: async () => {
    tenant = await ExampleTenant.create(w)
  },
})
