/** The matrices in force that name a plugin: their decisions answer 503 while it cannot run. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PluginDependent } from '#kernel/module.ts'
import { listMatricesByPlugin } from './queries.ts'

const OPERATIONS = [
  'createEvaluation',
  'previewEvaluation',
  'startEvaluation',
  'simulateRiskMatrixVersion',
  'testRiskMatrixVersion',
  'estimateBatchEvaluation',
  'startBatchEvaluation',
  'startRiskMatrixBacktest',
] as const

export const listPluginDependents = async (tx: Tx, plugin_key: string): Promise<PluginDependent[]> =>
  (await listMatricesByPlugin(tx, plugin_key)).map(({ key, version, title }) => ({
    kind: 'matrix',
    key,
    version,
    title,
    operations: OPERATIONS,
  }))
