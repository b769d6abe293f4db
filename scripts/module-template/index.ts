/** Public interface of the sample-widgets router. */
import type { Module } from '#kernel/module.ts'
import { rankHits, type SearchSource } from '#kernel/search/source.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertSampleWidget, listSampleWidgetsByName, listSampleWidgetsInRange } from './queries.ts'
import { sampleWidgetRoutes } from './routes.ts'

const source: SearchSource = {
  kind: 'sample-widget',
  title: 'Sample widgets',
  operation: 'getSampleWidget',
  find: async ({ tx, terms: { text, id, has_words }, count }) => {
    const [byId, byName] = await Promise.all([
      id ? listSampleWidgetsInRange(tx, id, count + 1) : [],
      has_words ? listSampleWidgetsByName(tx, text, count + 1) : [],
    ])
    const hits = [
      ...byId.map((row) => ({ ...row, matched: 'id' as const })),
      ...byName.map((row) => ({ ...row, matched: row.name === text ? ('name' as const) : ('prefix' as const) })),
    ].map(({ sample_widget_id, name, matched }) => ({
      id: sample_widget_id,
      title: name,
      subtitle: 'Sample widget',
      matched,
      restriction_id: null,
    }))
    return { hits: rankHits(hits, count), is_complete: true }
  },
}

export const sampleWidgets: Module = {
  name: 'sample-widgets',
  segments: ['sample-widgets'],
  tier: 'domain',
  summary: 'Sample widgets of the tenant.',
  routes: sampleWidgetRoutes,
  jobs: [],
  constraints: { sample_widget_name_key: ['duplicate', 'Another sample widget has this name.'] },
  search: { sources: [source] },
  canary_table: 'sample_widget',
  canary: async (tx) => {
    const sample_widget_id = uuidv7()
    await insertSampleWidget(tx, { sample_widget_id, name: `canary ${sample_widget_id}`, note: 'canary' })
  },
}
