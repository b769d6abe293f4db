/** Test fixtures of the analytics router: one valid call per operation. */
import { insertRating, newSubject } from '#modules/subjects/fixtures.ts'
import { createOncePerTenant, type Fixture, type Fixtures } from '#test/support/operation-fixture.ts'

const oncePerTenant = createOncePerTenant()

const rateSubject: Fixture = async (t) => {
  await oncePerTenant(t, 'rated', async () => insertRating(t, await newSubject(t), 'high'))
  return {}
}

export const fixtures: Fixtures = {
  getOverview: async (t) => {
    await t.changeRequest()
    return {}
  },
  getRiskDistribution: rateSubject,
  listSubjectsInBand: rateSubject,
  listRiskMovements: rateSubject,
}
