/** Public interface of the sample-widgets router. */
import type { Module } from '#kernel/module.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertSampleWidget } from './queries.ts'
import { sampleWidgetRoutes } from './routes.ts'

export const sampleWidgets: Module = {
  name: 'sample-widgets',
  segments: ['sample-widgets'],
  tier: 'domain',
  summary: 'Sample widgets of the tenant.',
  routes: sampleWidgetRoutes,
  jobs: [],
  constraints: { sample_widget_name_key: ['duplicate', 'Another sample widget has this name.'] },
  canary_table: 'sample_widget',
  canary: async (tx) => {
    const sample_widget_id = uuidv7()
    await insertSampleWidget(tx, { sample_widget_id, name: `canary ${sample_widget_id}`, note: 'canary' })
  },
}
