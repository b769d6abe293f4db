/** Test fixtures of the sample-widgets router: one valid call per operation. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import {
  createOncePerTenant,
  type Fixture,
  type Fixtures,
  type TextsInEvents,
} from '#test/support/operation-fixture.ts'

const oncePerTenant = createOncePerTenant()

const buildSampleWidget = () => ({ name: `Example ${uuidv7()}`, note: 'Example.' })

/** A new one, for calls that change it. */
export const newSampleWidget = async (t: ExampleTenant): Promise<string> =>
  (await t.make('POST /sample-widgets', { body: buildSampleWidget() })).sample_widget_id

const ensureSampleWidget = (t: ExampleTenant): Promise<string> =>
  oncePerTenant(t, 'sample widget', () => newSampleWidget(t))

const existing: Fixture = async (t) => ({ params: { sample_widget_id: await ensureSampleWidget(t) } })

/** Its event records a text that the caller wrote: keep it so only while a row is configuration and about no person. */
export const textsInEvents: TextsInEvents = ['createSampleWidget']

export const fixtures: Fixtures = {
  listSampleWidgets: async (t) => {
    await ensureSampleWidget(t)
    return {}
  },
  createSampleWidget: () => ({ body: buildSampleWidget() }),
  getSampleWidget: existing,
  updateSampleWidget: async (t) => ({
    params: { sample_widget_id: await newSampleWidget(t) },
    body: { note: 'Changed.' },
  }),
  deleteSampleWidget: async (t) => ({ params: { sample_widget_id: await newSampleWidget(t) } }),
}
