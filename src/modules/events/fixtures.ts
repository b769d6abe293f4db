/** Test fixtures of the events router: one valid call per operation. */
import { type Fixtures, noInput } from '#test/support/operation-fixture.ts'

export const fixtures: Fixtures = { listEvents: noInput, listEventTypes: noInput }
