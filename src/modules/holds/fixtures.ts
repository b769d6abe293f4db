/** Test fixtures of the holds router: one valid call per operation. */
import { newSubject } from '#modules/subjects/fixtures.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixture, type Fixtures } from '#test/support/operation-fixture.ts'

const oncePerTenant = createOncePerTenant()

const buildHold = async (t: ExampleTenant) => ({
  object_kind: 'subject',
  object_id: await newSubject(t),
  reason: 'Evidence in criminal proceedings',
  authority_reference: 'Order 4 Js 1207/26',
})

/** Placed by `author`, so that the caller may release it. */
const newHold = async (t: ExampleTenant): Promise<string> =>
  (await t.make('POST /holds', { token: await t.token(undefined, t.author), body: await buildHold(t) })).hold_id

const ensureHold = (t: ExampleTenant): Promise<string> => oncePerTenant(t, 'hold', () => newHold(t))
const existing: Fixture = async (t) => ({ params: { hold_id: await ensureHold(t) } })

export const fixtures: Fixtures = {
  listHolds: async (t) => {
    await ensureHold(t)
    return {}
  },
  createHold: async (t) => ({ body: await buildHold(t) }),
  getHold: existing,
  releaseHold: async (t) => ({
    params: { hold_id: await newHold(t) },
    body: { reason: 'The proceedings were closed' },
  }),
}
