/** Test fixtures of the system router: one valid call per operation. */
import { type Fixtures, noInput } from '#test/support/operation-fixture.ts'

export const fixtures: Fixtures = {
  getHealth: noInput,
  getReadiness: noInput,
  getOpenapi: noInput,
  getDocs: noInput,
  getVersion: noInput,
  listErrors: noInput,
  getError: () => ({ params: { code: 'not_found' } }),
  createUpload: () => ({ query: { file_name: 'country-ratings.csv' }, bytes: 'code,rating\nDE,low\nIR,high\n' }),
  getUpload: async (t) => ({ params: { upload_id: await t.upload() } }),
  getCapabilities: noInput,
  getLimits: noInput,
}
