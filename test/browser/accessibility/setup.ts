/** A tenant with one of everything, whose caller holds every role of a person. Exports are set after `beforeAll`. */
import { roles } from '#kernel/auth/roles.ts'
import { insertUser } from '#modules/access/index.ts'
import { ExampleTenant, type Person } from '#test/support/example-tenant.ts'
import { setUpBrowserTests, w } from '../setup.ts'

export { at, base, browserTest, noProblems, pageHeading, w } from '../setup.ts'

export const personRoles = roles.filter((role) => role !== 'service')
export let tenant: ExampleTenant

setUpBrowserTests({
  prepare: async () => {
    tenant = await ExampleTenant.create(w)
    await insertPerson(tenant.caller, 'Clara Compliance')
    await insertPerson(tenant.author, 'Paul Policy')
  },
})

/** The people of the fixtures have accounts here, so that pages show their names as links. */
const insertPerson = (principal: Person, name: string) => {
  const user_id = principal.slice('user:'.length)
  const person = { user_id, subject: principal, email: `${user_id}@example.com`, name, team: null, locale: null }
  const account = { issuer: w.kernel.issuer.issuer, roles: personRoles, origin: 'built_in', state: 'active' } as const
  return tenant.write((tx) => insertUser(tx, { ...person, ...account }))
}
